# Toolchain: Debian's cross compiler for AArch64, with the libraries of the same Debian for that processor, which
# tools/debian.py unpacks once. qemu-user runs what it makes.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH ringlet_sources)
set(sysroot ${ringlet_sources}/build/sysroot-aarch64)
if(NOT EXISTS ${sysroot}/complete)
  message(STATUS "Fetching the libraries for AArch64")
  execute_process(COMMAND python3 ${ringlet_sources}/tools/debian.py packages arm64 ${sysroot}
    libfmt-dev libsodium-dev libhwy-dev libpugixml-dev nlohmann-json3-dev libcli11-dev libgmock-dev
    libbenchmark-dev COMMAND_ERROR_IS_FATAL ANY)
  file(TOUCH ${sysroot}/complete)
endif()
set(CMAKE_FIND_ROOT_PATH ${sysroot} /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${sysroot}/usr/lib/aarch64-linux-gnu/pkgconfig:${sysroot}/usr/share/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${sysroot})

set(CMAKE_CROSSCOMPILING_EMULATOR ${ringlet_sources}/test/aarch64/qemu.sh ${sysroot})
