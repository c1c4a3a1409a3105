#!/usr/bin/env bash
# drop_in.sh LIBDIR WORK: a program that was linked with some other libnccl.so.2 runs on ours, and
# does so only when our directory for it is on the loader's path.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
libdir=$1
rm -rf "$2" && mkdir -p "$2/other" && cd "$2"

# The other library: the right names, every call a failure.
names=$(grep -o '\bnccl[A-Z][A-Za-z]*' "$here/consumer/c_consumer.c" | sort -u |
  grep -E '^nccl(Get|Comm[A-Z]|AllReduce)')
for name in $names; do
  case $name in
    *Error*) echo "const char* $name(void) { return \"the other library\"; }" ;;
    *) echo "int $name(void) { return 1; }" ;;
  esac
done >other.c
"$CC" -shared -fPIC -w -Wl,-soname,libnccl.so.2 other.c -o other/libnccl.so
ln -s libnccl.so other/libnccl.so.2

"$CC" ${FLAGS:-} -I"$libdir/../include/ringlet/compat" -I"$libdir/../../include/ringlet/compat" \
  "$here/consumer/c_consumer.c" -o program -Lother -lnccl
readelf -d program | grep -q 'NEEDED.*libnccl.so.2'

LD_LIBRARY_PATH=$libdir/ringlet/compat ./program
if LD_LIBRARY_PATH=$libdir:other ./program 2>/dev/null; then
  echo 'our library was used without being asked for' >&2
  exit 1
fi
