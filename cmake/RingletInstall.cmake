# One shared library, libringlet.so.0, of all layers; and what find_package and pkg-config need.
#
# Each file belongs to a component, of which RingletPackage makes a Debian package: `runtime` has the
# libraries that programs load, `development` the files to compile with, `tool` the command.
#
# It exports what include/ringlet marks RINGLET_API or RINGLET_STREAM_API, and the nccl*/pnccl* functions; the rest
# is hidden twice: by the compiler's flag and by packaging/ringlet.map, which also keeps our copies
# of inline standard-library functions from meeting those of the program.
include(CMakePackageConfigHelpers)

# The tool and the PyTorch extension link the layers themselves; the library is for all other programs.
# It holds the layers of src/core, and these link no package around the core.
get_property(layers GLOBAL PROPERTY RINGLET_LAYERS)
list(TRANSFORM layers PREPEND ringlet_ OUTPUT_VARIABLE layer_targets)
list(TRANSFORM layers REPLACE "(.+)" "$<TARGET_OBJECTS:ringlet_\\1>" OUTPUT_VARIABLE layer_objects)
foreach(target IN LISTS layer_targets)
  get_target_property(linked ${target} LINK_LIBRARIES)
  list(FILTER linked INCLUDE REGEX "^ringlet_")
  list(REMOVE_ITEM linked ${layer_targets} ringlet_flags)
  if(linked)
    message(FATAL_ERROR "${target} is a layer of the core and links a package around it: ${linked}")
  endif()
endforeach()

file(GLOB public_headers CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/include/ringlet/*.hpp ${PROJECT_SOURCE_DIR}/include/ringlet/*.h)
set(version_script ${PROJECT_SOURCE_DIR}/packaging/ringlet.map)

# The target `ringlet` is the tool, hence the longer name here. The layers' archives are listed only
# for the libraries behind them: every object is in already.
add_library(ringlet_shared SHARED ${layer_objects})
add_library(ringlet::ringlet ALIAS ringlet_shared)
target_sources(ringlet_shared PUBLIC FILE_SET HEADERS
  BASE_DIRS ${PROJECT_SOURCE_DIR}/include FILES ${public_headers})
target_compile_features(ringlet_shared INTERFACE cxx_std_17)
target_link_libraries(ringlet_shared PRIVATE ${layer_targets})
# Its threads and what exit runs stay until the process ends, whoever has closed it.
target_link_options(ringlet_shared PRIVATE -Wl,--version-script=${version_script} -Wl,-z,nodelete)
if(NOT RINGLET_SANITIZE)
  # A function that only a package around the core has is an error here, not when a program starts. The
  # functions of a sanitizer are in the program.
  target_link_options(ringlet_shared PRIVATE -Wl,-z,defs)
endif()
set_target_properties(ringlet_shared PROPERTIES
  OUTPUT_NAME ringlet EXPORT_NAME ringlet LINKER_LANGUAGE CXX
  SOVERSION 0 LINK_DEPENDS ${version_script})
# A wheel has no links, so its files have the names that the loader looks for.
if(NOT RINGLET_PYTHON)
  set_target_properties(ringlet_shared PROPERTIES VERSION ${PROJECT_VERSION})
endif()

install(TARGETS ringlet_shared EXPORT ringlet
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

# libringlet_topo.so.0 has the functions of ringlet/topology.hpp. It holds its own copy of the layers that it
# needs, and shares nothing with libringlet.so.0 of the same process.
set(topo_script ${PROJECT_SOURCE_DIR}/packaging/topo.map)
add_library(ringlet_topo_shared SHARED $<TARGET_OBJECTS:ringlet_topology_api>)
add_library(ringlet::topology ALIAS ringlet_topo_shared)
target_include_directories(ringlet_topo_shared INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(ringlet_topo_shared INTERFACE cxx_std_17)
target_link_libraries(ringlet_topo_shared PRIVATE ringlet_topology_api)
target_link_options(ringlet_topo_shared PRIVATE -Wl,--version-script=${topo_script})
if(NOT RINGLET_SANITIZE)
  target_link_options(ringlet_topo_shared PRIVATE -Wl,-z,defs)
endif()
set_target_properties(ringlet_topo_shared PROPERTIES
  OUTPUT_NAME ringlet_topo EXPORT_NAME topology LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION} SOVERSION 0
  LINK_DEPENDS ${topo_script})
if(NOT RINGLET_PYTHON)
  install(TARGETS ringlet_topo_shared EXPORT ringlet
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development)
endif()

# NCCL's names are in directories of their own, on no search path: a program that is to find Ringlet as
# <nccl.h> or libnccl.so.2 names them, and no other program finds them by accident.
set(compat_includedir ${CMAKE_INSTALL_INCLUDEDIR}/ringlet/compat)
set(compat_libdir ${CMAKE_INSTALL_LIBDIR}/ringlet/compat)
include(RingletNccl)
add_library(ringlet_nccl INTERFACE)
add_library(ringlet::nccl ALIAS ringlet_nccl)
set_target_properties(ringlet_nccl PROPERTIES EXPORT_NAME nccl)
target_include_directories(ringlet_nccl INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include/ringlet/compat>
  $<INSTALL_INTERFACE:${compat_includedir}>)
target_link_libraries(ringlet_nccl INTERFACE ringlet_shared)
install(TARGETS ringlet_nccl EXPORT ringlet)
install(FILES ${nccl_headers}
  DESTINATION ${compat_includedir} COMPONENT development)
install(TARGETS ringlet_libnccl LIBRARY DESTINATION ${compat_libdir}
  COMPONENT runtime NAMELINK_COMPONENT development)

# What `cmake --install` copies; `./ringlet.sh build` builds it.
add_custom_target(ringlet_product DEPENDS ringlet_shared ringlet_libnccl ringlet_topo_shared)
if(TARGET ringlet)
  add_dependencies(ringlet_product ringlet ringlet_man)
  install(TARGETS ringlet RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tool)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT tool
    OPTIONAL FILES_MATCHING PATTERN "*.1")
endif()

if(RINGLET_EMULATE)
  include(RingletEmulate)
  add_dependencies(ringlet_product ringlet_emulate)
endif()

# The Python package has the libraries and the tool in a folder with the layout of an installation, which
# `ringlet emulate` and the RPATH of libnccl.so.2 expect.
if(RINGLET_PYTHON)
  add_dependencies(ringlet_python ringlet_shared ringlet_libnccl)
  install(TARGETS ringlet_shared LIBRARY DESTINATION ringlet/lib NAMELINK_SKIP COMPONENT python)
  install(TARGETS ringlet_libnccl LIBRARY DESTINATION ringlet/lib/ringlet/compat NAMELINK_SKIP COMPONENT python)
  if(TARGET ringlet)
    add_dependencies(ringlet_python ringlet)
    install(TARGETS ringlet RUNTIME DESTINATION ringlet/bin COMPONENT python)
    ringlet_install_machines(ringlet/share python)
  endif()
  if(RINGLET_EMULATE)
    add_dependencies(ringlet_python ringlet_emulate)
    install(TARGETS ${emulate_targets} LIBRARY DESTINATION ringlet/lib/ringlet/emulate COMPONENT python)
  endif()
endif()

set(cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ringlet)
install(EXPORT ringlet NAMESPACE ringlet:: FILE ringletTargets.cmake DESTINATION ${cmake_dir}
  COMPONENT development)
configure_package_config_file(${PROJECT_SOURCE_DIR}/packaging/ringletConfig.cmake.in
  ${PROJECT_BINARY_DIR}/ringletConfig.cmake INSTALL_DESTINATION ${cmake_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ringletConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ringletConfig.cmake
  ${PROJECT_BINARY_DIR}/ringletConfigVersion.cmake DESTINATION ${cmake_dir} COMPONENT development)

# NAME.pc in `directory`. Paths are relative to the .pc file itself, so that `cmake --install
# --prefix` and a moved tree stay right.
function(ringlet_pkg_config name directory)
  file(RELATIVE_PATH pc_prefix /${directory} /)
  configure_file(${PROJECT_SOURCE_DIR}/packaging/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${directory} COMPONENT development)
endfunction()
ringlet_pkg_config(ringlet ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
ringlet_pkg_config(ringlet-topology ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
ringlet_pkg_config(ringlet-nccl ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
# Found only by those who have lib/ringlet/compat/pkgconfig on pkg-config's path.
ringlet_pkg_config(nccl ${compat_libdir}/pkgconfig)

if(PROJECT_IS_TOP_LEVEL)
  include(RingletPackage)
endif()
