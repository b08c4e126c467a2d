# Language level, warnings, linker, compiler cache and sanitizers: everything that decides how our own code is compiled.
# Warnings are collected in MC_WARNING_FLAGS and put on our targets only (McHelpers.cmake), never on generated code.

option(MC_BUILD_TESTS "Build tests and benches" ON)
option(MC_STRICT "A test source that no mc_test() names is a configure error" ON)
option(MC_VERIFY_HEADERS "Add the target that compiles each header alone" OFF)
option(MC_THREAD_SAFETY "Clang's lock analysis, as errors" OFF)
option(MC_FUZZ "Link mc_fuzz() targets with libFuzzer instead of the corpus replay" OFF)
set(MC_SANITIZE "" CACHE STRING "Value of -fsanitize= for all our code: address,undefined or thread")
option(MC_UNITY "Compile several sources of a target at once: twice as fast from scratch" OFF)
set(MC_WITH_RDMA "AUTO" CACHE STRING "Build the RDMA transport: ON, OFF, or AUTO for when verbs are installed")
set_property(CACHE MC_WITH_RDMA PROPERTY STRINGS AUTO ON OFF)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_VERIFY_INTERFACE_HEADER_SETS ${MC_VERIFY_HEADERS})
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Kind of build" FORCE)
endif()
# Line tables are enough for stack traces, and halve link time and object size.
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG")

set(MC_WARNING_FLAGS
    -Wall -Wextra -Werror
    -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-align -Wformat=2 -Wimplicit-fallthrough
    -Wunused-result -Wextra-semi -Wvla
    # Designated initialisers leave the rest at its default on purpose.
    -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # -Wrestrict: false positives on std::string concatenation in GCC 12 (GCC bug 105329).
  list(APPEND MC_WARNING_FLAGS -Wduplicated-cond -Wlogical-op -Wsuggest-override -Wno-restrict
       -Wno-maybe-uninitialized)
  if(MC_SANITIZE)
    # Instrumentation hides the flow these two look at, and the fence is understood by none.
    list(APPEND MC_WARNING_FLAGS -Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-tsan)
  endif()
else()
  list(APPEND MC_WARNING_FLAGS -Winconsistent-missing-override -Wno-unknown-warning-option)
endif()
if(MC_THREAD_SAFETY)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "MC_THREAD_SAFETY needs clang; use the preset `analyze`.")
  endif()
  list(APPEND MC_WARNING_FLAGS -Wthread-safety)
endif()

if(MC_SANITIZE)
  add_compile_options(-fsanitize=${MC_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${MC_SANITIZE})
  if(MC_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()
if(MC_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "MC_FUZZ needs clang; use the preset `fuzz`.")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# The presets that CI builds from nothing. The others compile each source alone, which finds what it forgot to include.
set(CMAKE_UNITY_BUILD ${MC_UNITY})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 12)
if(MC_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Meant for headers; in one source among several it is no fault.
  list(APPEND MC_WARNING_FLAGS -Wno-subobject-linkage)
endif()

find_program(MC_CCACHE ccache)
if(MC_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER "${MC_CCACHE}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${MC_CCACHE}")
endif()

find_program(MC_LLD ld.lld)
if(MC_LLD)
  add_link_options(-fuse-ld=lld)
endif()
add_link_options(-Wl,--as-needed)
