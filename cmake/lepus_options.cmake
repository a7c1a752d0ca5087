# How lepus is built: C++20, warnings are errors, results that do not depend on how the compiler contracts a*b+c.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET default)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, RelWithDebInfo or Debug" FORCE)
endif()

option(LEPUS_BUILD_TESTS "Build the tests (needs GoogleTest)" ON)
option(LEPUS_BUILD_BENCHMARKS "Build the benchmarks" ON)
option(LEPUS_WARNINGS_AS_ERRORS "Treat warnings as errors" ON)
set(LEPUS_SANITIZE "" CACHE STRING "Sanitizers to build with, for example address,undefined")

add_library(lepus_build_flags INTERFACE)
target_compile_options(lepus_build_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -ffp-contract=off
                                                   $<$<BOOL:${LEPUS_WARNINGS_AS_ERRORS}>:-Werror>)
if(LEPUS_SANITIZE)
  target_compile_options(lepus_build_flags INTERFACE -fsanitize=${LEPUS_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(lepus_build_flags INTERFACE -fsanitize=${LEPUS_SANITIZE})
endif()
