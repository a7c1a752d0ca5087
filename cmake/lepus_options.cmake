# How lepus is built: C++20, warnings, results that do not depend on how the compiler contracts a*b+c.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_CUDA_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, RelWithDebInfo or Debug" FORCE)
endif()

option(LEPUS_BUILD_TESTS "Build the tests (needs GoogleTest)" ON)
option(LEPUS_BUILD_BENCHMARKS "Build the benchmarks" ON)
option(LEPUS_WARNINGS_AS_ERRORS "Treat warnings as errors (CI does: another compiler warns of other things)" OFF)
# For a build from nothing: half the time. For work on the code leave it off, a change costs less then.
option(LEPUS_UNITY "Compile many files of a room at a time" OFF)
set(LEPUS_SANITIZE "" CACHE STRING "Sanitizers to build with, for example address,undefined")
set(LEPUS_SANITIZE_NOT "" CACHE STRING "Checks of these sanitizers that are left out, for example object-size")

# A second build of the same files takes a fraction of the time where ccache is installed. What it must not mind so that tests, which use
# precompiled headers, are kept too: macros of these headers (none of them uses ours), and the time of compilation (nobody prints it).
find_program(LEPUS_CCACHE ccache)
if(LEPUS_CCACHE)
  foreach(language CXX CUDA)
    if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
          CCACHE_SLOPPINESS=pch_defines,time_macros ${LEPUS_CCACHE})
    endif()
  endforeach()
endif()

# Host code is warned about in C++ and in CUDA files alike (nvcc's own generated code is not pedantic C++).
set(host_flags -Wall -Wextra -Wshadow -ffp-contract=off)
set(nvcc_flags "")
if(LEPUS_WARNINGS_AS_ERRORS)
  list(APPEND host_flags -Werror)
  list(APPEND nvcc_flags -Werror=all-warnings)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  list(APPEND host_flags -Wno-restrict)  # false alarms on "text" + std::string (GCC bug 105651)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  list(APPEND host_flags -Wno-psabi)  # on aarch64 g++ tells what g++ 9 passed in other registers
  # g++ searches its memory for what it no longer needs whenever that has doubled, most often while it is small. Where it begins with
  # the first gigabyte, files take some 0.9 of the time (16.6 to 15.3 s, 21.3 to 19.1 s) and up to a third more memory (0.9 GiB at most).
  list(APPEND host_flags --param=ggc-min-heapsize=1000000)
endif()
string(REPLACE ";" "," passed_on "${host_flags}")
if(LEPUS_SANITIZE)
  list(APPEND host_flags -fsanitize=${LEPUS_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  if(LEPUS_SANITIZE_NOT)
    list(APPEND host_flags -fno-sanitize=${LEPUS_SANITIZE_NOT})
  endif()
endif()
add_library(lepus_build_flags INTERFACE)
target_compile_options(lepus_build_flags INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:${host_flags};-Wpedantic;$<$<CXX_COMPILER_ID:GNU>:-Wredundant-decls>>"
  "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${passed_on};${nvcc_flags}>")
if(LEPUS_SANITIZE)
  target_link_options(lepus_build_flags INTERFACE -fsanitize=${LEPUS_SANITIZE})
endif()
