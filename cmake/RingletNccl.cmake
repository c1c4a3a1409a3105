# libnccl.so.2, for programs that are linked with NCCL's library or load it by its name.
#
# ringlet_read_nccl_headers(HEADER...) sets, for the caller:
#   nccl_version    the version of NCCL that the first header describes, as 2.28.9
#   nccl_functions  the names of their functions without their p-twins
#   nccl_forwards   C source: each function, and its twin, calls ringlet_<name>
function(ringlet_read_nccl_headers header)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header} ${ARGN})
  file(READ ${header} text)
  set(version)
  foreach(part MAJOR MINOR PATCH)
    if(NOT text MATCHES "#define NCCL_${part} ([0-9]+)")
      message(FATAL_ERROR "${header} has no NCCL_${part}")
    endif()
    list(APPEND version ${CMAKE_MATCH_1})
  endforeach()
  list(JOIN version "." version)
  foreach(further IN LISTS ARGN)
    file(READ ${further} more)
    string(APPEND text "${more}")
  endforeach()

  set(functions)
  set(forwards)
  string(REGEX REPLACE "#[^\n]*\n" "" text "${text}")
  string(REGEX REPLACE "[ \n]+" " " text "${text}")
  string(REPLACE ";" "@" text "${text}")
  string(REGEX MATCHALL "RINGLET_C_API [^@]*@" declarations "${text}")
  foreach(declaration IN LISTS declarations)
    ringlet_forward("${declaration}")
    string(APPEND forwards "${forward}")
    list(APPEND functions ${name})
  endforeach()
  list(REMOVE_DUPLICATES functions)

  set(nccl_version ${version} PARENT_SCOPE)
  set(nccl_functions ${functions} PARENT_SCOPE)
  set(nccl_forwards "${forwards}" PARENT_SCOPE)
endfunction()

# Sets `forward`, the C source for one declaration, and `name`, its function without a leading p.
function(ringlet_forward declaration)
  if(NOT declaration MATCHES "^RINGLET_C_API (.*[ *])p?(nccl[A-Za-z0-9]+)\\((.*)\\)@$")
    message(FATAL_ERROR "not a function that can be forwarded: ${declaration}")
  endif()
  set(result "${CMAKE_MATCH_1}")
  set(name ${CMAKE_MATCH_2})
  set(parameters "${CMAKE_MATCH_3}")
  string(REGEX REPLACE "^RINGLET_C_API (.*)@$" "\\1" prototype "${declaration}")

  # The name of a parameter is the last word of its declaration.
  set(arguments)
  string(REPLACE "," ";" each "${parameters}")
  foreach(parameter IN LISTS each)
    if(NOT parameter MATCHES "[ *]([A-Za-z_0-9]+)$" AND NOT parameter STREQUAL "void")
      message(FATAL_ERROR "a parameter without a name: ${declaration}")
    endif()
    list(APPEND arguments ${CMAKE_MATCH_1})
  endforeach()
  list(JOIN arguments ", " arguments)
  set(return "return ")
  if(parameters STREQUAL "void")
    set(arguments)
  endif()
  if(result STREQUAL "void ")
    set(return)
  endif()

  set(name ${name} PARENT_SCOPE)
  set(forward "${result}ringlet_${name}(${parameters})@
${prototype} { ${return}ringlet_${name}(${arguments})@ }
" PARENT_SCOPE)
endfunction()

set(nccl_headers
  ${PROJECT_SOURCE_DIR}/include/ringlet/compat/nccl.h
  ${PROJECT_SOURCE_DIR}/include/ringlet/compat/nccl_device.h)
ringlet_read_nccl_headers(${nccl_headers})

# The names that libnccl.so.2 calls, in libringlet.so.0.
set(aliases)
foreach(function IN LISTS nccl_functions)
  string(APPEND aliases "--defsym=ringlet_${function}=${function}\n")
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/nccl/aliases.txt CONTENT "${aliases}" @ONLY)
target_link_options(ringlet_shared PRIVATE -Wl,@${PROJECT_BINARY_DIR}/nccl/aliases.txt)
set_property(TARGET ringlet_shared APPEND PROPERTY
  LINK_DEPENDS ${PROJECT_BINARY_DIR}/nccl/aliases.txt)

string(REPLACE "@" ";" forwards "${nccl_forwards}")
configure_file(${PROJECT_SOURCE_DIR}/packaging/libnccl.c.in
  ${PROJECT_BINARY_DIR}/nccl/libnccl.c @ONLY)
add_library(ringlet_libnccl SHARED ${PROJECT_BINARY_DIR}/nccl/libnccl.c)
target_include_directories(ringlet_libnccl PRIVATE ${PROJECT_SOURCE_DIR}/include/ringlet/compat)
target_compile_options(ringlet_libnccl PRIVATE -Wall -Wextra)
target_link_libraries(ringlet_libnccl PRIVATE ringlet_shared)
# RUNPATH, not RPATH: LD_LIBRARY_PATH may still choose another libringlet.so.0.
target_link_options(ringlet_libnccl PRIVATE -Wl,--enable-new-dtags)
set_target_properties(ringlet_libnccl PROPERTIES
  OUTPUT_NAME nccl SOVERSION 2
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/compat
  BUILD_RPATH_USE_ORIGIN ON INSTALL_RPATH "$ORIGIN/../..")
if(NOT RINGLET_PYTHON)
  set_target_properties(ringlet_libnccl PROPERTIES VERSION ${nccl_version})
endif()
