# Debian's cross compiler, and libraries from a folder that scripts/sysroot filled:
#   cmake --toolchain cmake/cross-toolchain.cmake -DLEPUS_CROSS_PROCESSOR=x86_64|aarch64 -DLEPUS_SYSROOT=/absolute/folder
# What is built runs under qemu-user.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES LEPUS_CROSS_PROCESSOR LEPUS_SYSROOT)
set(triple ${LEPUS_CROSS_PROCESSOR}-linux-gnu)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${LEPUS_CROSS_PROCESSOR})
set(CMAKE_CXX_COMPILER ${triple}-g++)
set(CMAKE_SYSROOT ${LEPUS_SYSROOT})
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${LEPUS_CROSS_PROCESSOR} -L ${LEPUS_SYSROOT})

# Programs are this machine's; headers, libraries and packages are the other's.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${LEPUS_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${LEPUS_SYSROOT}/usr/lib/${triple}/pkgconfig:${LEPUS_SYSROOT}/usr/share/pkgconfig)
# ld looks for the libraries that a library needs only beside those it was given.
set(CMAKE_EXE_LINKER_FLAGS_INIT -Wl,-rpath-link,${LEPUS_SYSROOT}/lib/${triple}:${LEPUS_SYSROOT}/usr/lib/${triple})
# qemu 7.2 reads another register where ymm4 holds the indices of a gather (its issue 2474).
if(LEPUS_CROSS_PROCESSOR STREQUAL x86_64)
  set(CMAKE_CXX_FLAGS_INIT -ffixed-xmm4)
endif()
