// SPDX-License-Identifier: Apache-2.0
// The four filters as steps: slabs with radius x iterations slices around them in 3-D, borders at the volume's own
// edges.
#include <algorithm>
#include <array>
#include <string_view>

#include "core/format.h"
#include "core/memory.h"
#include "scan/parameters.h"
#include "device/host/band_kernels/filter.h"
#include "device/host/band_kernels/transpose.h"
#include "post/filter_device.h"
#include "post/step.h"
#include "post/transpose.h"
#include <lepus/error.h>

namespace lepus::post {
namespace {

constexpr std::array<std::string_view, 4> filter_names{"box", "gaussian", "median", "bilateral"};
constexpr std::array<std::string_view, 6> border_names{"keep", "zero", "partial", "wrap", "mirror", "clamp"};

template <std::size_t n>
int place_of(const std::array<std::string_view, n>& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

FilterOptions options_of(const PostSpec& spec) {
  FilterOptions options;
  options.kind = static_cast<FilterKind>(place_of(filter_names, spec.step.kind));
  const int border = place_of(border_names, text_of(spec.step, "border"));
  if (border < 0)
    refuse_step(spec, format("there is no border '{}'", text_of(spec.step, "border")), "",
                "write keep, zero, partial, wrap, mirror or clamp");
  options.border = static_cast<FilterBorder>(border);
  options.radius = integer_of(spec.step, "radius");
  options.dimensions = static_cast<int>(integer_of(spec.step, "dimensions"));
  options.iterations = static_cast<int>(integer_of(spec.step, "iterations"));
  if (options.kind == FilterKind::gaussian || options.kind == FilterKind::bilateral)
    options.sigma = number_of(spec.step, "sigma");
  return options;
}

class FilterStep final : public Step {
public:
  FilterStep(const PostSpec& spec, const VolumeFacts& before, FilterDevice* device)
      : spec_(spec), grid_(before.grid), options_(options_of(spec)), device_(device) {
    if (options_.kind == FilterKind::bilateral) {
      separate_ = flag_of(spec.step, "separate");
      if (separate_ && options_.dimensions != 2)
        refuse_step(spec, "separate directions are for slices", "", "add dimensions=2");
      share_ = number_of(spec.step, "sigma_value");
      if (spec.step.parameters.contains("value_range"))
        options_.sigma_value = share_ * number_of(spec.step, "value_range");
      else
        measured_ = true;
    }
    if (separate_) options_.dimensions = 1;
    try {
      check_filter(options_, grid_.nx, grid_.ny, grid_.nz);
      if (separate_) check_filter(options_, grid_.ny, grid_.nx, grid_.nz);
    } catch (const Error& error) {
      refuse_step(spec, error.parts().what, error.parts().why, error.parts().hint);
    }
  }

  SliceRange slices_needed(SliceRange wanted) const override {
    return options_.dimensions == 3 ? needed_along(options_, wanted, grid_.nz) : wanted;
  }
  bool is_costly() const override { return true; }
  bool needs_output() const override { return true; }

  std::int64_t scratch_bytes(std::int64_t slices_in, int threads) const override {
    Planes in = planes(nullptr, separate_ ? 1 : slices_in);
    const std::int64_t three_slices = 3 * in.plane_stride * static_cast<std::int64_t>(sizeof(float));
    return filter_scratch_bytes(in, options_, threads) + (separate_ ? three_slices : 0);
  }

  bool needs_percentiles() const override { return measured_; }
  void prepare(const Percentiles& before) override {
    if (!measured_) return;
    const std::vector<double> ends = before({0.5, 99.5});
    if (!(ends.at(1) > ends.at(0)))
      refuse_step(spec_, "nearly all voxels have the same value", "no range can be taken from them",
                  "give value_range in the volume's unit");
    options_.sigma_value = share_ * (ends[1] - ends[0]);
  }

  void apply(const Slab& in, const Slab& out, ThreadPool& threads) override {
    const Planes from = planes(in.data, in.slices.size()), to = planes(out.data, out.slices.size());
    const RowBand rows{0, grid_.ny};
    const FilterCut cut{rows, rows, grid_.ny, in.slices, out.slices, grid_.nz};
    if (separate_)
      device_ ? device_->filter_separately(from, to, options_) : filter_separately(from, to, threads);
    else
      device_ ? device_->filter(from, to, options_, cut) : filter(from, to, options_, cut, threads);
  }

  std::string summary() const override {
    std::string text =
        format("{} filter of radius {} in {}-D", spec_.step.kind, options_.radius, separate_ ? 2 : options_.dimensions);
    if (separate_) text += ", along x, then y";
    if (options_.kind == FilterKind::bilateral) text += format(", sigma {:.6g} in value", options_.sigma_value);
    return options_.iterations > 1 ? text + format(", {} times", options_.iterations) : text;
  }

private:
  Planes planes(float* data, std::int64_t count) const {
    return {data, grid_.nx, grid_.ny, grid_.nx, count, grid_.nx * grid_.ny};
  }

  // A slice at a time: what lies between the directions stays small.
  void filter_separately(const Planes& from, const Planes& to, ThreadPool& threads) const {
    FilterOptions once = options_;
    once.iterations = 1;
    Buffer<float> a(from.plane_stride), b(from.plane_stride), c(from.plane_stride);
    const Planes filtered = planes(a.data(), 1), turned = turned_planes(filtered, b.data());
    const Planes turned_filtered = turned_planes(filtered, c.data());
    for (std::int64_t z = 0; z < from.count; ++z) {
      const Planes in = planes(from.row(z, 0), 1), out = planes(to.row(z, 0), 1);
      for (int i = 0; i < options_.iterations; ++i) {
        filter(i == 0 ? in : out, filtered, once, threads);
        host::transpose(filtered, turned, threads);
        filter(turned, turned_filtered, once, threads);
        host::transpose(turned_filtered, out, threads);
      }
    }
  }

  PostSpec spec_;
  VolumeGrid grid_;
  FilterOptions options_;
  FilterDevice* device_;
  bool separate_ = false, measured_ = false;
  double share_ = 0;
};

}  // namespace

bool is_filter(const std::string& kind) { return place_of(filter_names, kind) >= 0; }

std::unique_ptr<Step> make_filter_step(const PostSpec& spec, const VolumeFacts& before, FilterDevice* device) {
  return std::make_unique<FilterStep>(spec, before, device);
}

}  // namespace lepus::post
