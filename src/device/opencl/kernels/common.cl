// SPDX-License-Identifier: Apache-2.0
// What every program of lepus begins with. OpenCL C 1.2.
// Nothing is contracted but where fma() is written: two variants of a kernel must not differ in their bits.
#pragma OPENCL FP_CONTRACT OFF

// A device address is two arguments: a buffer and the bytes before the address (program.h, KernelCall::memory).
#define MEMORY(name) __global uchar *name##_base, ulong name##_at
#define MEMORY_IN(name) __global const uchar *restrict name##_base, ulong name##_at
#define POINTER(type, name) ((__global type *)(name##_base + name##_at))
#define POINTER_IN(type, name) ((__global const type *)(name##_base + name##_at))
#define IS_NULL(name) (name##_base == 0)

// Pictures of one size (project/planes.h); where they lie is an argument of its own.
typedef struct {
  long width, height, row_stride, plane_stride;
} Planes;
#define ROW(name, p, plane, y) (POINTER(float, name) + (plane) * (p).plane_stride + (y) * (p).row_stride)
#define ROW_IN(name, p, plane, y) (POINTER_IN(float, name) + (plane) * (p).plane_stride + (y) * (p).row_stride)

#define CONE 0
#define FAN 1
#define PARALLEL 2
