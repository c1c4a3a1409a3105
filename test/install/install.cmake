# Installs the build tree `build` to a fresh `prefix` and looks at what lies where. Ninja, where `ninja`
# names it, is asked whether the target of `./ringlet.sh build` makes all that is installed.
cmake_policy(SET CMP0009 NEW)  # a search below a folder follows no links
file(REMOVE_RECURSE ${prefix})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${build} --prefix ${prefix}
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)

foreach(path IN ITEMS
    bin/ringlet
    share/man/man1/ringlet.1
    share/man/man1/ringlet-bench.1
    share/ringlet/machines/dgx-h100.xml
    share/ringlet/machines/README.md
    share/ringlet/machines/LICENSES.md
    include/ringlet/communicator.hpp
    include/ringlet/status.hpp
    include/ringlet/errors.h
    include/ringlet/topology.hpp
    include/ringlet/finding.hpp
    include/ringlet/stream.h
    include/ringlet/compat/nccl.h
    include/ringlet/compat/nccl_device.h
    ${libdir}/libringlet.so
    ${libdir}/libringlet.so.0
    ${libdir}/libringlet_topo.so
    ${libdir}/libringlet_topo.so.0
    ${libdir}/ringlet/compat/libnccl.so
    ${libdir}/ringlet/compat/libnccl.so.2
    ${libdir}/ringlet/compat/pkgconfig/nccl.pc
    ${libdir}/pkgconfig/ringlet.pc
    ${libdir}/pkgconfig/ringlet-nccl.pc
    ${libdir}/pkgconfig/ringlet-topology.pc
    ${libdir}/cmake/ringlet/ringletConfig.cmake
    ${libdir}/cmake/ringlet/ringletConfigVersion.cmake)
  if(NOT EXISTS ${prefix}/${path})
    message(SEND_ERROR "not installed: ${path}")
  endif()
endforeach()

# A real NCCL must never be shadowed by accident.
file(GLOB shadows ${prefix}/include/nccl* ${prefix}/${libdir}/libnccl*)
if(shadows)
  message(SEND_ERROR "shadows NCCL: ${shadows}")
endif()

# expect_exports(LIBRARY PATTERN OPTION...): each exported symbol, as nm prints it, matches.
function(expect_exports library pattern)
  execute_process(COMMAND nm -D --defined-only ${ARGN} ${prefix}/${libdir}/${library}
    OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]+" symbols "${symbols}")
  foreach(symbol IN LISTS symbols)
    if(NOT symbol MATCHES "${pattern}")
      message(SEND_ERROR "exported by mistake by ${library}: ${symbol}")
    endif()
  endforeach()
endfunction()
# The C functions and namespace ringlet, and nothing of anybody else's.
expect_exports(libringlet.so.0 " ((p|ringlet_)?nccl[A-Z][A-Za-z0-9]*|ringlet(Stream|Event|Graph)[A-Z][A-Za-z]*|ringlet_predict|ringletLastLostRank|ringletCommReform|_ZN?K?T?[ISV]?N?K?7ringlet.*)$")
# The functions of ringlet/topology.hpp, and what Result needs.
expect_exports(libringlet_topo.so.0 " ringlet::(CodeName|AssertionFailed|topology::(Topology::|DevicePaths::|TextOf|Lint|Check|PlanChannels))" --demangle)

# The commands that make ringlet_product make each built file that the installation copies.
if(ninja)
  execute_process(COMMAND ${ninja} -C ${build} -t commands ringlet_product
    OUTPUT_VARIABLE made COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" " " made "${made}")
  set(built)
  file(GLOB_RECURSE scripts ${build}/cmake_install.cmake)
  foreach(script IN LISTS scripts)
    file(READ ${script} text)
    string(REGEX MATCHALL "\"${build}/(bin|lib|compat)/[^\"]*\"" copied "${text}")
    list(APPEND built ${copied})
  endforeach()
  list(REMOVE_DUPLICATES built)
  list(LENGTH built count)
  if(count LESS 3)
    message(SEND_ERROR "the installation copies too little of what is built: ${built}")
  endif()
  foreach(file IN LISTS built)
    string(REGEX REPLACE "\"${build}/(.*)\"" "\\1" file ${file})
    string(FIND "${made}" " ${file} " at)
    if(at LESS 0)
      message(SEND_ERROR "./ringlet.sh build does not make ${file}, which is installed")
    endif()
  endforeach()
endif()
