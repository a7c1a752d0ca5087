# The module that runs lepus over many processes, where an MPI is found (libopenmpi-dev, or that of the cluster): sets
# LEPUS_HAVE_MPI. Nothing else is linked with it.
option(LEPUS_WITH_MPI "Build the module for runs over many processes (needs MPI)" ON)
set(LEPUS_HAVE_MPI FALSE)
if(LEPUS_WITH_MPI AND NOT CMAKE_CROSSCOMPILING)
  enable_language(C)  # the old C++ bindings are not used
  set(MPI_CXX_SKIP_MPICXX TRUE)
  find_package(MPI COMPONENTS C QUIET)
  set(LEPUS_HAVE_MPI ${MPI_C_FOUND})
endif()
if(NOT LEPUS_HAVE_MPI)
  message(STATUS "lepus: built without MPI (install libopenmpi-dev and openmpi-bin to add it)")
endif()
