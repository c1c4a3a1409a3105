# The libraries that `ringlet emulate` puts in the place of NVIDIA's: libcudart.so.13 and .12, libcuda.so.1,
# libnvidia-ml.so.1, and those that PyTorch is linked with and does not call while it communicates. They
# lie in a directory of their own, on no search path.
#
# src/emulate/names has a file for each library: the functions that programs look for in it. Each that the
# sources do not define is a trap: it says its name on standard error and fails.
set(emulate_build ${PROJECT_BINARY_DIR}/emulate)
set(emulate_libdir ${CMAKE_INSTALL_LIBDIR}/ringlet/emulate)
set(emulate_sources ${PROJECT_SOURCE_DIR}/src/emulate)

# Sets `result` to the names in names/LIBRARY.txt.
function(ringlet_emulate_names library result)
  set(file ${emulate_sources}/names/${library}.txt)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(STRINGS ${file} names)
  set(${result} ${names} PARENT_SCOPE)
endfunction()

# The places, names and links that all of them share.
function(ringlet_emulate_library target library)
  # The file's name is the library's: no links, of which two versions would have the same.
  set_target_properties(${target} PROPERTIES
    PREFIX "" OUTPUT_NAME ${library} SUFFIX ""
    LIBRARY_OUTPUT_DIRECTORY ${emulate_build} C_VISIBILITY_PRESET hidden
    BUILD_RPATH "$ORIGIN;$ORIGIN/../lib" BUILD_RPATH_USE_ORIGIN ON
    INSTALL_RPATH "$ORIGIN;$ORIGIN/../.." UNITY_BUILD ${RINGLET_UNITY} UNITY_BUILD_BATCH_SIZE 20)
  # RUNPATH, not RPATH: LD_LIBRARY_PATH may still choose another libringlet.so.0.
  target_link_options(${target} PRIVATE -Wl,--enable-new-dtags)
  if(NOT RINGLET_SANITIZE)
    target_link_options(${target} PRIVATE -Wl,-z,defs)  # a name that is missing is missed here
  endif()
  install(TARGETS ${target} LIBRARY DESTINATION ${emulate_libdir}
    COMPONENT tool)
  set_property(GLOBAL APPEND PROPERTY RINGLET_EMULATE_TARGETS ${target})
endfunction()

# The version that NVIDIA's library gives its functions, without which the loader warns; empty: none.
function(ringlet_emulate_version target library version)
  set(map ${PROJECT_BINARY_DIR}/emulate_sources/${library}.map)
  file(CONFIGURE OUTPUT ${map} CONTENT "@version@ { global: cu*; __cu*; nv*; _ZN*; local: *; };\n" @ONLY)
  target_link_options(${target} PRIVATE -Wl,--version-script=${map})
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${map})
endfunction()

# A library with traps for all names, behind which the functions of the sources are.
function(ringlet_emulate_real target library version)
  ringlet_emulate_names(${library} names)
  list(TRANSFORM names REPLACE "(.+)" "TRAP(\\1)" OUTPUT_VARIABLE traps)
  list(JOIN traps "\n" traps)
  set(source ${PROJECT_BINARY_DIR}/emulate_sources/${library}.c)
  configure_file(${PROJECT_SOURCE_DIR}/packaging/emulate_traps.c.in ${source} @ONLY)
  add_library(${target} SHARED ${ARGN} ${source})
  target_include_directories(${target} PRIVATE
    ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${target} PRIVATE
    ringlet_hostcuda ringlet_shared ringlet_os fmt::fmt ${CMAKE_DL_LIBS} ringlet_flags)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-O2>)
  ringlet_emulate_library(${target} ${library})
  ringlet_emulate_version(${target} ${library} "${version}")
endfunction()

# A library of traps alone.
function(ringlet_emulate_stub library version)
  string(MAKE_C_IDENTIFIER ringlet_stub_${library} target)
  ringlet_emulate_names(${library} names)
  set(traps)
  foreach(name IN LISTS names)
    if(name STREQUAL "cudnnGetVersion")
      string(APPEND traps "VERSION_FUNCTION(${name})\n")
    elseif(name MATCHES "(String|Name)$")
      string(APPEND traps "TEXT_TRAP(${name})\n")
    else()
      string(APPEND traps "TRAP(${name})\n")
    endif()
  endforeach()
  set(source ${PROJECT_BINARY_DIR}/emulate_sources/${library}.c)
  configure_file(${PROJECT_SOURCE_DIR}/packaging/emulate_stub.c.in ${source} @ONLY)
  add_library(${target} SHARED ${source})
  target_link_libraries(${target} PRIVATE ringlet_hostcuda)
  ringlet_emulate_library(${target} ${library})
  ringlet_emulate_version(${target} ${library} "${version}")
endfunction()

# The state of the process, which all of them share, is in a library of its own.
add_library(ringlet_hostcuda SHARED $<TARGET_OBJECTS:ringlet_cuda>)
target_link_libraries(ringlet_hostcuda PRIVATE
  ringlet_os ringlet_topology ringlet_base ringlet_shared fmt::fmt ${CMAKE_DL_LIBS})
set(hostcuda_map ${PROJECT_SOURCE_DIR}/packaging/hostcuda.map)
target_link_options(ringlet_hostcuda PRIVATE -Wl,--version-script=${hostcuda_map})
set_target_properties(ringlet_hostcuda PROPERTIES LINKER_LANGUAGE CXX LINK_DEPENDS ${hostcuda_map})
ringlet_emulate_library(ringlet_hostcuda libringlet_hostcuda.so.0)

file(GLOB runtime_sources CONFIGURE_DEPENDS ${emulate_sources}/runtime/*.cpp)
file(GLOB driver_sources CONFIGURE_DEPENDS ${emulate_sources}/driver/*.cpp)
foreach(major 13 12)
  ringlet_emulate_real(ringlet_cudart${major} libcudart.so.${major} libcudart.so.${major}
    ${runtime_sources})
  target_compile_definitions(ringlet_cudart${major} PRIVATE
    RINGLET_CUDART=${major} RINGLET_CUDART_NAME="libcudart.so.${major}")
endforeach()
ringlet_emulate_real(ringlet_cuda_driver libcuda.so.1 "" ${driver_sources})
# NVML has no traps: a function that is not there is one that the driver does not have.
file(GLOB management_sources CONFIGURE_DEPENDS ${emulate_sources}/management/*.cpp)
add_library(ringlet_nvml SHARED ${management_sources})
target_include_directories(ringlet_nvml PRIVATE
  ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(ringlet_nvml PRIVATE ringlet_hostcuda ringlet_base fmt::fmt ringlet_flags)
ringlet_emulate_library(ringlet_nvml libnvidia-ml.so.1)
ringlet_emulate_version(ringlet_nvml libnvidia-ml.so.1 "")

foreach(library
    libcublas.so.13 libcublasLt.so.13 libcudnn.so.9 libcufft.so.12 libcupti.so.13 libcurand.so.10
    libcusolver.so.12 libcusparse.so.12 libnvrtc.so.13)
  ringlet_emulate_stub(${library} ${library})
endforeach()
ringlet_emulate_stub(libnvshmem_host.so.3 NVSHMEM)
foreach(library libcufile.so.0 libcusparseLt.so.0)
  ringlet_emulate_stub(${library} "")
endforeach()

install(FILES ${PROJECT_SOURCE_DIR}/include/ringlet/kernel.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ringlet COMPONENT development)
get_property(emulate_targets GLOBAL PROPERTY RINGLET_EMULATE_TARGETS)
add_custom_target(ringlet_emulate DEPENDS ${emulate_targets})
