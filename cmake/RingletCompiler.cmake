# One interface target carries every flag, so that a layer's own file holds only what is its own.
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

add_library(ringlet_flags INTERFACE)
target_compile_features(ringlet_flags INTERFACE cxx_std_20)
target_compile_options(ringlet_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
                            -Wnon-virtual-dtor -Woverloaded-virtual>
  $<$<COMPILE_LANGUAGE:CXX>:-fvisibility=hidden -fvisibility-inlines-hidden>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 at -O3 reports a false -Wrestrict on string concatenation (GCC PR 105329).
  target_compile_options(ringlet_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
if(RINGLET_WERROR)
  target_compile_options(ringlet_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()
if(RINGLET_SANITIZE)
  add_compile_options(-fsanitize=${RINGLET_SANITIZE} -fno-omit-frame-pointer -g)
  # GCC 12 takes moved variants for unset memory where a sanitizer's calls stand between.
  add_compile_options($<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-maybe-uninitialized>)
  add_link_options(-fsanitize=${RINGLET_SANITIZE})
  if(RINGLET_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()

if(RINGLET_FUZZ)
  # The fuzzer steers by the coverage of the library: instrument everything, not only *_fuzz.cpp.
  add_compile_options(-fsanitize=fuzzer-no-link)
  add_link_options(-fsanitize=fuzzer-no-link)
endif()

# The library and the Python package have one set of flags, so that a compiler cache or a shared build
# folder compiles each source once (docs/decisions/0143). A process pays for each page of a library that
# it touches when it starts. So the linker drops the functions that nothing calls,
# and -O2 replaces CMake's -O3.
add_compile_options(-ffunction-sections -fdata-sections)
add_link_options(-Wl,--gc-sections)
string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")

find_program(RINGLET_MOLD mold)
if(RINGLET_MOLD AND NOT RINGLET_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  add_link_options(-fuse-ld=mold)
endif()
find_program(RINGLET_CCACHE ccache)
if(RINGLET_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${RINGLET_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${RINGLET_CCACHE})
endif()
