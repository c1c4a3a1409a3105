# Three Debian packages, made with `./ringlet.sh package`: libringlet0, libringlet-dev and ringlet.
# What they depend on is read from the libraries they need, by dpkg-shlibdeps.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ringlet)
# Who made them, as Debian's own tools find it.
if(DEFINED ENV{DEBEMAIL})
  set(CPACK_PACKAGE_CONTACT "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
else()
  cmake_host_system_information(RESULT package_host QUERY HOSTNAME)
  set(CPACK_PACKAGE_CONTACT "Ringlet, made on this host <root@${package_host}>")
endif()
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)

# Without `python`, which pip installs.
set(CPACK_COMPONENTS_ALL runtime development)
if(TARGET ringlet)
  list(APPEND CPACK_COMPONENTS_ALL tool)
endif()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# libnccl.so.2 needs libringlet.so.0, which lies in the same package; the libraries of `ringlet emulate` need
# each other.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS
  ${PROJECT_BINARY_DIR}/lib ${PROJECT_BINARY_DIR}/emulate)
set(package_version ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libringlet0)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION
  "The libraries that programs load: libringlet.so.0, and libringlet_topo.so.0 for topologies of hosts.
In ringlet/compat, where no loader looks by
itself, a libnccl.so.2 for programs that are linked with NCCL's library.")
# Not CPack's own list, which would have every program that needs a libnccl.so.2 depend on us.
file(CONFIGURE OUTPUT debian/shlibs
  CONTENT "libringlet 0 libringlet0 (>= ${PROJECT_VERSION})\nlibringlet_topo 0 libringlet0 (>= ${PROJECT_VERSION})\n" @ONLY)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_BINARY_DIR}/debian/shlibs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS libfabric1)

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libringlet-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libringlet0 (= ${package_version})")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
  "Headers for C and C++, nccl.h among them, with files for pkg-config (ringlet, ringlet-nccl) and for
CMake: find_package(ringlet).")

set(CPACK_DEBIAN_TOOL_PACKAGE_NAME ringlet)
set(CPACK_DEBIAN_TOOL_PACKAGE_SECTION utils)
set(CPACK_COMPONENT_TOOL_DESCRIPTION
  "The command ringlet: it measures collectives, starts ranks on this machine, reads and draws NCCL's
topology files, plans channels and explains them.")

foreach(component runtime development tool)
  string(TOUPPER ${component} upper)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE RENAME copyright COMPONENT ${component} EXCLUDE_FROM_ALL
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  install(FILES ${PROJECT_SOURCE_DIR}/NOTICE COMPONENT ${component} EXCLUDE_FROM_ALL
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
endforeach()
include(CPack)
