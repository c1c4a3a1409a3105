#!/usr/bin/env bash
# uninstall.sh UNINSTALL.CMAKE WORK: files and empty folders go, and nothing else.
set -euo pipefail
script=$1
rm -rf "$2" && mkdir -p "$2" && cd "$2"

# install_to PREFIX: what an installation leaves, beside a file of somebody else.
install_to() {
  local file
  mkdir -p build "root$1/share/doc" "root$1/empty"
  : >build/install_manifest.txt
  for file in bin/ringlet include/ringlet/compat/nccl.h lib/ringlet/compat/libnccl.so.2 lib/pkgconfig/ringlet.pc; do
    mkdir -p "$(dirname "root$1/$file")"
    : >"root$1/$file"
    echo "$1/$file" >>build/install_manifest.txt
  done
  : >"root$1/share/doc/theirs"
}

# left_in PREFIX WORDS: the files and folders below PREFIX, after it was uninstalled.
left_in() {
  DESTDIR=$PWD/root cmake -D build="$PWD/build" -P "$script"
  local left
  left=$(cd "root$1" && find . -mindepth 1 | sort | tr '\n' ' ')
  [ "$left" = "$2 " ] || { echo "left in $1: $left" >&2; exit 1; }
}

install_to /opt/r
left_in /opt/r './empty ./share ./share/doc ./share/doc/theirs'
install_to /usr/local
left_in /usr/local './bin ./empty ./include ./lib ./lib/pkgconfig ./share ./share/doc ./share/doc/theirs'
if cmake -D build="$PWD/build" -P "$script" 2>output; then echo 'uninstalled twice' >&2; exit 1; fi
grep -q 'nothing was installed' output
