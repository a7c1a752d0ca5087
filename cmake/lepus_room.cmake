# lepus_room(name SOURCES ... [TEXT ...] [DEPENDS rooms...] [LIBRARIES targets...] [TESTS ...] [NO_LOOPS | KERNELS] [BENCH])
# One room of src/: a static library lepus_<name>, and <name>_test from the tests beside the source (label: unit).
# src/CMakeLists.txt puts all rooms into the one library that is installed, but those of bench/ (BENCH), whose headers are
# named from the project's folder as those of app/ are. With LEPUS_UNITY files are compiled together, sixteen of those with loops, forty of
# text, sixteen tests, so names in the anonymous namespaces of a room, and of its tests, differ; those that Highway includes again stay alone.
# NO_LOOPS: it handles text and options, no pixels, and is not worth the compiler's time; TEXT are files of which that is true in a room that has loops.
# KERNELS: tests spend their time in its loops, which are optimised even with a sanitizer (text is not).
function(lepus_room name)
  cmake_parse_arguments(room "NO_LOOPS;KERNELS;BENCH" "" "SOURCES;TEXT;DEPENDS;LIBRARIES;TESTS" ${ARGN})
  list(TRANSFORM room_DEPENDS PREPEND lepus_)
  add_library(lepus_${name} STATIC ${room_SOURCES})
  set(parts ${name})
  if(room_TEXT)
    add_library(lepus_${name}_text OBJECT ${room_TEXT})
    target_sources(lepus_${name} PRIVATE $<TARGET_OBJECTS:lepus_${name}_text>)
    list(APPEND parts ${name}_text)
  endif()
  foreach(part IN LISTS parts)
    target_include_directories(lepus_${part} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include
                                                    ${PROJECT_BINARY_DIR}/generated)
    target_link_libraries(lepus_${part} PRIVATE lepus_build_flags)
    target_link_libraries(lepus_${part} PUBLIC lepus_format ${room_LIBRARIES} ${room_DEPENDS})
    set(quick ${room_NO_LOOPS})
    if(part STREQUAL ${name}_text)
      set(quick TRUE)
    endif()
    if(quick)
      lepus_compile_together(lepus_${part} 40)
    else()
      lepus_compile_together(lepus_${part} 16)
    endif()
    # clang with a sanitizer takes two to three times as long to optimise: worth it only where tests spend their time.
    if(LEPUS_SANITIZE AND NOT room_KERNELS)
      set(quick TRUE)
    endif()
    if(quick)
      lepus_compile_quickly(lepus_${part})
    endif()
    lepus_room_headers(${part} ${quick})
  endforeach()
  foreach(source IN LISTS room_SOURCES)
    get_filename_component(source ${source} ABSOLUTE)
    file(STRINGS ${source} included_again REGEX "HWY_TARGET_INCLUDE")
    if(included_again)
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
      # Their vectors are written by hand. g++ 13.3, where it makes vectors itself for AVX-512, takes a bool that chooses between two of
      # them for the mask of the first lane (found by parity_test with Highway 1.0.3: nearest and cubic backprojection).
      set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS $<$<CXX_COMPILER_ID:GNU>:-fno-tree-vectorize>)
    endif()
  endforeach()
  if(room_BENCH)
    foreach(part IN LISTS parts)
      target_include_directories(lepus_${part} PUBLIC ${PROJECT_SOURCE_DIR})
    endforeach()
  else()
    set_property(GLOBAL APPEND PROPERTY LEPUS_ROOMS ${parts})
    set_property(GLOBAL APPEND PROPERTY LEPUS_ROOM_LIBRARIES ${room_LIBRARIES})
  endif()
  if(LEPUS_BUILD_TESTS AND room_TESTS)
    lepus_test(${name}_test SOURCES ${room_TESTS} LINK lepus_${name} LABELS unit)
  endif()
endfunction()

# For a build from nothing. Half of the time of a text file goes into reading headers and into templates that its neighbours need, too.
function(lepus_compile_together target files)
  if(LEPUS_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${files})
  endif()
endfunction()

# Two thirds of the time of a release build go into optimising; code without loops gains nothing from it. g++ has least to do with -Og: it
# takes a quarter less than with -O1, less even than with -O0, which makes more machine code.
function(lepus_compile_quickly target)
  target_compile_options(${target} PRIVATE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-Og>)
  if(LEPUS_SANITIZE)
    target_compile_options(${target} PRIVATE -O0)
  endif()
endfunction()

# clang takes a third of its time to read the headers of libraries: once for all rooms. g++ takes a tenth, and would not gain. Flags are
# part of what was read, so there is one for code that is optimised and one for code that is not.
function(lepus_room_headers part quick)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
    return()
  endif()
  set(headers lepus_headers)
  if(quick)
    set(headers lepus_quick_headers)
  endif()
  if(NOT TARGET ${headers})
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${headers}.cpp CONTENT "\n")
    add_library(${headers} STATIC EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/${headers}.cpp)
    target_link_libraries(${headers} PRIVATE lepus_build_flags lepus_format nlohmann_json::nlohmann_json)
    if(quick)
      lepus_compile_quickly(${headers})
    endif()
    target_precompile_headers(${headers} PRIVATE <algorithm> <array> <atomic> <chrono> <cmath> <filesystem> <fstream> <functional> <map>
      <memory> <mutex> <nlohmann/json.hpp> <optional> <random> <set> <string> <thread> <vector> ${PROJECT_SOURCE_DIR}/src/core/format.h)
    target_compile_options(${headers} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")  # for ccache
  endif()
  target_precompile_headers(lepus_${part} REUSE_FROM ${headers})
  # Headers that were read before lose the lines by which libstdc++ 12 allows std::stable_sort what it calls deprecated.
  target_compile_options(lepus_${part} PRIVATE -Wno-deprecated-declarations)
endfunction()

# The tests' judges run in a Python that has all that they use, else in one that has NumPy; the system's before any other.
if(LEPUS_BUILD_TESTS AND NOT LEPUS_PYTHON)
  find_program(system_python NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
  find_program(users_python NAMES python3)
  foreach(modules IN ITEMS "numpy" "numpy, scipy, h5py, tifffile, skimage")  # the best comes last
    foreach(python IN ITEMS ${users_python} ${system_python})
      execute_process(COMMAND ${python} -c "import ${modules}" RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
      if(NOT failed OR NOT LEPUS_PYTHON)
        set(LEPUS_PYTHON ${python} CACHE FILEPATH "Python that runs the judges of the tests" FORCE)
      endif()
    endforeach()
  endforeach()
endif()

# Optimising takes half the time of compiling a test, whose own code hardly ever runs for long.
set(LEPUS_TEST_FLAGS "-Og" CACHE STRING "More compiler flags for the test programs alone")
function(lepus_test_flags target)
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${LEPUS_TEST_FLAGS}>")
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # In headers that were compiled before, g++ takes the standard library's code for ours and warns of what cannot happen.
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds;-Wno-stringop-overflow>")
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>")  # for ccache
  endif()
  if(LEPUS_SANITIZE)
    target_compile_options(${target} PRIVATE -O0)  # sanitized tests take half the time to compile, and hardly longer to run
  endif()
endfunction()

# Reading GoogleTest's and the standard library's headers takes most of the time of compiling a test: once for all of them. A test whose flags
# differ reads them itself.
function(lepus_test_headers)
  if(TARGET lepus_test_headers)
    return()
  endif()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/test_headers.cpp CONTENT "int main() {}\n")
  add_executable(lepus_test_headers EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/test_headers.cpp)
  target_link_libraries(lepus_test_headers PRIVATE lepus_build_flags lepus_format GTest::gtest)
  lepus_test_flags(lepus_test_headers)
  target_precompile_headers(lepus_test_headers PRIVATE <gtest/gtest.h> <algorithm> <cmath> <filesystem> <fstream> <functional> <random>)
endfunction()

# lepus_test(name SOURCES ... LINK targets... LABELS ... [TIMEOUT seconds] [ALONE]): a GoogleTest program, every test its own
# ctest test. Tests find the project's files through LEPUS_SOURCE_DIR. Those labelled gpu share the card one after another;
# with ALONE nothing else runs meanwhile.
function(lepus_test name)
  cmake_parse_arguments(test "ALONE" "TIMEOUT" "SOURCES;LINK;LABELS" ${ARGN})
  if(NOT test_TIMEOUT)
    set(test_TIMEOUT 120)
  endif()
  find_package(GTest REQUIRED)
  include(GoogleTest)
  lepus_test_headers()
  add_executable(${name} ${test_SOURCES})
  target_precompile_headers(${name} REUSE_FROM lepus_test_headers)
  set_target_properties(${name} PROPERTIES PCH_WARN_INVALID OFF)
  lepus_compile_together(${name} 16)
  target_link_libraries(${name} PRIVATE ${test_LINK} lepus_build_flags GTest::gtest_main)
  lepus_test_flags(${name})
  target_compile_definitions(${name} PRIVATE LEPUS_SOURCE_DIR="${PROJECT_SOURCE_DIR}" LEPUS_BINARY_DIR="${PROJECT_BINARY_DIR}"
                                             LEPUS_PYTHON="${LEPUS_PYTHON}")
  set(properties LABELS "${test_LABELS}" TIMEOUT ${test_TIMEOUT})
  if("gpu" IN_LIST test_LABELS)
    list(APPEND properties RESOURCE_LOCK gpu)
  endif()
  if(test_ALONE)
    list(APPEND properties RUN_SERIAL TRUE)
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES ${properties})
endfunction()
