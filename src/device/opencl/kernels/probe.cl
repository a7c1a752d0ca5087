// SPDX-License-Identifier: Apache-2.0
// Do images keep what is written into them, and does the sampler interpolate between two pixels? Some drivers list
// formats that they do not handle. (context.cpp, images_work)

__constant const sampler_t bilinear = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_LINEAR;

__kernel void write_probe(__write_only image2d_array_t images) {
  write_imagef(images, (int4)(get_global_id(0), get_global_id(1), 1, 0), (float4)(get_global_id(0) + 1.0f, 0, 0, 0));
}

// Between pixels 1 and 2 of row 1; on pixel 0 of row 0; far outside.
__kernel void read_probe(__read_only image2d_array_t images, __global float *out) {
  out[0] = read_imagef(images, bilinear, (float4)(2.0f, 1.5f, 1.0f, 0.0f)).x;
  out[1] = read_imagef(images, bilinear, (float4)(0.5f, 0.5f, 1.0f, 0.0f)).x;
  out[2] = read_imagef(images, bilinear, (float4)(-2.0f, 0.5f, 1.0f, 0.0f)).x;
}
