// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/devices.h"

#include <algorithm>

#include "core/format.h"
#include "core/memory.h"
#include "device/opencl/opencl_check.h"
#include <lepus/error.h>

namespace lepus::opencl {
namespace {

// What a device must have at least: a slab and a wedge of the smallest scan, and a block of views in constant memory.
constexpr std::int64_t minimum_memory_bytes = std::int64_t{256} << 20;
constexpr std::int64_t minimum_local_bytes = 16 << 10, minimum_constant_bytes = 16 << 10;
constexpr int minimum_version = 120;

template <class Ask>
std::string text_of(const Ask& ask) {
  std::size_t bytes = 0;
  if (ask(0, nullptr, &bytes) != CL_SUCCESS || bytes == 0) return {};
  std::string text(bytes, '\0');
  if (ask(bytes, text.data(), nullptr) != CL_SUCCESS) return {};
  text.resize(text.find_last_not_of(std::string_view("\0 ", 2)) + 1);
  return text;
}

class Asked {
public:
  Asked(const Library& cl, cl_device_id id) : cl_(cl), id_(id) {}
  std::string text(cl_device_info what) const {
    return text_of(
        [&](std::size_t bytes, void* to, std::size_t* size) { return cl_.GetDeviceInfo(id_, what, bytes, to, size); });
  }
  template <class T>
  std::int64_t number(cl_device_info what) const {
    T value{};
    return cl_.GetDeviceInfo(id_, what, sizeof value, &value, nullptr) == CL_SUCCESS ? static_cast<std::int64_t>(value)
                                                                                     : 0;
  }

private:
  const Library& cl_;
  cl_device_id id_;
};

// "OpenCL 3.0 CUDA": 300
int version_of(const std::string& text) {
  int major = 0, minor = 0;
  return std::sscanf(text.c_str(), "OpenCL %d.%d", &major, &minor) == 2 ? 100 * major + 10 * minor : 0;
}

std::string why_not(const DeviceDescription& d, const Asked& ask) {
  if (ask.number<cl_bool>(CL_DEVICE_AVAILABLE) == CL_FALSE) return "it is not available";
  if (ask.number<cl_bool>(CL_DEVICE_COMPILER_AVAILABLE) == CL_FALSE) return "its driver has no compiler";
  if (d.version < minimum_version)
    return format("it has OpenCL {}.{}, and lepus needs 1.2", d.version / 100, d.version / 10 % 10);
  if (ask.number<cl_bool>(CL_DEVICE_IMAGE_SUPPORT) == CL_FALSE) return "it has no images";
  if (d.memory_bytes < minimum_memory_bytes)
    return format("it has {} of memory, and lepus needs {}", format_bytes(d.memory_bytes),
                  format_bytes(minimum_memory_bytes));
  if (d.local_bytes < minimum_local_bytes || d.constant_bytes < minimum_constant_bytes)
    return format("it has {} of local and {} of constant memory, and lepus needs {} of each",
                  format_bytes(d.local_bytes), format_bytes(d.constant_bytes), format_bytes(minimum_local_bytes));
  return {};
}

DeviceDescription described(const Library& cl, cl_platform_id platform, cl_device_id id) {
  const Asked ask(cl, id);
  DeviceDescription d;
  d.cl = &cl;
  d.platform = platform;
  d.id = id;
  const std::string platform_name = text_of([&](std::size_t bytes, void* to, std::size_t* size) {
    return cl.GetPlatformInfo(platform, CL_PLATFORM_NAME, bytes, to, size);
  });
  d.version = version_of(ask.text(CL_DEVICE_VERSION));
  d.name =
      format("{} (OpenCL {}.{}, {})", ask.text(CL_DEVICE_NAME), d.version / 100, d.version / 10 % 10, platform_name);
  const auto type = static_cast<cl_device_type>(ask.number<cl_device_type>(CL_DEVICE_TYPE));
  d.gpu = (type & CL_DEVICE_TYPE_GPU) != 0;
  d.shares_memory = (type & CL_DEVICE_TYPE_CPU) != 0;
  d.memory_bytes = ask.number<cl_ulong>(CL_DEVICE_GLOBAL_MEM_SIZE);
  d.largest_block_bytes = ask.number<cl_ulong>(CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  d.local_bytes = ask.number<cl_ulong>(CL_DEVICE_LOCAL_MEM_SIZE);
  d.constant_bytes = ask.number<cl_ulong>(CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE);
  d.largest_group = ask.number<std::size_t>(CL_DEVICE_MAX_WORK_GROUP_SIZE);
  d.image_columns = ask.number<std::size_t>(CL_DEVICE_IMAGE2D_MAX_WIDTH);
  d.image_rows = ask.number<std::size_t>(CL_DEVICE_IMAGE2D_MAX_HEIGHT);
  d.image_layers = ask.number<std::size_t>(CL_DEVICE_IMAGE_MAX_ARRAY_SIZE);
  d.doubles = ask.text(CL_DEVICE_EXTENSIONS).find("cl_khr_fp64") != std::string::npos;
  d.rounds_division =
      (ask.number<cl_device_fp_config>(CL_DEVICE_SINGLE_FP_CONFIG) & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
  d.why_not = why_not(d, ask);
  return d;
}

std::vector<cl_platform_id> platforms_of(const Library& cl) {
  cl_uint count = 0;
  if (cl.GetPlatformIDs(0, nullptr, &count) != CL_SUCCESS) return {};
  std::vector<cl_platform_id> platforms(count);
  if (count == 0 || cl.GetPlatformIDs(count, platforms.data(), nullptr) != CL_SUCCESS) return {};
  return platforms;
}

Error unusable(const std::string& what, const std::string& why) {
  return Error(ErrorKind::unsupported, {.what = what,
                                        .where = "backend opencl",
                                        .why = why,
                                        .hint = "use --backend cpu; clinfo lists what OpenCL finds"});
}

}  // namespace

std::vector<DeviceDescription> list_devices(const Library& cl) {
  std::vector<DeviceDescription> devices;
  for (const cl_platform_id platform : platforms_of(cl)) {
    cl_uint count = 0;
    if (cl.GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS || count == 0) continue;
    std::vector<cl_device_id> ids(count);
    if (cl.GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, ids.data(), nullptr) != CL_SUCCESS) continue;
    for (const cl_device_id id : ids) devices.push_back(described(cl, platform, id));
  }
  // Those that can be used before those that cannot, GPUs before others; else as the loader has them.
  std::stable_sort(devices.begin(), devices.end(), [](const DeviceDescription& a, const DeviceDescription& b) {
    const auto rank = [](const DeviceDescription& d) { return (d.why_not.empty() ? 0 : 2) + (d.gpu ? 0 : 1); };
    return rank(a) < rank(b);
  });
  return devices;
}

std::string why_unusable(const Library* cl) {
  if (cl == nullptr) return library_failure();
  const std::size_t platforms = platforms_of(*cl).size();
  if (platforms == 0) return "the OpenCL loader finds no platform: no driver is installed";
  const std::vector<DeviceDescription> devices = list_devices(*cl);
  if (devices.empty())
    return format("{} without a device",
                  platforms == 1 ? std::string("one OpenCL platform") : format("{} OpenCL platforms", platforms));
  return devices.front().why_not.empty() ? std::string() : devices.front().name + ": " + devices.front().why_not;
}

DeviceDescription require_device(const Library* cl, int number) {
  const std::string why = why_unusable(cl);
  if (!why.empty()) throw unusable("no OpenCL device can be used", why);
  const std::vector<DeviceDescription> devices = list_devices(*cl);
  if (number < 0 || number >= static_cast<int>(devices.size()))
    throw unusable(format("there is no OpenCL device {}", number),
                   format("this machine has devices 0 to {}", devices.size() - 1));
  const DeviceDescription& d = devices[static_cast<std::size_t>(number)];
  if (!d.why_not.empty()) throw unusable(format("OpenCL device {} cannot be used", number), d.name + ": " + d.why_not);
  return d;
}

}  // namespace lepus::opencl
