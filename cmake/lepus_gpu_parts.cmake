# lepus_gpu_parts(room namespace [makers...]): what a part of lepus-bench does on a GPU through the GPU's own interface.
# bench/<room>/gpu.h declares a struct of functions Gpu<Room> and the list of them that this build has, gpu_<room>(). This writes
# that list, into a file whose name is returned in gpu_list, of the makers that are named: those whose sources are compiled. So
# nothing else in bench/ asks what those are, and nothing stands in for what is not there.
function(lepus_gpu_parts room namespace)
  string(SUBSTRING ${room} 0 1 first)
  string(SUBSTRING ${room} 1 -1 rest)
  string(TOUPPER ${first} first)
  set(type Gpu${first}${rest})
  set(declared "")
  set(called "")
  foreach(maker IN LISTS ARGN)
    string(APPEND declared "${type} ${maker}();\n")
    list(APPEND called "${maker}()")
  endforeach()
  list(JOIN called ", " called)
  set(file ${PROJECT_BINARY_DIR}/generated/bench/${room}/gpu_list.cpp)
  file(CONFIGURE OUTPUT ${file} @ONLY CONTENT "// Made by CMake (cmake/lepus_gpu_parts.cmake).
#include \"bench/@room@/gpu.h\"

namespace lepus::@namespace@ {

@declared@
std::vector<@type@> gpu_@room@() { return {@called@}; }

}  // namespace lepus::@namespace@
")
  set(gpu_list ${file} PARENT_SCOPE)
endfunction()
