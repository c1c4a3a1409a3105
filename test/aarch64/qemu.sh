#!/bin/sh
# qemu.sh ROOT PROGRAM...: runs a program for AArch64 on one core (see on_one_core.sh), with the loader and the
# libraries in ROOT. The option -L of qemu would show the program ROOT in the place of /. qemu-user ignores the
# limits that a program sets for its memory, so a limit of the emulator stands in.
root=$1
shift
ulimit -d 4194304
exec "$(dirname "$0")/on_one_core.sh" qemu-aarch64 ${RINGLET_QEMU_CPU:+-cpu "$RINGLET_QEMU_CPU"} \
  "$root/lib/ld-linux-aarch64.so.1" --library-path "$root/lib/aarch64-linux-gnu:$root/usr/lib/aarch64-linux-gnu" "$@"
