# Installs the build tree `build` to a fresh `prefix` and looks at what lies where.
file(REMOVE_RECURSE ${prefix})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${build} --prefix ${prefix}
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)

foreach(path IN ITEMS
    bin/ringlet
    include/ringlet/communicator.hpp
    include/ringlet/status.hpp
    include/ringlet/compat/nccl.h
    ${libdir}/libringlet.so
    ${libdir}/libringlet.so.0
    ${libdir}/ringlet/compat/libnccl.so.2
    ${libdir}/pkgconfig/ringlet.pc
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

# What the library shows: the C functions and namespace ringlet, and nothing of anybody else's.
execute_process(COMMAND nm -D --defined-only ${prefix}/${libdir}/libringlet.so.0
  OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" symbols "${symbols}")
foreach(symbol IN LISTS symbols)
  if(NOT symbol MATCHES " (p?nccl[A-Z][A-Za-z]*|_ZN?K?T?[ISV]?N?K?7ringlet.*)$")
    message(SEND_ERROR "exported by mistake: ${symbol}")
  endif()
endforeach()
