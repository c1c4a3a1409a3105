#!/usr/bin/env bash
# pkg_config.sh LIBDIR WORK: builds and runs the consumers with nothing but pkg-config.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
libdir=$1
rm -rf "$2" && mkdir -p "$2" && cd "$2"
export PKG_CONFIG_PATH=$libdir/pkgconfig LD_LIBRARY_PATH=$libdir

read -ra cflags <<<"$(pkg-config --cflags ringlet)"
read -ra libs <<<"$(pkg-config --libs ringlet)"
nccl=-I$(pkg-config --variable=ncclincludedir ringlet)
pkg-config --atleast-version=0.1 ringlet

"$CC" ${FLAGS:-} -std=c99 -pedantic -Werror "${cflags[@]}" "$nccl" \
  "$here/consumer/c_consumer.c" -o c_consumer "${libs[@]}"
"$CXX" ${FLAGS:-} -std=c++20 "${cflags[@]}" "$here/consumer/cxx_consumer.cpp" -o cxx_consumer \
  "${libs[@]}"
"$CXX" ${FLAGS:-} -std=c++17 -pedantic -Werror "${cflags[@]}" \
  "$here/consumer/communicator_consumer.cpp" -o communicator_consumer "${libs[@]}"
./c_consumer
./cxx_consumer
./communicator_consumer

# Without that -I, <nccl.h> is not ours.
if echo '#include <nccl.h>' | "$CC" "${cflags[@]}" -E -x c - 2>/dev/null | grep -q RINGLET_; then
  echo 'nccl.h is found without asking for it' >&2
  exit 1
fi
