# libmooncake_client: the native API as one shared library, with CMake package files (MooncakeClient) and pkg-config
# (mooncake_client). Everything here is in the install component `client`:
#
#   cmake --install build --component client --prefix /usr/local
#
#   mc_client_package()   called by client/CMakeLists.txt; does its work once all targets are known
include_guard(GLOBAL)

function(mc_client_package)
  cmake_language(DEFER DIRECTORY "${PROJECT_SOURCE_DIR}" CALL _mc_define_client_package)
endfunction()

# Our own libraries that `target` is built from, itself included.
function(_mc_closure target out)
  get_property(edges GLOBAL PROPERTY MC_EDGES)
  set(found "${target}")
  set(todo "${target}")
  while(todo)
    list(POP_FRONT todo next)
    foreach(edge ${edges})
      if(edge MATCHES "^${next}>(mc_[a-z0-9_]+)$" AND NOT CMAKE_MATCH_1 IN_LIST found)
        list(APPEND found "${CMAKE_MATCH_1}")
        list(APPEND todo "${CMAKE_MATCH_1}")
      endif()
    endforeach()
  endwhile()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# Our own headers that `header` includes, directly or not, itself included; paths from the root of the repository.
function(_mc_header_closure header out)
  set(found "${header}")
  set(todo "${header}")
  while(todo)
    list(POP_FRONT todo next)
    set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${next}")
    file(STRINGS "${PROJECT_SOURCE_DIR}/${next}" lines REGEX "^#include \"")
    foreach(line ${lines})
      string(REGEX REPLACE "^#include \"([^\"]+)\".*" "\\1" included "${line}")
      if(NOT included IN_LIST found)
        list(APPEND found "${included}")
        list(APPEND todo "${included}")
      endif()
    endforeach()
  endwhile()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

function(_mc_define_client_package)
  # The objects of the static libraries themselves: linking the archives in whole trips over those that are named twice.
  _mc_closure(mc_client parts)
  set(objects)
  set(third_party)
  foreach(part ${parts})
    get_target_property(type ${part} TYPE)
    if(type STREQUAL "STATIC_LIBRARY")
      list(APPEND objects "$<TARGET_OBJECTS:${part}>")
      get_target_property(links ${part} LINK_LIBRARIES)
      list(FILTER links INCLUDE REGEX "^mc::")
      list(APPEND third_party ${links})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES third_party)
  add_library(mooncake_client SHARED ${objects})
  set_target_properties(mooncake_client PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(mooncake_client PRIVATE ${third_party})
  add_library(Mooncake::client ALIAS mooncake_client)
  target_compile_features(mooncake_client INTERFACE cxx_std_20)
  target_include_directories(mooncake_client INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/mooncake>")
  set_target_properties(mooncake_client PROPERTIES
                        EXPORT_NAME client
                        VERSION "${PROJECT_VERSION}"
                        # Until 1.0 every minor version may change the API.
                        SOVERSION "${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}"
                        LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")

  install(TARGETS mooncake_client EXPORT MooncakeClientTargets COMPONENT client
          LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT client NAMELINK_COMPONENT client)
  _mc_header_closure("client/store_client.h" headers)
  foreach(header ${headers} "master/api/master_api.h")
    cmake_path(GET header PARENT_PATH folder)
    install(FILES "${PROJECT_SOURCE_DIR}/${header}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/mooncake/${folder}"
            COMPONENT client)
  endforeach()
  _mc_install_client_files()
endfunction()

function(_mc_install_client_files)
  include(CMakePackageConfigHelpers)
  set(destination "${CMAKE_INSTALL_LIBDIR}/cmake/MooncakeClient")
  install(EXPORT MooncakeClientTargets NAMESPACE Mooncake:: DESTINATION "${destination}" COMPONENT client)
  configure_package_config_file("${PROJECT_SOURCE_DIR}/tools/cmake/MooncakeClientConfig.cmake.in"
                                "${CMAKE_BINARY_DIR}/MooncakeClientConfig.cmake" INSTALL_DESTINATION "${destination}")
  write_basic_package_version_file("${CMAKE_BINARY_DIR}/MooncakeClientConfigVersion.cmake"
                                   COMPATIBILITY SameMinorVersion)
  install(FILES "${CMAKE_BINARY_DIR}/MooncakeClientConfig.cmake" "${CMAKE_BINARY_DIR}/MooncakeClientConfigVersion.cmake"
          DESTINATION "${destination}" COMPONENT client)

  # The .pc file finds its neighbours from where it lies, so that the folder may be moved.
  cmake_path(SET libdir "/${CMAKE_INSTALL_LIBDIR}/pkgconfig")
  cmake_path(RELATIVE_PATH libdir BASE_DIRECTORY "/" OUTPUT_VARIABLE depth)
  string(REGEX REPLACE "[^/]+" ".." up "${depth}")
  set(MC_PC_INCLUDEDIR "\${pcfiledir}/${up}/${CMAKE_INSTALL_INCLUDEDIR}/mooncake")
  configure_file("${PROJECT_SOURCE_DIR}/tools/cmake/mooncake_client.pc.in" "${CMAKE_BINARY_DIR}/mooncake_client.pc" @ONLY)
  install(FILES "${CMAKE_BINARY_DIR}/mooncake_client.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT client)
endfunction()
