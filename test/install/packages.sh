#!/usr/bin/env bash
# packages.sh BUILD WORK: the Debian packages of the build tree depend on what they need, share no
# file, and their contents work together where they are unpacked. `bare_system.sh` installs them.
set -euo pipefail
build=$1
rm -rf "$2" && mkdir -p "$2/root" && cd "$2"
for tool in dpkg-deb dpkg-shlibdeps file; do
  command -v "$tool" >/dev/null || { echo "NOT RUN install.packages: $tool is not here"; exit 77; }
done
cpack --config "$build/CPackConfig.cmake" -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip -B "$PWD" \
  >log 2>&1 || { cat log >&2; exit 1; }

arch=$(dpkg --print-architecture)
field() { dpkg-deb -f "$1"_*_"$arch".deb "$2"; }
says() {
  field "$1" "$2" | grep -qE -- "$3" && return
  echo "$1: $2 is '$(field "$1" "$2")', without $3" >&2
  exit 1
}
version=$(field libringlet0 Version)
for package in libringlet0 ringlet; do
  for library in libc libfmt libhwy libsodium 'libstdc\+\+'; do
    says $package Depends "(^| )$library[0-9]+ "
  done
done
says libringlet-dev Depends "^libringlet0 \(= $version\)$"
dpkg-deb --ctrl-tarfile libringlet0_*.deb | tar -xO ./shlibs |
  diff - <(printf '%s 0 libringlet0 (>= %s)\n' libringlet "${version%-*}" libringlet_topo "${version%-*}")

for package in *.deb; do
  dpkg-deb --fsys-tarfile "$package" | tar -t | grep -v '/$' || true
done | sort >files
if uniq -d files | grep .; then echo 'in two packages' >&2; exit 1; fi
for file in bin/ringlet include/ringlet/compat/nccl.h share/ringlet/machines/dgx-h100.xml \
  share/doc/{libringlet0,libringlet-dev,ringlet}/{copyright,NOTICE}; do
  grep -qx "./usr/$file" files || { echo "in no package: $file" >&2; exit 1; }
done

for package in *.deb; do dpkg-deb -x "$package" root; done
root/usr/bin/ringlet --help >/dev/null
test -e root/usr/share/man/man1/ringlet-bench.1
libdir=$(dirname "$(find root -name libringlet.so.0)")
test -e "$libdir/libringlet_topo.so.0"
LD_BIND_NOW=1 ldd "$libdir/ringlet/compat/libnccl.so.2" >needs
if grep 'not found' needs; then exit 1; fi
grep -q "libringlet.so.0 => .*root/usr/lib" needs
