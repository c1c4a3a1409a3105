#!/usr/bin/env bash
# bare_python.sh ROOT FOLDER: installs the wheel of `./ringlet.sh wheels` in a bare Debian that has
# nothing but python3-venv, uses it without torch and with it, and removes it. As root; ROOT comes from
# `debootstrap --variant=minbase --include=python3-venv bookworm ROOT`, and FOLDER has the wheels of
# ringlet, of torch and of what torch depends on:
#   cp dist/*.whl FOLDER; pip download -d FOLDER torch numpy
# By hand: it needs the network for these two.
set -euo pipefail
root=$(realpath "$1")
wheels=$(realpath "$2")
if [ -z "${RINGLET_UNSHARED:-}" ]; then
  RINGLET_UNSHARED=1 exec unshare --mount --pid --fork "$0" "$root" "$wheels"
fi
mount -t proc proc "$root/proc"
mount -t tmpfs tmpfs "$root/dev/shm"
mount -t tmpfs tmpfs "$root/tmp"
mkdir "$root/tmp/wheels"
mount --bind "$wheels" "$root/tmp/wheels"
cat >"$root/tmp/first.py" <<'PYTHON'
import torch
import torch.distributed as dist
dist.init_process_group("ringlet")
tensor = torch.full((1 << 20,), dist.get_rank() + 1.0)
dist.all_reduce(tensor)
assert tensor.eq(3).all()
if dist.get_rank() == 0:
    print("verified with torch", torch.__version__)
dist.destroy_process_group()
PYTHON

inside() {
  printf '\n$ %s\n' "$*"
  chroot "$root" env -i PATH=/tmp/venv/bin:/usr/bin:/bin HOME=/root LANG=C.UTF-8 sh -ec "cd /tmp; $*"
}
timed() {
  local begin
  begin=$(date +%s.%N)
  inside "$@"
  printf '%.1f s\n' "$(echo "$(date +%s.%N) - $begin" | bc)"
}
install='pip install -q --no-index --find-links wheels'

inside 'if command -v gcc cc make cmake; then exit 1; fi; python3 -m venv venv'
timed "$install ringlet"
inside 'find /tmp/venv -newer /tmp/first.py -name "*.so*" | grep -c ringlet'
inside 'python -m ringlet'
timed ringlet bench all_reduce -n 2 -e 1M --check
inside pip uninstall -q -y ringlet
inside 'if find / -xdev -name "*ringlet*" | grep .; then exit 1; fi'
timed "$install torch numpy"
timed "$install ringlet; torchrun --nproc-per-node 2 --master-addr 127.0.0.1 --master-port 29511 first.py"
inside pip uninstall -q -y ringlet
printf '\nInstalled, used and removed; nothing is left behind.\n'
