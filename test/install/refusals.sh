#!/usr/bin/env bash
# refusals.sh RINGLET.SH WORK: `install` says that it cannot write, and where, before it builds.
set -euo pipefail
script=$1
rm -rf "$2" && mkdir -p "$2" && cd "$2"
touch file

refused() {
  local words=$1
  shift
  if "$@" >output 2>&1; then
    echo "not refused: $*" >&2
    exit 1
  fi
  if ! grep -qF -- "$words" output; then
    echo "$* does not say '$words' but:" >&2
    cat output >&2
    exit 1
  fi
  if grep -q '^== ' output; then echo "$* began to build" >&2; exit 1; fi
}

refused "$PWD/file is not a directory" "$script" install "$PWD/file/prefix"
refused "$PWD/file is not a directory" "$script" install file
refused 'install takes one PREFIX' "$script" install a b
refused 'install does not know --prefix' "$script" install --prefix
refused 'package takes no arguments' "$script" package a

# A user who may not write there; for root everything is writable.
mkdir closed && chmod 555 closed
if [ "$(id -u)" != 0 ]; then
  refused "may not write to $PWD/closed" "$script" install "$PWD/closed/prefix"
elif setpriv --reuid 65534 --clear-groups test -r "$script" 2>/dev/null; then
  refused "may not write to $PWD/closed" setpriv --reuid 65534 --clear-groups \
    "$script" install "$PWD/closed/prefix"
fi
