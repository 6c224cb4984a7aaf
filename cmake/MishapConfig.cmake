# find_package(Mishap) gives the target Mishap::mishap, with all flags that mishap.pc has: those for a stack that can be
# read are among them. Mishap_CATALOG is the generator of tables of codes.
find_package(PkgConfig QUIET)
if(NOT PkgConfig_FOUND)
  set(Mishap_FOUND FALSE)
  set(Mishap_NOT_FOUND_MESSAGE "pkg-config is needed to find what Mishap is linked with")
  return()
endif()

# The mishap.pc beside this file, and no other.
set(_mishap_path "$ENV{PKG_CONFIG_PATH}")
set(ENV{PKG_CONFIG_PATH} "${CMAKE_CURRENT_LIST_DIR}/../../pkgconfig:${_mishap_path}")
pkg_check_modules(_MISHAP QUIET IMPORTED_TARGET mishap)
pkg_get_variable(Mishap_CATALOG mishap catalog)
set(ENV{PKG_CONFIG_PATH} "${_mishap_path}")

if(NOT _MISHAP_FOUND)
  set(Mishap_FOUND FALSE)
  set(Mishap_NOT_FOUND_MESSAGE "pkg-config does not find what Mishap is linked with: libpcre2-8, libuv, libmd")
elseif(NOT TARGET Mishap::mishap)
  add_library(Mishap::mishap INTERFACE IMPORTED)
  set_target_properties(Mishap::mishap PROPERTIES INTERFACE_LINK_LIBRARIES PkgConfig::_MISHAP)
endif()
