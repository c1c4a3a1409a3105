#!/usr/bin/env bash
# exports.sh PRODUCT.SH WORK: the lines that `install` prints keep what the user's variables say.
set -euo pipefail
heading() { :; }
eval "$(sed -n '/^installed_how()/,/^}/p' "$1")"
installed_how /opt/r >/dev/null
lines=$(installed_how /opt/r | grep export)

expect() {
  [ "$2" = "$1" ] || { echo "got '$2' instead of '$1' from: $lines" >&2; exit 1; }
}

variables='$PKG_CONFIG_PATH $LD_LIBRARY_PATH'
expect '/opt/r/lib/pkgconfig /opt/r/lib' \
  "$(env -u PKG_CONFIG_PATH -u LD_LIBRARY_PATH sh -euc "$lines; echo \"${variables}\"")"
expect '/opt/r/lib/pkgconfig:/a /opt/r/lib:/b' \
  "$(PKG_CONFIG_PATH=/a LD_LIBRARY_PATH=/b sh -euc "$lines; echo \"${variables}\"")"
expect /opt/r/bin:/usr/bin "$(PATH=/usr/bin /bin/sh -euc "$lines; echo \"\$PATH\"")"
