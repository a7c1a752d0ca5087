// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/images.h"

#include <vector>

#include "device/opencl/program.h"

namespace lepus::opencl {

Layers::Layers(const Context& context, cl_channel_type type, std::int64_t width, std::int64_t height,
               std::int64_t layers, cl_command_queue queue)
    : context_(&context) {
  const cl_image_format image_format{CL_R, type};
  cl_image_desc description{};
  description.image_type = CL_MEM_OBJECT_IMAGE2D_ARRAY;
  description.image_width = static_cast<std::size_t>(width);
  description.image_height = static_cast<std::size_t>(height);
  description.image_array_size = static_cast<std::size_t>(layers);
  cl_int status = CL_SUCCESS;
  image_ = context.cl().CreateImage(context.get(), CL_MEM_READ_WRITE, &image_format, &description, nullptr, &status);
  if (status != CL_SUCCESS) image_ = nullptr;
  context.check(status, "allocate images", bytes(type, width, height, layers));
  const cl_float zero[4] = {};
  const std::size_t origin[3] = {},
                    region[3] = {description.image_width, description.image_height, description.image_array_size};
  status = context.cl().EnqueueFillImage(queue, image_, zero, origin, region, 0, nullptr, nullptr);
  if (status != CL_SUCCESS) context.cl().ReleaseMemObject(std::exchange(image_, nullptr));
  context.check(status, "clear images");
}

Layers::~Layers() {
  if (image_ != nullptr) context_->cl().ReleaseMemObject(image_);
}

// Drivers pad lines to 64 bytes and blocks of 8 lines, about.
std::int64_t Layers::bytes(cl_channel_type type, std::int64_t width, std::int64_t height, std::int64_t layers) {
  const std::int64_t texel = type == CL_HALF_FLOAT ? 2 : 4;
  return (width * texel + 63) / 64 * 64 * ((height + 7) / 8 * 8) * layers;
}

bool Context::lists_images(cl_channel_type type) const {
  for (const cl_mem_flags access : {CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY}) {
    cl_uint count = 0;
    const auto ask = [&](cl_uint size, cl_image_format* to, cl_uint* needed) {
      return cl().GetSupportedImageFormats(context_, access, CL_MEM_OBJECT_IMAGE2D_ARRAY, size, to, needed);
    };
    if (ask(0, nullptr, &count) != CL_SUCCESS || count == 0) return false;
    std::vector<cl_image_format> formats(count);
    if (ask(count, formats.data(), nullptr) != CL_SUCCESS) return false;
    bool found = false;
    for (const cl_image_format& f : formats)
      found = found || (f.image_channel_order == CL_R && f.image_channel_data_type == type);
    if (!found) return false;
  }
  return true;
}

bool Context::try_images(cl_channel_type type) {
  const Layers images(*this, type, 8, 8, 2, mapping_);
  Program& probe = program("probe", "");
  const Block answers = allocate(3 * sizeof(float), Place::device);
  const Resolved place = resolve_device(answers.get(), 3 * sizeof(float));
  KernelCall(*this, probe, "write_probe").object(images.get()).run(mapping_, {8, 8, 1}, {1, 1, 1});
  KernelCall(*this, probe, "read_probe").object(images.get()).object(place.memory).run(mapping_, {1, 1, 1}, {1, 1, 1});
  float read[3] = {};
  check(cl().EnqueueReadBuffer(mapping_, place.memory, CL_TRUE, 0, sizeof read, read, 0, nullptr, nullptr),
        "try images");
  return read[0] == 2.5f && read[1] == 1.0f && read[2] == 0.0f;
}

bool Context::images_work(cl_channel_type type) {
  const std::lock_guard lock(images_mutex_);
  const auto known = images_work_.find(type);
  if (known != images_work_.end()) return known->second;
  return images_work_[type] = lists_images(type) && try_images(type);
}

}  // namespace lepus::opencl
