# What ./ringlet.sh makes for others: an installation, packages and wheels. It sources this file.

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

# fetch_torch_headers PROCESSOR VERSION: the headers of a version of PyTorch, and the libraries to link with,
# in build/torches/PROCESSOR/VERSION/torch. Fails, after saying why, where it cannot be had.
fetch_torch_headers() {
  local folder=build/torches/$1/$2
  [ ! -e "$folder/torch/lib/libtorch_cpu.so" ] || return 0
  rm -rf "$folder"
  mkdir -p "$folder"
  echo "\$ pip download --no-deps --platform manylinux_2_28_$1 torch==$2.*"
  "$wheels_venv/bin/pip" download -q --no-deps --only-binary :all: --platform "manylinux_2_28_$1" \
    -d "$folder" "torch==$2.*" || {
    echo "PyTorch $2 cannot be had: pip download failed, see above."
    return 1
  }
  "$wheels_venv/bin/python" tools/torch_headers.py "$folder"/torch-*.whl "$folder"
  rm "$folder"/torch-*.whl
}

# Makes a wheel for each processor of RINGLET_WHEELS, or for that of this machine. A wheel holds an extension for
# each version of PyTorch that can be had, the libraries and the tool. It runs on glibc 2.28 (docs/decisions/0152).
wheels_venv=build/wheels-venv
wheels_torches='2.10 2.11 2.12 2.13 2.14 2.15'
wheels_glibc=2.28
make_wheels() {
  local processor processors
  need "$build_packages$torch_packages$wheel_packages"
  python3 tools/environments.py wheels || fail 'wheels need packages from PyPI.'
  processors=${RINGLET_WHEELS:-$(uname -m)}
  [ $# -gt 0 ] || set -- $wheels_torches
  rm -rf dist
  for processor in $processors; do make_wheel "$processor" "$@"; done
  "$wheels_venv/bin/python" -m build --sdist --outdir dist || fail 'the build failed; see above.'
  heading 'To install it'
  echo "pip install --find-links $PWD/dist ringlet"
}

# make_wheel PROCESSOR TORCH...: writes dist/ringlet-*PROCESSOR.whl for these versions of PyTorch.
make_wheel() {
  local processor=$1 glibc=build/glibc-$wheels_glibc-$1 raw=build/wheels/$1 name folders=() exclude=() cross=()
  shift
  heading "PyTorch for $processor"
  for name; do
    fetch_torch_headers "$processor" "$name" || { echo "So the wheel is not for torch $name."; continue; }
    folders+=("$PWD/build/torches/$processor/$name/torch")
  done
  [ ${#folders[@]} -gt 0 ] || fail 'no version of PyTorch can be had, and the wheel is for PyTorch.'
  heading "Building for $processor and glibc $wheels_glibc"
  [ -e "$glibc/complete" ] || { "$wheels_venv/bin/python" tools/old_glibc.py "$wheels_glibc" "$processor" "$glibc" &&
    touch "$glibc/complete"; } || fail 'glibc of this version cannot be had; see above.'
  if [ "$processor" = "$(uname -m)" ]; then
    export CXX=${CXX:-c++}
  else
    [ -e "cmake/$processor.cmake" ] || fail "there is no toolchain for $processor: cmake/$processor.cmake"
    cross=(-C "cmake.define.CMAKE_TOOLCHAIN_FILE=$PWD/cmake/$processor.cmake")
  fi
  rm -rf "$raw"
  _PYTHON_HOST_PLATFORM=linux-$processor CMAKE_BUILD_PARALLEL_LEVEL=$(jobs) "$wheels_venv/bin/python" -m build \
    --wheel --outdir "$raw" -C "build-dir=build-python-wheels-$processor" "${cross[@]}" \
    -C cmake.define.RINGLET_TOOL=ON -C cmake.define.RINGLET_EMULATE=ON \
    -C "cmake.define.RINGLET_GLIBC=$PWD/$glibc" \
    -C "cmake.define.RINGLET_TORCHES=$(IFS=';'; echo "${folders[*]}")" || fail 'the build failed; see above.'
  for name in libtorch_cpu.so libc10.so; do exclude+=(--exclude "$name"); done
  # auditwheel checks that the wheel needs no other library and no newer glibc. It offers the policies of the
  # processor that Python reports.
  PATH=$PWD/$wheels_venv/bin:$PATH "$wheels_venv/bin/python" -c "import platform
platform.machine = lambda: '$processor'
import sys; from auditwheel.main import main
sys.exit(main())" repair --only-plat --plat "manylinux_${wheels_glibc/./_}_$processor" "${exclude[@]}" --wheel-dir dist "$raw"/*.whl ||
    fail 'auditwheel failed; see above.'
}

make_site() {
  need "$site_packages"
  python3 tools/environments.py site || fail 'the site needs mkdocs-material from PyPI.'
  heading 'Making the site'
  NO_MKDOCS_2_WARNING=1 build/site-venv/bin/python -m mkdocs build --strict --quiet \
    --site-dir "$PWD/build/site" || fail 'mkdocs failed; see above.'
  echo 'The site is build/site/. To read it: python3 -m http.server --directory build/site'
}
