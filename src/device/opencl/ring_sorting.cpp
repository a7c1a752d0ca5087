// SPDX-License-Identifier: Apache-2.0
// Removal by sorting, and its companions for dead, fluctuating and large stripes (combined).
#include <algorithm>
#include <initializer_list>
#include <optional>

#include "device/opencl/ring_methods.h"

namespace lepus::opencl {
namespace {

// Columns of sinograms are sorted over the views, as keys in local memory where a column fits it, by `kernel`.
void sort_columns(const Planes& s, const char* kernel, std::initializer_list<const void*> results, Queue& queue) {
  constexpr std::int64_t maximum_columns = 8;  // 32 bytes of a view
  constexpr std::int64_t keys_together = 4096, maximum_global_keys = std::int64_t{1} << 23;
  OpenclQueue& q = opencl_queue(queue);
  Context& context = q.context();
  const std::int64_t padded = power_of_two(s.height), local = sorting_memory(context);
  const bool in_local = padded * key_bytes <= local;
  std::int64_t columns = maximum_columns;
  while (in_local && columns > 1 && (columns * padded > keys_together || columns * padded * key_bytes > local))
    columns /= 2;
  const std::int64_t keys = columns * padded, groups = (s.width + columns - 1) / columns;
  // In global memory so many keys that the device is busy, for some columns of one sinogram after the other.
  const std::int64_t groups_at_once =
      in_local ? groups : std::clamp<std::int64_t>(maximum_global_keys / keys, 1, groups);
  const std::int64_t planes_together = in_local ? s.count : 1;
  const ScratchScope scope(queue);
  auto* const global_keys = in_local ? nullptr : queue.scratch<std::uint64_t>(groups_at_once * keys);
  for (std::int64_t plane = 0; plane < s.count; plane += planes_together)
    for (std::int64_t group = 0; group < groups; group += groups_at_once) {
      KernelCall call(context, sorting_program(context, "ring_sorting", !in_local), kernel);
      call.value(PlanesArgument(s)).memory(s.data);
      for (const void* const result : results) call.memory(result);
      call.value(static_cast<cl_int>(group * columns))
          .value(static_cast<cl_int>(plane))
          .value(static_cast<cl_int>(padded))
          .value(static_cast<cl_int>(columns));
      if (in_local)
        call.local(keys * key_bytes);
      else
        call.memory(global_keys);
      call.run(q.get(), {std::min(groups_at_once, groups - group), planes_together, 1},
               {sorting_items(context, keys / 2), 1, 1});
    }
}

// What a faulty column is found and mended with: [plane][column].
class FaultyColumns {
public:
  FaultyColumns(const Planes& sinograms, const RingOptions& options, Queue& queue)
      : s_(sinograms),
        options_(options),
        queue_(queue),
        q_(opencl_queue(queue)),
        padded_(power_of_two(s_.width)),
        in_local_(padded_ * key_bytes <= sorting_memory(q_.context())),
        flutter_(row_of_each()),
        around_(row_of_each()),
        list_(queue.scratch<double>(s_.count * s_.width)),
        masks_(queue.scratch<unsigned char>(s_.count * s_.width)),
        keys_(in_local_ ? nullptr : queue.scratch<std::uint64_t>(s_.count * padded_)) {}

  // Columns that flutter otherwise than their neighbours are bridged.
  void bridge() {
    sort_columns(s_, "find_flutter", {flutter_.data}, queue_);
    find_row_medians({.in = flutter_, .out = around_, .radius = options_.large_size / 2}, queue_);
    call("flutter_contrasts")
        .memory(flutter_.data)
        .memory(around_.data)
        .memory(list_)
        .value(static_cast<cl_int>(s_.width))
        .run(q_.get(), {s_.count, 1, 1}, group());
    mark();
    call("bridge_columns")
        .value(PlanesArgument(s_))
        .memory(s_.data)
        .memory(masks_)
        .run(q_.get(), along_columns(s_.width, s_.height, s_.count), columns_group);
  }

  // Columns whose sorted values lie off the smooth ones take these.
  void replace(const Planes& sorted, const Planes& smooth) {
    call("stripe_offsets")
        .value(PlanesArgument(sorted))
        .memory(sorted.data)
        .memory(smooth.data)
        .memory(list_)
        .value(static_cast<cl_int>(options_.relative))
        .run(q_.get(), along_columns(s_.width, 1, s_.count), columns_group);
    mark();
    call("replace_columns")
        .value(PlanesArgument(sorted))
        .memory(sorted.data)
        .memory(smooth.data)
        .memory(masks_)
        .run(q_.get(), along_columns(s_.width, s_.height, s_.count), columns_group);
  }

private:
  Planes row_of_each() { return packed_planes(s_, 1, s_.width, queue_); }
  KernelCall call(const char* kernel) {
    return {q_.context(), sorting_program(q_.context(), "ring_columns", !in_local_), kernel};
  }
  Sizes group() const { return {sorting_items(q_.context(), padded_ / 2), 1, 1}; }
  void mark() {
    KernelCall marking = call("mark_columns");
    marking.memory(list_)
        .memory(masks_)
        .value(static_cast<cl_int>(s_.width))
        .value(static_cast<cl_int>(padded_))
        .value(static_cast<cl_double>(options_.snr))
        .value(static_cast<cl_int>(options_.large_size / 2));
    if (in_local_)
      marking.local(padded_ * key_bytes);
    else
      marking.memory(keys_);
    marking.run(q_.get(), {s_.count, 1, 1}, group());
  }

  Planes s_;
  const RingOptions& options_;
  Queue& queue_;
  OpenclQueue& q_;
  std::int64_t padded_;
  bool in_local_;  // keys of a row
  Planes flutter_, around_;
  double* list_;
  unsigned char* masks_;
  std::uint64_t* keys_;
};

}  // namespace

void remove_rings_by_sorting(const Planes& sinograms, const RingOptions& options, Queue& queue) {
  const std::int64_t width = sinograms.width, height = sinograms.height;
  const std::int64_t group = planes_at_once(sinograms, width * height, queue);
  for (std::int64_t first = 0; first < sinograms.count; first += group) {
    const ScratchScope scope(queue);
    const Planes part = rings::part_of(sinograms, first, group);
    const Planes sorted = packed_planes(part, height, width, queue);
    auto* const views = queue.scratch<std::uint32_t>(part.count * width * height);
    std::optional<FaultyColumns> faulty;
    Planes smooth;
    if (options.method == RingMethod::combined) {
      faulty.emplace(part, options, queue);
      smooth = packed_planes(part, height, width, queue);
    }
    for (int i = 0; i < options.iterations; ++i) {
      if (faulty && height >= 3) faulty->bridge();
      sort_columns(part, "sort_columns", {sorted.data, views}, queue);
      if (faulty) {
        find_row_medians({.in = sorted, .out = smooth, .radius = options.large_size / 2}, queue);
        faulty->replace(sorted, smooth);
      }
      find_row_medians({.in = sorted, .out = part, .radius = options.small_size / 2, .views = views}, queue);
    }
  }
}

}  // namespace lepus::opencl
