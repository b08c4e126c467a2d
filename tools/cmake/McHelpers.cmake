# The vocabulary of our CMakeLists files. Paths of sources are relative to the calling CMakeLists.txt. DEPS may name targets
# that are defined later. Third-party names are those of McDependencies.cmake.
#
#   mc_add_subdirectories(folder...)
#       Adds each folder that has a CMakeLists.txt, so that parts can arrive one by one.
#
#   mc_library(NAME [SOURCES x.cc ...] [HEADERS y.h ...] [PRIVATE_HEADERS z.h ...] [DEPS ...] [PRIVATE_DEPS ...]
#              [NO_INSTALL])
#       Static library, or INTERFACE when there are no sources. The header beside each source (x.h for x.cc) is taken by
#       itself; HEADERS names the others. Headers are checked to compile alone with what DEPS gives (option
#       MC_VERIFY_HEADERS), and installed. A header that needs a private dependency goes to PRIVATE_HEADERS.
#       Libraries outside tests/ and tools/ are part of the installed CMake package unless NO_INSTALL.
#
#   mc_binary(NAME SOURCES ... [DEPS ...] [NO_INSTALL])
#       Program build/bin/NAME; built by the target `programs` as well as by `all`. Unless NO_INSTALL it is installed, as the
#       component `programs`, and needs the frame of a manual page beside it: NAME.8.in or NAME.1.in (McShare.cmake).
#
#   mc_test(NAME SOURCES a_test.cc ... [DEPS ...] [LABELS unit|property|conformance|integration|stress|...]
#           [TIMEOUT seconds] [OWN_MAIN] [IN_VM] [PROPERTIES name value ...])
#       One GoogleTest program, build/tests/NAME; each case is a ctest named NAME/Suite.Case (under a sanitizer, the whole
#       program is one ctest). Defaults: LABELS unit, TIMEOUT 60.
#       OWN_MAIN: the sources bring main(). IN_VM: needs RDMA devices (no test without MC_WITH_RDMA); the whole program is one
#       ctest, NAME, in the virtual machine of tests/integration/rdma/vm. Programs under test are found through the environment
#       variable MC_BIN_DIR (folder of the built programs), files of the tree through MC_SOURCE_DIR.
#       Labels unit, property and conformance are built by the target mc_sanitizer_tests (plus mc_fuzz replays), label stress by
#       mc_stress_tests: what CI builds under ASan and TSan.
#
#   mc_thrift_library(NAME IDL a.thrift ... [DEPS other thrift libraries])
#       Static library of the generated C++. For IDL in P/api/idl or P/api, files go to build/gen/P/api/gen-cpp, so that
#           #include "master/api/gen-cpp/MasterService.h"     and     #include "master/api/gen-cpp/master_types.h"
#       work in whoever links NAME. IDL files include each other by path from the repository root
#       (include "master/api/idl/common.thrift") or from beside them (include "common.thrift").
#       Compiled once, as one source, without our warnings. The target mc_generated generates all and compiles nothing.
#
#   mc_bench(NAME SOURCES ... [DEPS ...] [ARGS ...] [TIMEOUT seconds])
#       Google Benchmark program build/bench/NAME; also a ctest (label bench) with a tiny run, MC_BENCH_TINY=1 in the
#       environment, so that it cannot rot.
#
#   mc_fuzz(NAME SOURCES x_fuzz.cc [DEPS ...] [CORPUS folder])
#       The sources define LLVMFuzzerTestOneInput. Preset fuzz: a libFuzzer program build/fuzz/NAME, ctest runs it for some
#       seconds. Every other preset: a program that replays the corpus folder (default corpus/NAME) as a ctest, label fuzz.
#
#   mc_finish()
#       Called once, last, by the root: reports test sources that nothing names (an error unless MC_STRICT=OFF), and
#       dependencies that do not exist (a warning).
include_guard(GLOBAL)

include(GNUInstallDirs)
include(GoogleTest)
include(McShare)

set(MC_TEST_DIR "${CMAKE_BINARY_DIR}/tests")
set(MC_GEN_DIR "${CMAKE_BINARY_DIR}/gen")
set(MC_HELPERS_DIR "${CMAKE_CURRENT_LIST_DIR}")

add_custom_target(programs)
add_custom_target(mc_generated)
add_custom_target(mc_sanitizer_tests)
add_custom_target(mc_stress_tests)

macro(mc_add_subdirectories)
  foreach(_mc_folder ${ARGN})
    if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${_mc_folder}/CMakeLists.txt")
      add_subdirectory(${_mc_folder})
    endif()
  endforeach()
endmacro()

function(_mc_check_arguments prefix function)
  if(${prefix}_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${function}: unknown arguments: ${${prefix}_UNPARSED_ARGUMENTS}")
  endif()
endfunction()

# Include path, warnings and dependencies of one of our own targets.
function(_mc_own_code target)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${MC_WARNING_FLAGS}>")
  target_compile_definitions(${target} PRIVATE MC_WITH_RDMA=$<BOOL:${MC_WITH_RDMA}>)
endfunction()

function(_mc_record_deps target)
  foreach(dep ${ARGN})
    set_property(GLOBAL APPEND PROPERTY MC_EDGES "${target}>${dep}")
  endforeach()
endfunction()

function(mc_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "NO_INSTALL" "" "SOURCES;HEADERS;PRIVATE_HEADERS;DEPS;PRIVATE_DEPS")
  _mc_check_arguments(arg "mc_library(${name})")

  set(headers ${arg_HEADERS})
  foreach(source ${arg_SOURCES})
    string(REGEX REPLACE "\\.(cc|c)$" ".h" header "${source}")
    if(NOT header IN_LIST arg_PRIVATE_HEADERS AND EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${header}")
      list(APPEND headers "${header}")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES headers)

  if(arg_SOURCES)
    add_library(${name} STATIC ${arg_SOURCES} ${arg_PRIVATE_HEADERS})
    set(scope PUBLIC)
    _mc_own_code(${name})
    target_link_libraries(${name} PRIVATE ${arg_PRIVATE_DEPS})
  else()
    add_library(${name} INTERFACE)
    set(scope INTERFACE)
    if(arg_PRIVATE_DEPS)
      message(FATAL_ERROR "mc_library(${name}): PRIVATE_DEPS without SOURCES.")
    endif()
  endif()
  target_link_libraries(${name} ${scope} ${arg_DEPS})
  _mc_record_deps(${name} ${arg_DEPS} ${arg_PRIVATE_DEPS})
  target_include_directories(${name} ${scope} "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>")
  target_compile_features(${name} ${scope} cxx_std_20)
  if(headers)
    list(TRANSFORM headers PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/" REGEX "^[^/]")
    target_sources(${name} ${scope} FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${headers})
  endif()

  _mc_install_library(${name} "${arg_NO_INSTALL}" "${headers}")
endfunction()

function(_mc_install_library name no_install headers)
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE folder)
  if(no_install OR folder MATCHES "^(tests|tools)(/|$)")
    return()
  endif()
  set(file_set)
  if(headers)
    set(file_set FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/mooncake")
  endif()
  install(TARGETS ${name} EXPORT mooncakeTargets
          ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
          INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/mooncake"
          ${file_set})
  set_property(GLOBAL PROPERTY MC_HAS_EXPORT TRUE)
endfunction()

function(mc_binary name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "NO_INSTALL" "" "SOURCES;DEPS")
  _mc_check_arguments(arg "mc_binary(${name})")
  add_executable(${name} ${arg_SOURCES})
  _mc_own_code(${name})
  target_link_libraries(${name} PRIVATE ${arg_DEPS})
  _mc_record_deps(${name} ${arg_DEPS})
  add_dependencies(programs ${name})
  if(NOT arg_NO_INSTALL)
    install(TARGETS ${name} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT programs)
    mc_man_page(${name})
  endif()
endfunction()

function(_mc_record_tests)
  foreach(source ${ARGN})
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
    set_property(GLOBAL APPEND PROPERTY MC_TEST_SOURCES "${source}")
  endforeach()
endfunction()

function(mc_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "OWN_MAIN;IN_VM" "TIMEOUT" "SOURCES;DEPS;LABELS;PROPERTIES")
  _mc_check_arguments(arg "mc_test(${name})")
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 60)
  endif()
  _mc_record_tests(${arg_SOURCES})
  if(arg_IN_VM AND NOT MC_WITH_RDMA)
    return()
  endif()

  add_executable(${name} ${arg_SOURCES})
  _mc_own_code(${name})
  target_link_libraries(${name} PRIVATE ${arg_DEPS} mc::gtest)
  if(NOT arg_OWN_MAIN)
    target_link_libraries(${name} PRIVATE mc::gtest_main)
  endif()
  _mc_record_deps(${name} ${arg_DEPS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${MC_TEST_DIR}")
  # What a test drives is optimised as the preset says. The test's own sources compile in half the time without; those of these
  # two kinds work hard themselves.
  if(NOT arg_LABELS MATCHES "property|stress")
    target_compile_options(${name} PRIVATE -O0)
  endif()

  foreach(label unit property conformance)
    if(label IN_LIST arg_LABELS)
      add_dependencies(mc_sanitizer_tests ${name})
      break()
    endif()
  endforeach()
  if("stress" IN_LIST arg_LABELS)
    add_dependencies(mc_stress_tests ${name})
  endif()

  set(properties TIMEOUT ${arg_TIMEOUT} ${arg_PROPERTIES})
  set(environment "MC_BIN_DIR=${CMAKE_RUNTIME_OUTPUT_DIRECTORY}" "MC_SOURCE_DIR=${PROJECT_SOURCE_DIR}")
  if(arg_IN_VM)
    # The machine ends before ctest would cut it. A program that ran no case has not passed.
    math(EXPR seconds "${arg_TIMEOUT} - 20")
    add_test(NAME ${name}
             COMMAND "${PROJECT_SOURCE_DIR}/tests/integration/rdma/vm/run.sh" --timeout ${seconds}
                     --expect "\\[  PASSED  \\] [1-9]" -- "${MC_TEST_DIR}/${name}" --gtest_color=no)
    set_tests_properties(${name} PROPERTIES ${properties} LABELS "${arg_LABELS}" COST 60 ENVIRONMENT "${environment}")
    return()
  endif()
  if(MC_SANITIZE)
    # A process under a sanitizer takes a tenth of a second to start: one for the whole program, not one a case.
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES ${properties} TIMEOUT 600 LABELS "${arg_LABELS}" ENVIRONMENT "${environment}")
    return()
  endif()
  # Values of parametrised tests stay out of the names: they may be long, unprintable or differ from run to run.
  gtest_discover_tests(${name}
                       TEST_PREFIX "${name}/"
                       TEST_LIST ${name}_TESTS
                       NO_PRETTY_VALUES
                       DISCOVERY_MODE PRE_TEST
                       DISCOVERY_TIMEOUT 60
                       PROPERTIES ${properties})
  # Properties that are lists don't survive gtest_discover_tests, so ctest sets them from a file of ours after discovery.
  set(include "${CMAKE_CURRENT_BINARY_DIR}/${name}_properties.cmake")
  file(CONFIGURE OUTPUT "${include}" @ONLY CONTENT
[=[if(@name@_TESTS)
  set_tests_properties(${@name@_TESTS} PROPERTIES
    LABELS "@arg_LABELS@"
    ENVIRONMENT "@environment@")
endif()
]=])
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${include}")
endfunction()

function(mc_bench name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "SOURCES;DEPS;ARGS")
  _mc_check_arguments(arg "mc_bench(${name})")
  if(NOT MC_BUILD_TESTS)
    return()
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  add_executable(${name} ${arg_SOURCES})
  _mc_own_code(${name})
  target_link_libraries(${name} PRIVATE ${arg_DEPS} mc::benchmark)
  _mc_record_deps(${name} ${arg_DEPS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bench")
  add_test(NAME ${name} COMMAND ${name} --benchmark_min_time=0.001 ${arg_ARGS})
  set_tests_properties(${name} PROPERTIES LABELS bench TIMEOUT ${arg_TIMEOUT}
                       ENVIRONMENT "MC_BENCH_TINY=1;MC_BIN_DIR=${CMAKE_RUNTIME_OUTPUT_DIRECTORY};MC_SOURCE_DIR=${PROJECT_SOURCE_DIR}")
endfunction()

function(mc_fuzz name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "CORPUS" "SOURCES;DEPS")
  _mc_check_arguments(arg "mc_fuzz(${name})")
  if(NOT arg_CORPUS)
    set(arg_CORPUS "corpus/${name}")
  endif()
  cmake_path(ABSOLUTE_PATH arg_CORPUS BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
  if(NOT IS_DIRECTORY "${arg_CORPUS}")
    message(FATAL_ERROR "mc_fuzz(${name}): there is no corpus folder ${arg_CORPUS}.")
  endif()
  add_executable(${name} ${arg_SOURCES})
  _mc_own_code(${name})
  target_link_libraries(${name} PRIVATE ${arg_DEPS})
  _mc_record_deps(${name} ${arg_DEPS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/fuzz")
  if(MC_FUZZ)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    # New inputs go to the build tree; the corpus in the repository only grows by hand.
    set(found "${CMAKE_BINARY_DIR}/fuzz/found/${name}")
    file(MAKE_DIRECTORY "${found}")
    add_test(NAME ${name} COMMAND ${name} -max_total_time=10 -rss_limit_mb=2048 "${found}" "${arg_CORPUS}")
  else()
    target_sources(${name} PRIVATE "${MC_HELPERS_DIR}/fuzz_replay_main.cc")
    add_dependencies(mc_sanitizer_tests ${name})
    add_test(NAME ${name} COMMAND ${name} "${arg_CORPUS}")
  endif()
  set_tests_properties(${name} PROPERTIES LABELS fuzz TIMEOUT 120)
endfunction()

# The files that the compiler makes of one IDL file: names of the .cpp files, in `out`.
function(_mc_thrift_outputs idl out)
  file(READ "${idl}" text)
  string(REGEX REPLACE "/\\*([^*]|\\*+[^*/])*\\*+/" "" text "${text}")
  string(REGEX REPLACE "(//|#)[^\n]*" "" text "${text}")
  cmake_path(GET idl STEM stem)
  set(names "${stem}_types")
  if(text MATCHES "(^|\n)[ \t]*const[ \t]")
    list(APPEND names "${stem}_constants")
  endif()
  string(REGEX MATCHALL "(^|\n)[ \t]*service[ \t]+[A-Za-z0-9_]+" services "${text}")
  foreach(service ${services})
    string(REGEX REPLACE ".*service[ \t]+" "" service "${service}")
    list(APPEND names "${service}")
  endforeach()
  set(${out} ${names} PARENT_SCOPE)
endfunction()

function(mc_thrift_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "IDL;DEPS")
  _mc_check_arguments(arg "mc_thrift_library(${name})")
  find_program(MC_THRIFT_COMPILER thrift)
  if(NOT MC_THRIFT_COMPILER)
    message(FATAL_ERROR "The Thrift compiler was not found: install the Debian package thrift-compiler.")
  endif()

  set(unity "${CMAKE_CURRENT_BINARY_DIR}/${name}_all.cc")
  set(unity_text "// Generated: all that the Thrift compiler made for ${name}, compiled once.\n")
  set(generated)
  set(folders)
  foreach(idl ${arg_IDL})
    cmake_path(ABSOLUTE_PATH idl BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
    # A new service in the file means new outputs.
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${idl}")
    cmake_path(GET idl PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
    string(REGEX REPLACE "/idl$" "" folder "${folder}")
    set(out_dir "${MC_GEN_DIR}/${folder}")
    file(MAKE_DIRECTORY "${out_dir}/gen-cpp")
    list(APPEND folders "${out_dir}/gen-cpp")

    _mc_thrift_outputs("${idl}" names)
    set(outputs)
    foreach(output ${names})
      list(APPEND outputs "${out_dir}/gen-cpp/${output}.cpp" "${out_dir}/gen-cpp/${output}.h")
      string(APPEND unity_text "#include \"${folder}/gen-cpp/${output}.cpp\"\n")
    endforeach()
    # Included IDL decides what is generated, so any change to one of ours regenerates all of a library.
    add_custom_command(
      OUTPUT ${outputs}
      COMMAND "${MC_THRIFT_COMPILER}" --gen cpp:no_skeleton,moveable_types -I "${PROJECT_SOURCE_DIR}" -o "${out_dir}" "${idl}"
      DEPENDS ${arg_IDL}
      COMMENT "Generating C++ of ${folder}: ${idl}"
      VERBATIM)
    list(APPEND generated ${outputs})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  file(CONFIGURE OUTPUT "${unity}" CONTENT "${unity_text}" @ONLY)

  set_source_files_properties("${unity}" PROPERTIES OBJECT_DEPENDS "${generated}")
  set(sources ${generated})
  list(FILTER sources EXCLUDE REGEX "\\.h$")
  set_source_files_properties(${sources} PROPERTIES HEADER_FILE_ONLY TRUE)
  add_library(${name} STATIC "${unity}" ${generated})
  add_custom_target(${name}_generated DEPENDS ${generated})
  add_dependencies(${name} ${name}_generated)
  add_dependencies(mc_generated ${name}_generated)
  target_compile_options(${name} PRIVATE -w)
  target_compile_features(${name} PUBLIC cxx_std_20)
  # The generated files include their neighbours by bare name.
  foreach(folder "${MC_GEN_DIR}" ${folders})
    target_include_directories(${name} SYSTEM PUBLIC "$<BUILD_INTERFACE:${folder}>")
  endforeach()
  target_link_libraries(${name} PUBLIC mc::thrift ${arg_DEPS})
  _mc_record_deps(${name} ${arg_DEPS})
  _mc_install_library(${name} FALSE "")
endfunction()

function(mc_finish)
  if(MC_BUILD_TESTS)
    file(GLOB_RECURSE present "${PROJECT_SOURCE_DIR}/tests/*_test.cc")
    get_property(recorded GLOBAL PROPERTY MC_TEST_SOURCES)
    # A file that git does not know yet may be someone's work of this minute in the same tree; the next commit makes it an error.
    execute_process(COMMAND git ls-files --others --exclude-standard -- tests
                    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE untracked ERROR_QUIET)
    string(REPLACE "\n" ";" untracked "${untracked}")
    list(TRANSFORM untracked PREPEND "${PROJECT_SOURCE_DIR}/")
    foreach(source ${present})
      if(NOT source IN_LIST recorded)
        set(kind WARNING)
        if(MC_STRICT AND NOT source IN_LIST untracked)
          set(kind SEND_ERROR)
        endif()
        message(${kind} "${source} is in no mc_test(): it would never run. Name it in a CMakeLists.txt.")
      endif()
    endforeach()
  endif()

  get_property(edges GLOBAL PROPERTY MC_EDGES)
  foreach(edge ${edges})
    string(REGEX MATCH "^([^>]+)>(mc_[a-z0-9_]+)$" matched "${edge}")
    if(matched AND NOT TARGET ${CMAKE_MATCH_2})
      message(WARNING "${CMAKE_MATCH_1} depends on ${CMAKE_MATCH_2}, which no CMakeLists.txt defines: it will not link.")
    endif()
  endforeach()

  get_property(has_export GLOBAL PROPERTY MC_HAS_EXPORT)
  if(has_export)
    _mc_install_package()
  endif()
endfunction()

# The CMake package: find_package(mooncake) gives mooncake::mc_… targets.
function(_mc_install_package)
  include(CMakePackageConfigHelpers)
  set(destination "${CMAKE_INSTALL_LIBDIR}/cmake/mooncake")
  install(EXPORT mooncakeTargets NAMESPACE mooncake:: DESTINATION "${destination}")
  configure_package_config_file("${MC_HELPERS_DIR}/mooncakeConfig.cmake.in" "${CMAKE_BINARY_DIR}/mooncakeConfig.cmake"
                                INSTALL_DESTINATION "${destination}")
  write_basic_package_version_file("${CMAKE_BINARY_DIR}/mooncakeConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
  install(FILES "${CMAKE_BINARY_DIR}/mooncakeConfig.cmake" "${CMAKE_BINARY_DIR}/mooncakeConfigVersion.cmake"
                "${MC_HELPERS_DIR}/McDependencies.cmake"
          DESTINATION "${destination}")
endfunction()
