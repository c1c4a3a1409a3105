# With RINGLET_GLIBC, a folder of tools/old_glibc.py: what this build links runs on the glibc and libstdc++
# for which the folder was made, and contains fmt, libsodium, pugixml and Highway. The compiler, the headers and
# so the objects are those of other builds (docs/decisions/0152).
if(NOT EXISTS ${RINGLET_GLIBC}/libc.so)
  message(FATAL_ERROR "RINGLET_GLIBC=${RINGLET_GLIBC} has no libc.so. "
    "`tools/old_glibc.py VERSION PROCESSOR FOLDER` makes such a folder.")
endif()
# A library's symbols stay in the file that contains it. The libgcc_s.so.1 of this machine may need a newer glibc.
add_link_options(-B${RINGLET_GLIBC} -L${RINGLET_GLIBC} -Wl,--exclude-libs,ALL -Wl,--allow-shlib-undefined)
# The stubs are for the linker, so no RPATH names their folder.
list(APPEND CMAKE_C_IMPLICIT_LINK_DIRECTORIES ${RINGLET_GLIBC})
list(APPEND CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES ${RINGLET_GLIBC})

# Replaces the shared library of an imported target by lib<NAME>.a.
function(ringlet_link_archive target name)
  find_library(RINGLET_ARCHIVE_${name} lib${name}.a PATHS ${RINGLET_GLIBC}
    NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
  find_library(RINGLET_ARCHIVE_${name} lib${name}.a REQUIRED)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES ${RINGLET_ARCHIVE_${name}})
    return()
  endif()
  get_target_property(configurations ${target} IMPORTED_CONFIGURATIONS)
  foreach(configuration IN LISTS configurations)
    set_target_properties(${target} PROPERTIES
      IMPORTED_LOCATION_${configuration} ${RINGLET_ARCHIVE_${name}})
  endforeach()
endfunction()
find_package(pugixml REQUIRED)
ringlet_link_archive(fmt::fmt fmt)
ringlet_link_archive(PkgConfig::sodium sodium)
ringlet_link_archive(PkgConfig::hwy hwy)
ringlet_link_archive(pugixml::pugixml pugixml)
