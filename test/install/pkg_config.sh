#!/usr/bin/env bash
# pkg_config.sh LIBDIR WORK: builds and runs the consumers with nothing but pkg-config.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
libdir=$1
rm -rf "$2" && mkdir -p "$2" && cd "$2"
export PKG_CONFIG_PATH=$libdir/pkgconfig LD_LIBRARY_PATH=$libdir

read -ra cflags <<<"$(pkg-config --cflags ringlet)"
read -ra libs <<<"$(pkg-config --libs ringlet)"
read -ra nccl <<<"$(pkg-config --cflags --libs ringlet-nccl)"
read -ra topology <<<"$(pkg-config --cflags --libs ringlet-topology)"
pkg-config --validate ringlet ringlet-nccl ringlet-topology
pkg-config --atleast-version=0.2 ringlet

"$CC" ${FLAGS:-} -std=c99 -pedantic -Werror "$here/consumer/c_consumer.c" -o c_consumer "${nccl[@]}"
"$CXX" ${FLAGS:-} -std=c++20 "${cflags[@]}" "$here/consumer/cxx_consumer.cpp" -o cxx_consumer \
  "${libs[@]}"
"$CXX" ${FLAGS:-} -std=c++17 -pedantic -Werror "${cflags[@]}" \
  "$here/consumer/communicator_consumer.cpp" -o communicator_consumer "${libs[@]}"
"$CXX" ${FLAGS:-} -std=c++17 -pedantic -Werror "$here/consumer/topology_consumer.cpp" -o topology_consumer \
  "${topology[@]}"
./c_consumer
./topology_consumer
./cxx_consumer
./communicator_consumer

# Without ringlet-nccl, <nccl.h> is not ours;
if echo '#include <nccl.h>' | "$CC" "${cflags[@]}" -E -x c - 2>/dev/null | grep -q RINGLET_; then
  echo 'nccl.h is found without asking for it' >&2
  exit 1
fi
# pkg-config has no module nccl until the folder of nccl.pc is on its path.
if PKG_CONFIG_LIBDIR=$libdir/pkgconfig pkg-config --exists nccl; then
  echo 'nccl.pc is found without asking for it' >&2
  exit 1
fi
export PKG_CONFIG_PATH=$libdir/ringlet/compat/pkgconfig
pkg-config --atleast-version=2.32 nccl
read -ra nccl <<<"$(pkg-config --cflags --libs nccl)"
"$CC" ${FLAGS:-} "$here/consumer/c_consumer.c" -o nccl_consumer "${nccl[@]}"
LD_LIBRARY_PATH=$(pkg-config --variable=libdir nccl)/ringlet/compat ./nccl_consumer
