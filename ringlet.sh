#!/usr/bin/env bash
# Builds, shows and tests Ringlet. `./ringlet.sh --help` says how.
set -euo pipefail
called_from=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")"
# The Python package is compiled in a folder of its own: ccache shall know the same source there.
export CCACHE_BASEDIR="${CCACHE_BASEDIR:-$PWD}" CCACHE_NOHASHDIR="${CCACHE_NOHASHDIR:-true}"

usage() { cat tools/usage.txt; }
heading() { printf '\n== %s\n' "$*"; }
fail() { printf 'ringlet.sh: %s\n' "$*" >&2; exit 1; }
. tools/packages.sh
. tools/product.sh
. tools/release.sh
. tools/tests.sh

# Warnings are errors in CI. A user's compiler may be newer and warn of more.
werror() { if [ "${CI:-}" = true ]; then echo ON; else echo OFF; fi; }

# One a core, as far as each has 2 GiB of memory.
jobs() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/^MemAvailable/ { print int($2 / 2097152) }' /proc/meminfo)
  memory=$((memory > 1 ? memory : 1))
  echo "${RINGLET_JOBS:-$((memory < cores ? memory : cores))}"
}

# build_target TARGET [OPTION...]: options are those of CMake. A tree that was configured for tests
# stays so; a fresh one need not know GoogleTest.
build_target() {
  local target=$1
  shift
  [ -e build/CMakeCache.txt ] || set -- "$@" -DRINGLET_TESTS=OFF -DRINGLET_BENCHMARKS=OFF
  cmake --preset release --log-level=WARNING "-DRINGLET_WERROR=$(werror)" "$@" || fail 'CMake failed; see above.'
  cmake --build build --target "$target" -j "$(jobs)" || fail 'the build failed; see above.'
}

# Makes environments beside what follows, in a process group of its own, and keeps what is printed. They
# get the processor time that the build leaves: unpacking PyTorch takes a minute of it.
beside=
start_environments() {
  mkdir -p build
  set -m
  { renice -n 19 -p "$BASHPID" >/dev/null 2>&1 || true; python3 tools/environments.py "$@" || true; } \
    >build/beside.log 2>&1 </dev/null &
  beside=$!
  set +m
  trap 'kill -TERM -- "-$beside" 2>/dev/null || true' EXIT
}
# Prints what they have printed, and what they still print, until they end.
join_environments() {
  tail -n +1 --pid="$beside" --sleep-interval=0.2 -f build/beside.log
  wait "$beside" || fail 'fetching from PyPI was interrupted.'
  trap - EXIT
}

# Builds the package `ringlet` and installs it into build/venv, where PyTorch is there.
install_python_package() {
  python3 tools/environments.py --have torch || return 1
  heading 'The Python package'
  echo '$ pip install .'
  # pip gets the compiler's name and the flags of the tool, so that the compiler cache has the objects.
  # pip prints a lot and takes minutes; only its steps are shown.
  CXX=${CXX:-c++} CMAKE_BUILD_PARALLEL_LEVEL=$(jobs) \
    build/venv/bin/pip install -v "--config-settings=cmake.define.RINGLET_WERROR=$(werror)" . 2>&1 |
    tee build/pip.log | { grep --line-buffered -oE '\[[0-9]+/[0-9]+\] .*' || true; } || {
      tail -n 60 build/pip.log
      fail 'the Python package cannot be built; the end of build/pip.log is above.'
    }
}

demo() {
  need "$build_packages$torch_packages"
  echo 'PyTorch is fetched beside the build.'
  start_environments torch
  heading 'Building the library and a small program for it'
  build_target example_processes
  heading 'Four processes on this machine sum their buffers; each checks every element of its result'
  echo '$ build/bin/example_processes 4   # examples/c/processes.c'
  build/bin/example_processes 4 || fail 'the demonstration failed; the lines above say how.'
  heading 'Building the tool'
  build_target ringlet
  heading 'Sums of 8 bytes to 16 MiB among four ranks; every element of every result is checked'
  echo '$ build/bin/ringlet bench all_reduce -n 4 -b 8 -e 16M -f 8 --check'
  build/bin/ringlet bench all_reduce -n 4 -b 8 -e 16M -f 8 --check ||
    fail 'the demonstration failed; the lines above say how.'
  join_environments
  if install_python_package; then
    echo '$ torchrun --nproc-per-node 2 examples/pytorch/ddp.py --backend ringlet   # and gloo'
    build/venv/bin/python examples/pytorch/compare.py --processes 2 examples/pytorch/ddp.py ||
      fail 'training with PyTorch failed; the lines above say how.'
  fi
  heading 'The demonstration succeeded'
  echo 'The tool is build/bin/ringlet. For PyTorch: . build/venv/bin/activate'
}

none_after() { [ $# = 1 ] || { usage >&2; fail "$1 takes no arguments"; }; }

case ${1:-} in
  demo) none_after "$@"; demo ;;
  test) shift; run_tests "$@" ;;
  build) none_after "$@"; build_product ;;
  install) shift; install_product "$@" ;;
  package) none_after "$@"; make_packages ;;
  wheels) shift; make_wheels "$@" ;;
  release) shift; make_release "$@" ;;
  site) none_after "$@"; make_site ;;
  clean) none_after "$@"; rm -rf build build-dev build-clang build-asan build-tsan build-fuzz build-python* dist ;;
  -h | --help | help) usage ;;
  '') usage >&2; exit 2 ;;
  *) usage >&2; fail "there is no command '$1'" ;;
esac
