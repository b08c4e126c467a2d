# What the programs say of themselves, as files: manual pages and shell completion. They are made by running the programs, in
# the target mc_share, which is part of `all` and not of `programs`: who only wants to run them does not wait for it. A build
# with sanitizers makes none.
#
#   mc_share(PROGRAM FILE COMMAND... [DEPENDS file...])
#       build/share/FILE is what COMMAND prints; it is made again when the program or one of the files changed, and installed.
#   mc_man_page(PROGRAM)
#       The page of PROGRAM.8.in or PROGRAM.1.in, one of which must lie beside the CMakeLists.txt; man_page.awk fills it.
include_guard(GLOBAL)

include(GNUInstallDirs)

set(MC_SHARE_DIR "${CMAKE_BINARY_DIR}/share")
# As in the page of any package: when it was made. SOURCE_DATE_EPOCH is heeded.
string(TIMESTAMP MC_TODAY "%Y-%m-%d" UTC)
add_custom_target(mc_share ALL)

function(mc_share program file)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "COMMAND;DEPENDS")
  if(MC_SANITIZE)
    return()
  endif()
  set(output "${MC_SHARE_DIR}/${file}")
  cmake_path(GET file PARENT_PATH folder)
  file(MAKE_DIRECTORY "${MC_SHARE_DIR}/${folder}")
  add_custom_command(OUTPUT "${output}" COMMAND ${arg_COMMAND} > "${output}" DEPENDS ${program} ${arg_DEPENDS}
                     COMMENT "Writing share/${file}" VERBATIM)
  string(MAKE_C_IDENTIFIER "mc_share_${file}" target)
  add_custom_target(${target} DEPENDS "${output}")
  add_dependencies(mc_share ${target})
  install(FILES "${output}" DESTINATION "${CMAKE_INSTALL_DATADIR}/${folder}" COMPONENT programs)
endfunction()

function(mc_man_page program)
  foreach(section 1 8)
    set(frame "${CMAKE_CURRENT_SOURCE_DIR}/${program}.${section}.in")
    if(EXISTS "${frame}")
      set(script "${PROJECT_SOURCE_DIR}/tools/cmake/man_page.awk")
      mc_share(${program} "man/man${section}/${program}.${section}"
               COMMAND awk -v "program=$<TARGET_FILE:${program}>" -v name=${program} -v section=${section}
                       -v version=${PROJECT_VERSION} -v date=${MC_TODAY} -f "${script}" "${frame}"
               DEPENDS "${frame}" "${script}")
      return()
    endif()
  endforeach()
  message(SEND_ERROR "${program} is installed, so it needs a manual page: ${program}.8.in or ${program}.1.in beside this file.")
endfunction()
