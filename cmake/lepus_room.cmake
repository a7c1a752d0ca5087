# lepus_room(name [UNITY] SOURCES ... [DEPENDS rooms...] [LIBRARIES targets...] [TESTS ...])
# One room of src/: a static library lepus_<name>, and <name>_test from the tests beside the source (label: unit).
# src/CMakeLists.txt puts all rooms into the one library that is installed. UNITY: the room's
# files may be compiled together (LEPUS_UNITY), so names in their anonymous namespaces differ.
function(lepus_room name)
  cmake_parse_arguments(room "UNITY" "" "SOURCES;DEPENDS;LIBRARIES;TESTS" ${ARGN})
  add_library(lepus_${name} STATIC ${room_SOURCES})
  target_include_directories(lepus_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include
                                                  ${PROJECT_BINARY_DIR}/generated)
  target_link_libraries(lepus_${name} PRIVATE lepus_build_flags)
  target_link_libraries(lepus_${name} PUBLIC lepus_format ${room_LIBRARIES})
  foreach(dependency IN LISTS room_DEPENDS)
    target_link_libraries(lepus_${name} PUBLIC lepus_${dependency})
  endforeach()
  if(LEPUS_UNITY AND room_UNITY)
    set_target_properties(lepus_${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  endif()
  set_property(GLOBAL APPEND PROPERTY LEPUS_ROOMS ${name})
  set_property(GLOBAL APPEND PROPERTY LEPUS_ROOM_LIBRARIES ${room_LIBRARIES})
  if(LEPUS_BUILD_TESTS AND room_TESTS)
    lepus_test(${name}_test SOURCES ${room_TESTS} LINK lepus_${name} LABELS unit)
  endif()
endfunction()

# lepus_test(name SOURCES ... LINK targets... LABELS ... [TIMEOUT seconds]): a GoogleTest program, every test its own
# ctest test. Tests find the project's files through LEPUS_SOURCE_DIR.
function(lepus_test name)
  cmake_parse_arguments(test "" "TIMEOUT" "SOURCES;LINK;LABELS" ${ARGN})
  if(NOT test_TIMEOUT)
    set(test_TIMEOUT 120)
  endif()
  find_package(GTest REQUIRED)
  include(GoogleTest)
  add_executable(${name} ${test_SOURCES})
  target_link_libraries(${name} PRIVATE ${test_LINK} lepus_build_flags GTest::gtest_main)
  if(LEPUS_SANITIZE)
    target_compile_options(${name} PRIVATE -O0)  # sanitized tests take half the time to compile, and hardly longer to run
  endif()
  target_compile_definitions(${name} PRIVATE LEPUS_SOURCE_DIR="${PROJECT_SOURCE_DIR}" LEPUS_BINARY_DIR="${PROJECT_BINARY_DIR}")
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES LABELS "${test_LABELS}" TIMEOUT ${test_TIMEOUT})
endfunction()
