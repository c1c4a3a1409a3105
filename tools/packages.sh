# The packages of Debian and Ubuntu that ./ringlet.sh needs, and what installs them. It sources this file.

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
valgrind         counts the instructions of each call
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

wheel_packages='
dpkg-dev         unpacks the sources of fmt and Highway
g++-aarch64-linux-gnu|-  compiles the wheel for AArch64
'

site_packages='
python3-venv     an environment of its own for mkdocs-material
'

torch_packages='
python3-venv     environments of their own for PyTorch and the site
'

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
