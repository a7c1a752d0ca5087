// SPDX-License-Identifier: Apache-2.0
// The steps that look at one voxel at a time: masks, thresholds, units, crop, integers. They run on the CPU while the
// volume streams by: reading and writing it takes longer.
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/format.h"
#include "scan/parameters.h"
#include "post/step.h"
#include <lepus/error.h>

namespace lepus::post {
namespace {

bool given(const PostSpec& spec, const std::string& name) { return spec.step.parameters.contains(name); }

class RingMask final : public Step {
public:
  RingMask(const PostSpec& spec, const VolumeFacts& before)
      : grid_(before.grid),
        x_(number_of(spec.step, "center_x_mm")),
        y_(number_of(spec.step, "center_y_mm")),
        value_(static_cast<float>(number_of(spec.step, "value"))) {
    const double fits = std::min(distance_to_edge(grid_.origin_mm.x, grid_.step_mm.x, grid_.nx, x_),
                                 distance_to_edge(grid_.origin_mm.y, grid_.step_mm.y, grid_.ny, y_));
    radius_ = given(spec, "radius_mm") ? number_of(spec.step, "radius_mm") : fits;
    if (!(radius_ > 0))
      refuse_step(spec, "no circle about the axis fits into the slices",
                  format("({:g}, {:g}) mm lies outside them", x_, y_), "give radius_mm, or another centre");
  }

  void apply(const Slab& in, const Slab&, ThreadPool& threads) override {
    each_row(in, grid_, threads, [this](std::int64_t, std::int64_t y, float* values) {
      for (std::int64_t x = 0; x < grid_.nx; ++x) {
        const Vec3 p = grid_.centre(static_cast<double>(x), static_cast<double>(y), 0);
        const double dx = p.x - x_, dy = p.y - y_;
        if (!(dx * dx + dy * dy <= radius_ * radius_)) values[x] = value_;
      }
    });
  }

  std::string summary() const override {
    return format("voxels more than {:.6g} mm from ({:g}, {:g}) mm became {:g}", radius_, x_, y_, value_);
  }

private:
  // From a point to the nearer outer edge of n voxels.
  static double distance_to_edge(double origin, double step, std::int64_t n, double at) {
    const double one = origin - step / 2, other = origin + (static_cast<double>(n) - 0.5) * step;
    return std::min(at - std::min(one, other), std::max(one, other) - at);
  }

  VolumeGrid grid_;
  double x_, y_, radius_ = 0;
  float value_;
};

// Calls a function for every value.
template <class Function>
class Pointwise final : public Step {
public:
  Pointwise(const VolumeFacts& before, Function function, std::string summary)
      : grid_(before.grid), function_(std::move(function)), summary_(std::move(summary)) {}

  void apply(const Slab& in, const Slab&, ThreadPool& threads) override {
    each_row(in, grid_, threads, [this](std::int64_t, std::int64_t, float* values) {
      std::transform(values, values + grid_.nx, values, function_);
    });
  }
  std::string summary() const override { return summary_; }

private:
  VolumeGrid grid_;
  Function function_;
  std::string summary_;
};

template <class Function>
std::unique_ptr<Step> pointwise(const VolumeFacts& before, Function function, std::string summary) {
  return std::make_unique<Pointwise<Function>>(before, std::move(function), std::move(summary));
}

std::unique_ptr<Step> make_air(const PostSpec& spec, const VolumeFacts& before) {
  const double threshold = number_of(spec.step, "threshold");
  const auto limit = static_cast<float>(threshold), value = static_cast<float>(number_of(spec.step, "value"));
  return pointwise(
      before, [=](float v) { return v < limit ? value : v; },
      format("voxels below {:.6g} became {:g}", threshold, value));
}

std::unique_ptr<Step> make_finite(const PostSpec& spec, const VolumeFacts& before) {
  const auto value = static_cast<float>(number_of(spec.step, "value"));
  return pointwise(
      before, [=](float v) { return std::isfinite(v) ? v : value; },
      format("voxels that were not finite numbers became {:g}", value));
}

class HounsfieldUnits final : public Step {
public:
  HounsfieldUnits(const PostSpec& spec, const VolumeFacts& before)
      : grid_(before.grid), water_(number_of(spec.step, "water")), air_(number_of(spec.step, "air")) {
    if (before.unit == "HU")
      refuse_step(spec, "the volume is in Hounsfield units already", "its file or an earlier step says so",
                  "leave this step out");
    if (!before.unit.empty() && before.unit != "1/mm")
      refuse_step(spec, format("the volume is in {}", before.unit), "Hounsfield units are made of attenuations in 1/mm",
                  "take the volume before it was scaled");
    if (!(water_ > air_))
      refuse_step(spec, format("water is {:g} and air {:g}", water_, air_), "water must be above air",
                  "measure both in the volume; water is about 0.02 per mm");
  }

  VolumeFacts after(const VolumeFacts& before) const override { return {before.grid, "HU", before.type}; }
  void apply(const Slab& in, const Slab&, ThreadPool& threads) override {
    const double scale = 1000 / (water_ - air_);
    each_row(in, grid_, threads, [&](std::int64_t, std::int64_t, float* values) {
      for (std::int64_t x = 0; x < grid_.nx; ++x)
        values[x] = static_cast<float>((static_cast<double>(values[x]) - water_) * scale);
    });
  }
  std::string summary() const override {
    return format("Hounsfield units with water {:.6g} and air {:.6g}", water_, air_);
  }

private:
  VolumeGrid grid_;
  double water_, air_;
};

class Crop final : public Step {
public:
  Crop(const PostSpec& spec, const VolumeFacts& before) : whole_(before.grid), part_(before.grid) {
    x_ = range(spec, "x", whole_.nx);
    y_ = range(spec, "y", whole_.ny);
    z_ = range(spec, "z", whole_.nz);
    part_.nx = x_.size();
    part_.ny = y_.size();
    part_.nz = z_.size();
    part_.origin_mm =
        whole_.centre(static_cast<double>(x_.first), static_cast<double>(y_.first), static_cast<double>(z_.first));
  }

  VolumeFacts after(const VolumeFacts& before) const override { return {part_, before.unit, before.type}; }
  SliceRange slices_needed(SliceRange wanted) const override {
    return {wanted.first + z_.first, wanted.last + z_.first};
  }
  bool needs_output() const override { return part_.nx != whole_.nx || part_.ny != whole_.ny; }
  void apply(const Slab& in, const Slab& out, ThreadPool& threads) override {
    if (!needs_output()) return;
    each_row(out, part_, threads, [&](std::int64_t z, std::int64_t y, float* values) {
      std::copy_n(in.data + (z * whole_.ny + y_.first + y) * whole_.nx + x_.first, part_.nx, values);
    });
  }
  std::string summary() const override {
    return format("voxels {} to {}, {} to {} and slices {} to {}", x_.first, x_.last - 1, y_.first, y_.last - 1,
                  z_.first, z_.last - 1);
  }

private:
  static RowBand range(const PostSpec& spec, const std::string& name, std::int64_t n) {
    if (!given(spec, name)) return {0, n};
    const std::vector<double> ends = numbers_of(spec.step, name);
    const auto first = static_cast<std::int64_t>(ends.at(0)), last = static_cast<std::int64_t>(ends.at(1));
    if (first < 0 || first >= last || last > n)
      refuse_step(spec, format("{} = {},{} is no part of the volume", name, first, last),
                  format("it has {} voxels along {}", n, name),
                  format("give the first voxel and the one after the last, at most {}=0,{}", name, n));
    return {first, last};
  }

  VolumeGrid whole_, part_;
  RowBand x_, y_, z_;
};

class Rescale final : public Step {
public:
  Rescale(const PostSpec& spec, const VolumeFacts& before)
      : spec_(spec),
        grid_(before.grid),
        bits_(integer_of(spec.step, "bits")),
        percents_{number_of(spec.step, "low"), number_of(spec.step, "high")} {
    if (bits_ != 8 && bits_ != 16) refuse_step(spec, format("integers of {} bits", bits_), "", "write bits=8 or 16");
    if (given(spec, "low_value")) low_ = number_of(spec.step, "low_value");
    if (given(spec, "high_value")) high_ = number_of(spec.step, "high_value");
    if (needs_percentiles() && !(percents_[0] < percents_[1]))
      refuse_step(spec, format("low = {:g} and high = {:g}", percents_[0], percents_[1]), "low must be below high",
                  "for example low=0.1 high=99.9");
    if (!needs_percentiles()) check_range();
  }

  VolumeFacts after(const VolumeFacts& before) const override {
    return {before.grid, "grey levels", bits_ == 8 ? PixelType::u8 : PixelType::u16};
  }
  bool needs_percentiles() const override { return !given(spec_, "low_value") || !given(spec_, "high_value"); }
  void prepare(const Percentiles& before) override {
    if (!needs_percentiles()) return;
    const std::vector<double> ends = before(percents_);
    if (!given(spec_, "low_value")) low_ = ends.at(0);
    if (!given(spec_, "high_value")) high_ = ends.at(1);
    check_range();
  }
  void apply(const Slab& in, const Slab&, ThreadPool& threads) override {
    const double most = largest(), scale = most / (high_ - low_);
    each_row(in, grid_, threads, [&](std::int64_t, std::int64_t, float* values) {
      for (std::int64_t x = 0; x < grid_.nx; ++x)
        values[x] = static_cast<float>(
            std::clamp(std::floor((static_cast<double>(values[x]) - low_) * scale + 0.5), 0.0, most));
    });
  }
  std::string summary() const override {
    return format("0 to {:.0f} are values from {:.9g} to {:.9g}", largest(), low_, high_);
  }

private:
  double largest() const { return bits_ == 8 ? 255 : 65535; }
  void check_range() const {
    if (!(high_ > low_))
      refuse_step(spec_, "the range of the values is empty", format("it goes from {:g} to {:g}", low_, high_),
                  "give low_value and high_value, or percentiles farther apart");
  }

  PostSpec spec_;
  VolumeGrid grid_;
  std::int64_t bits_;
  std::vector<double> percents_;
  double low_ = 0, high_ = 0;
};

}  // namespace

void refuse_step(const PostSpec& spec, std::string what, std::string why, std::string hint) {
  throw Error(ErrorKind::usage,
              {.what = std::move(what), .where = spec.where, .why = std::move(why), .hint = std::move(hint)});
}

void each_row(const Slab& slab, const VolumeGrid& grid, ThreadPool& threads,
              const std::function<void(std::int64_t, std::int64_t, float*)>& body) {
  threads.parallel_for(0, slab.slices.size() * grid.ny, 64, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row) body(row / grid.ny, row % grid.ny, slab.data + row * grid.nx);
  });
}

std::vector<PostSpec> expanded(const PostSpec& spec) {
  if (spec.step.kind != "hardening") return {spec};
  const auto part = [&](const std::string& kind, const std::vector<std::string>& taken,
                        std::map<std::string, ParameterValue> more) {
    for (const std::string& name : taken)
      if (given(spec, name)) more[name] = spec.step.parameters.at(name);
    PostSpec result = spec;
    result.step.kind = kind;
    result.step.parameters = std::move(more);
    return result;
  };
  return {part("ring-mask", {"radius_mm", "value"}, {{"center_x_mm", 0.0}, {"center_y_mm", 0.0}}),
          part("air", {"threshold", "value"}, {}),
          part("bilateral", {"radius", "sigma", "sigma_value", "value_range", "iterations"},
               {{"dimensions", std::int64_t{2}}, {"separate", true}, {"border", std::string("keep")}})};
}

std::unique_ptr<Step> make_step(const PostSpec& spec, const VolumeFacts& before, FilterDevice* device) {
  const std::string& kind = spec.step.kind;
  if (before.type != PixelType::f32)
    refuse_step(spec, "nothing can follow rescale", "its integers are what is written", "move rescale to the end");
  if (is_filter(kind)) return make_filter_step(spec, before, device);
  if (kind == "ring-mask") return std::make_unique<RingMask>(spec, before);
  if (kind == "air") return make_air(spec, before);
  if (kind == "finite") return make_finite(spec, before);
  if (kind == "hu") return std::make_unique<HounsfieldUnits>(spec, before);
  if (kind == "crop") return std::make_unique<Crop>(spec, before);
  if (kind == "rescale") return std::make_unique<Rescale>(spec, before);
  refuse_step(spec, format("there is no step '{}'", kind), "", "'lepus post --help' lists the steps");
}

}  // namespace lepus::post
