#!/usr/bin/env bash
# subproject.sh SOURCE WORK: a project that fetches Ringlet gets its libraries, and no tool or tests.
set -euo pipefail
rm -rf "$2" && mkdir -p "$2"
cat >"$2/CMakeLists.txt" <<EOF
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES C CXX)
include(FetchContent)
FetchContent_Declare(ringlet SOURCE_DIR $1 EXCLUDE_FROM_ALL)
FetchContent_MakeAvailable(ringlet)
foreach(target IN ITEMS ringlet::ringlet ringlet::nccl)
  if(NOT TARGET \${target})
    message(FATAL_ERROR "there is no \${target}")
  endif()
endforeach()
foreach(target IN ITEMS ringlet uninstall base_test)
  if(TARGET \${target})
    message(FATAL_ERROR "\${target} is made for a project that does not want it")
  endif()
endforeach()
EOF
cmake -G Ninja -S "$2" -B "$2/build" >"$2/log" 2>&1 || { cat "$2/log" >&2; exit 1; }
