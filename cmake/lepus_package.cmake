# The Debian packages: lepus (the programs), liblepus0.2 (the library, named after its soname), liblepus-dev, lepus-doc and
# python3-lepus.
# scripts/make-packages builds them in the system they are for; scripts/check-deb installs them in a bare one.
# What an install() names no component for belongs to the programs.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME program)

# Before 1.0 every minor version may change the interface: the soname has two numbers, as lepusConfigVersion.cmake demands.
set(LEPUS_ABI ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})

# 0.2.0-1~debian12: a package for one system does not pass for that of another.
cmake_host_system_information(RESULT system QUERY DISTRIB_ID)
cmake_host_system_information(RESULT release QUERY DISTRIB_VERSION_ID)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1~${system}${release})
set(version ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})

if(LEPUS_HAVE_CUDA)
  string(REGEX REPLACE "-[a-z]+" "" capabilities "${CMAKE_CUDA_ARCHITECTURES}")
  string(REGEX REPLACE "([0-9]+)([0-9])" "\\1.\\2" capabilities "${capabilities}")
  string(REPLACE ";" ", " capabilities "${capabilities}")
  if(NOT CMAKE_CUDA_ARCHITECTURES MATCHES "-real$")  # the last one is there as PTX too, which drivers compile for later cards
    string(APPEND capabilities " and newer")
  endif()
  set(gpu "It runs on NVIDIA GPUs of compute capability
${capabilities} where the driver is version
580 or newer, and on the CPU everywhere else; CUDA itself need not be installed.")
else()
  set(gpu "This build is for the CPU alone: it has no code for GPUs.")
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL program library development docs)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_PACKAGE_CONTACT "lepus developers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has its own first line
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/lepus_debian_customs.cmake)

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME lepus)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS lepus-doc)
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION "cone-beam CT reconstruction
A folder of X-ray frames and a small text file become a volume with one
command: cone, fan and parallel beam CT in bounded memory, with corrections,
calibration, simulation of scans and comparison of volumes.

${gpu}")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME liblepus${LEPUS_ABI})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS ON)
# What packages of programs that link to the library will depend on (dpkg-shlibdeps reads it), and that its cache is renewed.
file(WRITE ${PROJECT_BINARY_DIR}/debian/shlibs "liblepus ${LEPUS_ABI} liblepus${LEPUS_ABI} (>= ${PROJECT_VERSION})\n")
file(WRITE ${PROJECT_BINARY_DIR}/debian/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/debian/shlibs ${PROJECT_BINARY_DIR}/debian/triggers)
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "cone-beam CT reconstruction, shared library
What programs that reconstruct with lepus need to run. The program lepus
itself does not need it.

${gpu}")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME liblepus-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "liblepus${LEPUS_ABI} (= ${version})")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS lepus-doc)
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "cone-beam CT reconstruction, headers
C++20 headers, and what CMake's find_package(lepus) needs. lepus-doc has an
example program.")

if(LEPUS_HAVE_MPI)
  list(APPEND CPACK_COMPONENTS_ALL mpi)
  set(CPACK_DEBIAN_MPI_PACKAGE_NAME lepus-mpi)
  set(CPACK_DEBIAN_MPI_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "lepus (= ${version})")
  set(CPACK_DEBIAN_MPI_DESCRIPTION "cone-beam CT reconstruction, over many processes
The module that lets mpirun and srun start the program lepus as several
processes, on one machine or many, which make one volume together.")
endif()

if(LEPUS_HAVE_PYTHON)
  list(APPEND CPACK_COMPONENTS_ALL python)
  math(EXPR next "${Python_VERSION_MINOR} + 1")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-lepus)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
      "python3 (>= 3.${Python_VERSION_MINOR}), python3 (<< 3.${next}), python3-numpy, lepus (= ${version})")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS "python3-scipy, python3-tqdm")
  set(CPACK_DEBIAN_PYTHON_DESCRIPTION "cone-beam CT reconstruction, Python module
FDK, the projector and its transpose, iterative methods, corrections,
phantoms and volume files on NumPy arrays.

${gpu}")
  # Modules are compiled where they are installed, and what that made is removed with them.
  foreach(script "postinst;py3compile" "prerm;py3clean")
    list(GET script 0 name)
    list(GET script 1 command)
    file(WRITE ${PROJECT_BINARY_DIR}/debian/python/${name} "#!/bin/sh\nset -e\n${command} -p python3-lepus\n")
    file(CHMOD ${PROJECT_BINARY_DIR}/debian/python/${name} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
         WORLD_READ WORLD_EXECUTE)
    list(APPEND CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/debian/python/${name})
  endforeach()
endif()

set(CPACK_DEBIAN_DOCS_PACKAGE_NAME lepus-doc)
set(CPACK_DEBIAN_DOCS_PACKAGE_SECTION doc)
set(CPACK_DEBIAN_DOCS_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_DOCS_DESCRIPTION "cone-beam CT reconstruction, documentation
The pages of lepus with their pictures (Markdown), phantoms as text and an
example program that uses the library.")

# Documents lie as in the sources, so that their links work.
install(FILES README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT docs)
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT docs PATTERN "*.py" EXCLUDE)

# Every package says under which licences its files are; binaries also under those of the headers and of CUDA's runtime that
# were compiled into them. Only packages have these files, a plain installation has not.
function(lepus_licences component)
  cmake_parse_arguments(arg "" "" "ALSO" ${ARGN})
  set(text "lepus ${PROJECT_VERSION}\nCopyright 2026 the lepus developers\n
Under the Apache License 2.0: /usr/share/common-licenses/Apache-2.0 has its text.\n")
  foreach(file IN LISTS arg_ALSO)
    if(EXISTS ${file})
      file(READ ${file} notice)
      cmake_path(GET file PARENT_PATH folder)
      cmake_path(GET folder FILENAME from)
      string(APPEND text "\n---- parts of ${from} ----\n\n${notice}")
    endif()
  endforeach()
  if(arg_ALSO AND LEPUS_HAVE_CUDA)
    string(APPEND text "\n---- CUDA ----\n
Contains libcudart_static ${CUDAToolkit_VERSION}, which NVIDIA's End User License Agreement for the
CUDA Toolkit allows to be distributed as a part of programs.\n")
  endif()
  string(TOUPPER ${component} upper)
  set(folder ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  file(WRITE ${PROJECT_BINARY_DIR}/debian/${folder}/copyright "${text}")
  install(FILES ${PROJECT_BINARY_DIR}/debian/${folder}/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${folder}
          COMPONENT ${component} EXCLUDE_FROM_ALL)
endfunction()

set(headers ${PROJECT_SOURCE_DIR}/share/phantoms/README.md ${PROJECT_SOURCE_DIR}/share/fonts/README.md)
foreach(package libtomlplusplus-dev libcli11-dev nlohmann-json3-dev)
  list(APPEND headers /usr/share/doc/${package}/copyright)
endforeach()
lepus_licences(program ALSO ${headers} ${PROJECT_SOURCE_DIR}/web/dist/LICENSES.txt)
lepus_licences(library ALSO ${headers})
lepus_licences(development)
lepus_licences(docs)
if(LEPUS_HAVE_MPI)
  lepus_licences(mpi)
endif()
if(LEPUS_HAVE_PYTHON)
  lepus_licences(python ALSO ${headers} /usr/share/doc/pybind11-dev/copyright)
endif()

include(CPack)
