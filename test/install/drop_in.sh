#!/usr/bin/env bash
# drop_in.sh LIBDIR COMPAT INCLUDE WORK: a program that was linked with some other libnccl.so.2 runs
# on ours in COMPAT, and does so only when that folder is on the loader's path. libringlet.so.0 is in
# LIBDIR, nccl.h and nccl_device.h in INCLUDE.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
libdir=$1
compat=$2
include=$3
rm -rf "$4" && mkdir -p "$4/other" && cd "$4"

# Ours is a library of that name, which finds libringlet.so.0 by itself and shows every function.
readelf -d "$compat/libnccl.so.2" | grep -q 'SONAME.*\[libnccl\.so\.2\]'
readelf -d "$compat/libnccl.so.2" | grep -q 'NEEDED.*\[libringlet\.so\.0\]'
readelf -d "$compat/libnccl.so.2" | grep -q 'RUNPATH.*\[\$ORIGIN/'
shown() { nm -D --defined-only "$1" | awk '{ print $3 }' | grep -E '^p?nccl' | sort; }
sed -n 's/^RINGLET_C_API .*[ *]\(p\{0,1\}nccl[A-Za-z0-9]*\)(.*/\1/p' \
  "$include/nccl.h" "$include/nccl_device.h" | sort >declared
[ -s declared ]
shown "$compat/libnccl.so.2" | diff declared -
shown "$libdir/libringlet.so.0" | diff declared -

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

"$CC" ${FLAGS:-} -I"$include" "$here/consumer/c_consumer.c" -o program -Lother -lnccl
readelf -d program | grep -q 'NEEDED.*libnccl.so.2'

LD_LIBRARY_PATH=$compat ./program
if LD_LIBRARY_PATH=$libdir:other ./program 2>/dev/null; then
  echo 'our library was used without being asked for' >&2
  exit 1
fi

# Linked with ours, a program needs libnccl.so.2 and nothing else of Ringlet.
"$CC" ${FLAGS:-} -I"$include" "$here/consumer/c_consumer.c" -o linked -L"$compat" -lnccl
readelf -d linked | grep -q 'NEEDED.*\[libnccl\.so\.2\]'
if readelf -d linked | grep 'NEEDED.*libringlet'; then exit 1; fi
LD_LIBRARY_PATH=$compat ./linked

# Both names in one process.
"$CC" ${FLAGS:-} -std=gnu99 -I"$include" "$here/consumer/one_state.c" -o one_state \
  -L"$libdir" -lringlet -Wl,-rpath,"$libdir" -ldl
LD_LIBRARY_PATH=$compat ./one_state
