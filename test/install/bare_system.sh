#!/usr/bin/env bash
# bare_system.sh ROOT PACKAGE...: installs the packages of `./ringlet.sh package` in a bare Debian,
# uses them there and removes them. As root; ROOT comes from `debootstrap --variant=minbase bookworm
# ROOT`, and stays as it was but for the compiler. By hand: it needs the network.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(realpath "$1")
shift
if [ -z "${RINGLET_UNSHARED:-}" ]; then
  packages=$(realpath "$@")
  # What is mounted goes when this ends.
  RINGLET_UNSHARED=1 exec unshare --mount --pid --fork "$0" "$root" $packages
fi

mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount -t tmpfs tmpfs "$root/dev/shm"
mount -t tmpfs tmpfs "$root/tmp"
cp /etc/resolv.conf "$root/etc/resolv.conf"
cp "$here/consumer/c_consumer.c" "$@" "$root/tmp"

inside() {
  printf '\n$ %s\n' "$*"
  chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
    DEBIAN_FRONTEND=noninteractive sh -ec "cd /tmp; $*"
}
# All that a package may leave behind: files of ours, and what the package manager knows of us.
traces() {
  chroot "$root" sh -c "find / -xdev '(' -name '*ringlet*' -o -name 'libnccl*' -o -name 'nccl*' ')'
    dpkg -l | grep ringlet; ldconfig -p | grep ringlet" || true
}
[ -z "$(traces)" ] || { echo "$root is not bare: $(traces)" >&2; exit 1; }

inside apt-get update -q
inside apt-get install -q -y --no-install-recommends ./libringlet0_*.deb ./ringlet_*.deb
inside ringlet --help
inside ringlet bench all_reduce -n 2 -e 1M --check
inside apt-get install -q -y --no-install-recommends ./libringlet-dev_*.deb \
  gcc libc6-dev pkg-config
inside 'cc c_consumer.c -o consumer $(pkg-config --cflags --libs ringlet-nccl)'
inside 'ldd consumer | grep ringlet; ./consumer'
compat=$(chroot "$root" dpkg -L libringlet0 | grep '/ringlet/compat$')
inside "export PKG_CONFIG_PATH=$compat/pkgconfig
  cc c_consumer.c -o named \$(pkg-config --cflags --libs nccl)"
inside "if ./named 2>/dev/null; then exit 1; fi; ldd named | grep 'nccl.*not found'"
inside "LD_LIBRARY_PATH=$compat ./named"
inside "if echo '#include <nccl.h>' | cc -fsyntax-only -xc - 2>/dev/null; then exit 1; fi"
inside apt-get purge -q -y libringlet0 libringlet-dev ringlet
[ -z "$(traces)" ] || { echo "left behind: $(traces)" >&2; exit 1; }
printf '\nInstalled, used and removed; nothing is left behind.\n'
