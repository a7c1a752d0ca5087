// SPDX-License-Identifier: Apache-2.0
// A GPU's limits: its link, its memory, its texture units, its arithmetic. Times are CUDA events.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "device/cuda/cuda_check.h"
#include "device/cuda/device_memory.h"
#include "device/cuda/devices.h"
#include "core/format.h"
#include "bench/measure/device_clock.h"
#include "bench/measure/gpu.h"
#include "bench/measure/limit_kernels.h"
#include "bench/measure/limits_parts.h"

namespace lepus::measure {
namespace {

using cuda::DeviceBuffer;

void measure_link(Limits& limits, int repeats, std::int64_t words, const cuda::Stream& stream) {
  const cuda::PinnedBuffer<std::uint32_t> up(words), down(words);
  const DeviceBuffer<std::uint32_t> device(words);
  for (std::int64_t i = 0; i < words; ++i) up.data()[i] = 2654435761u * (static_cast<std::uint32_t>(i) + 1u);
  std::memset(down.data(), 0, static_cast<std::size_t>(down.bytes()));
  const auto bytes = static_cast<std::size_t>(up.bytes());
  const double up_seconds = best_device_seconds(repeats, stream, [&] {
    cuda::check(cudaMemcpyAsync(device.data(), up.data(), bytes, cudaMemcpyHostToDevice, stream.get()), "copy up");
  });
  const double down_seconds = best_device_seconds(repeats, stream, [&] {
    cuda::check(cudaMemcpyAsync(down.data(), device.data(), bytes, cudaMemcpyDeviceToHost, stream.get()), "copy down");
  });
  double wrong = 0;
  for (std::int64_t i = 0; i < words; ++i) wrong += up.data()[i] != down.data()[i] ? 1 : 0;
  const double gigabytes = 1e-9 * static_cast<double>(bytes);
  limits.figures.push_back(machine_figure("link up", up_seconds, gigabytes, "GB/s", wrong, "words that differ"));
  limits.link_up_gb_s = limits.figures.back().rate();
  limits.figures.push_back(machine_figure("link down", down_seconds, gigabytes, "GB/s", wrong, "words that differ"));
  limits.link_down_gb_s = limits.figures.back().rate();
}

void measure_device_copy(Limits& limits, int repeats, std::int64_t words, const cuda::Stream& stream) {
  const DeviceBuffer<std::uint32_t> from(words), to(words);
  const DeviceBuffer<unsigned long long> count(1);
  launch_pattern(from.data(), words, stream.get());
  cuda::check(cudaMemsetAsync(to.data(), 0, static_cast<std::size_t>(to.bytes()), stream.get()), "clear the copy");
  cuda::check(cudaMemsetAsync(count.data(), 0, sizeof(unsigned long long), stream.get()), "clear the count");
  const double taken = best_device_seconds(repeats, stream, [&] {
    cuda::check(cudaMemcpyAsync(to.data(), from.data(), static_cast<std::size_t>(from.bytes()),
                                cudaMemcpyDeviceToDevice, stream.get()),
                "copy on the device");
  });
  launch_count_wrong(to.data(), words, count.data(), stream.get());
  unsigned long long wrong = 0;
  cuda::check(cudaMemcpyAsync(&wrong, count.data(), sizeof wrong, cudaMemcpyDeviceToHost, stream.get()), "read");
  stream.synchronize();
  limits.figures.push_back(machine_figure("device copy", taken, 2e-9 * static_cast<double>(from.bytes()), "GB/s",
                                          static_cast<double>(wrong), "words that differ"));
  limits.device_copy_gb_s = limits.figures.back().rate();
}

std::vector<float> downloaded(const DeviceBuffer<float>& from, const cuda::Stream& stream) {
  std::vector<float> values(static_cast<std::size_t>(from.size()));
  cuda::check(cudaMemcpyAsync(values.data(), from.data(), static_cast<std::size_t>(from.bytes()),
                              cudaMemcpyDeviceToHost, stream.get()),
              "download");
  stream.synchronize();
  return values;
}

void measure_texture(Limits& limits, const GpuDescription& gpu, int repeats, int rounds, const cuda::Stream& stream) {
  std::vector<float> pixels;
  pixels.reserve(static_cast<std::size_t>(texture_edge) * texture_edge);
  for (int y = 0; y < texture_edge; ++y)
    for (int x = 0; x < texture_edge; ++x) pixels.push_back(static_cast<float>(x + 2 * y));
  const cudaChannelFormatDesc format_of = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
  cudaArray_t raw = nullptr;
  cuda::check(cudaMallocArray(&raw, &format_of, texture_edge, texture_edge), "make a texture");
  const cuda::Array array(raw);
  constexpr std::size_t pitch = texture_edge * sizeof(float);
  cuda::check(cudaMemcpy2DToArray(raw, 0, 0, pixels.data(), pitch, pitch, texture_edge, cudaMemcpyHostToDevice),
              "fill a texture");
  cuda::check(cudaStreamSynchronize(cudaStreamLegacy), "fill a texture");  // our streams do not wait for that one
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = raw;
  cudaTextureDesc how{};
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  how.filterMode = cudaFilterModeLinear;
  how.readMode = cudaReadModeElementType;
  cudaTextureObject_t object = 0;
  cuda::check(cudaCreateTextureObject(&object, &resource, &how, nullptr), "make a texture");
  const cuda::Texture texture(object);
  const int blocks = 8 * 4 * std::max(1, gpu.multiprocessors);  // some waves of a full card
  const DeviceBuffer<float> out(std::int64_t{blocks} * limit_block);
  const double taken = best_device_seconds(
      repeats, stream, [&] { launch_samples(texture.get(), out.data(), blocks, rounds, stream.get()); });
  const std::vector<float> got = downloaded(out, stream);
  double worst = 0;
  for (int thread = 0; thread < limit_block; ++thread) {
    const double expected = expected_sum_of_samples(thread, rounds);
    for (std::size_t i = static_cast<std::size_t>(thread); i < got.size(); i += limit_block)
      worst = worse_error(worst, std::abs(static_cast<double>(got[i]) - expected));
  }
  Figure f = machine_figure("texture, bilinear samples", taken,
                            1e-9 * static_cast<double>(out.size()) * static_cast<double>(rounds) * samples_in_round,
                            "G/s", worst, "distance from the known sum");
  f.limit_rate = 4e-9 * gpu.clock_hz * gpu.multiprocessors;
  f.limit = "4 per clock and multiprocessor";
  limits.figures.push_back(f);
  limits.texture_samples = f.rate();
}

void measure_device_multiply_adds(Limits& limits, const GpuDescription& gpu, int repeats, int rounds,
                                  const cuda::Stream& stream) {
  const int blocks = 8 * 4 * std::max(1, gpu.multiprocessors);
  const DeviceBuffer<float> out(std::int64_t{blocks} * limit_block);
  const double taken =
      best_device_seconds(repeats, stream, [&] { launch_multiply_adds(out.data(), blocks, rounds, stream.get()); });
  double worst = 0;
  for (const float d : downloaded(out, stream)) worst = worse_error(worst, static_cast<double>(d));
  limits.figures.push_back(
      machine_figure("fp32 multiply-add on the device", taken,
                     1e-9 * static_cast<double>(out.size()) * static_cast<double>(rounds) * device_chains, "G/s", worst,
                     "distance from the known result"));
  limits.device_multiply_adds = limits.figures.back().rate();
}

}  // namespace

void measure_cuda_limits(Limits& limits, int device, bool quick) {
  const GpuDescription gpu = describe_gpu(device);
  cuda::use_device(device);
  const cuda::Stream stream;
  const int repeats = quick ? 3 : 7;
  const std::int64_t free_words = cuda::free_memory_bytes(device) / 4;
  const std::int64_t link_words = std::min<std::int64_t>((quick ? 16 : 64) << 20, free_words / 8);
  measure_link(limits, repeats, link_words, stream);
  measure_device_copy(limits, repeats, std::min<std::int64_t>((quick ? 64 : 512) << 20, free_words / 4), stream);
  const int rounds = quick ? 512 : 4096;
  measure_texture(limits, gpu, repeats, rounds, stream);
  measure_device_multiply_adds(limits, gpu, repeats, 4 * rounds, stream);
}

}  // namespace lepus::measure
