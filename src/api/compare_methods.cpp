// SPDX-License-Identifier: Apache-2.0
#include "api/compare_methods.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "analysis/array_volume.h"
#include "analysis/panel.h"
#include "core/format.h"
#include "core/output_file.h"
#include "iterative/method.h"
#include "job/iterate_scan.h"
#include "job/line_integrals.h"
#include "job/method_input.h"
#include "job/automatic_center.h"
#include "job/warn_once.h"
#include "job/slab_scan.h"
#include "run/memory_io.h"
#include "run/reconstruct_scan.h"

namespace lepus {
namespace {

struct Tried {
  ComparedMethod numbers;
  std::vector<float> voxels;  // of the slab
};

MethodSettings settings_for(const std::string& name, const MethodSettings& all) {
  std::vector<std::string> of_others;
  MethodSettings settings = choices_for(name, all, of_others);
  settings.keeps_state = false;  // of several methods that follow each other it would not be known whose it is
  return settings;
}

double elapsed_s(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// |A x - b| / |b| for volumes of one slab and of what `extend` adds to it.
class Residual {
public:
  Residual(const Scan& scan, const std::filesystem::path& output, const ReconstructOptions& options, Context& context)
      : lines_(scan, output, options, context),
        operator_(lines_.geometry(), extended_grid(scan.grid, scan.method.extend).grid,
                  operator_options(scan, options)) {
    data_.resize(static_cast<std::size_t>(operator_.values()));
    const auto per_view = static_cast<std::size_t>(lines_.values_per_view());
    for (std::int64_t view = 0; view < lines_.geometry().views(); ++view)
      lines_.view(view, std::span(data_).subspan(static_cast<std::size_t>(view) * per_view, per_view));
  }
  double of(const std::vector<float>& voxels) const {
    std::vector<float> made(data_.size());
    operator_.forward(voxels, made);
    double left = 0, all = 0;
    for (std::size_t i = 0; i < made.size(); ++i) {
      left += std::pow(static_cast<double>(made[i]) - data_[i], 2);
      all += std::pow(static_cast<double>(data_[i]), 2);
    }
    return std::sqrt(left / std::max(1e-300, all));
  }

private:
  static OperatorOptions operator_options(const Scan& scan, const ReconstructOptions& options) {
    OperatorOptions choices;
    choices.model = ray_model(scan.method.model);
    choices.compute = options.compute;
    return choices;
  }
  LineIntegrals lines_;
  Operator operator_;
  std::vector<float> data_;
};

// copy(a row of the slab, its place in the extended one)
template <class Copy>
void each_row(const VolumeGrid& slab, const ExtendedGrid& extended, std::vector<float>& voxels, std::vector<float>& all,
              const Copy& copy) {
  for (std::int64_t z = 0; z < slab.nz; ++z)
    for (std::int64_t y = 0; y < slab.ny; ++y)
      copy(voxels.data() + (z * slab.ny + y) * slab.nx,
           all.data() + ((z + extended.z) * extended.grid.ny + y + extended.y) * extended.grid.nx + extended.x);
}

Tried run_method(const std::string& name, Scan scan, const std::filesystem::path& output,
                 const ReconstructOptions& options, const Residual& residual, Context& context) {
  const ExtendedGrid extended = extended_grid(scan.grid, scan.method.extend);
  Tried tried{.numbers = {.name = name}, .voxels = std::vector<float>(static_cast<std::size_t>(scan.grid.voxels()))};
  std::vector<float> all(static_cast<std::size_t>(extended.grid.voxels()));
  scan.method = settings_for(name, scan.method);
  scan.method.whole = scan.method.iterative() && !(extended.grid == scan.grid);
  scan.resolved = with_method(scan.resolved, scan.method);
  MemoryVolume volume(scan.method.whole ? extended.grid : scan.grid,
                      scan.method.whole ? all.data() : tried.voxels.data());
  const auto start = std::chrono::steady_clock::now();
  if (scan.method.iterative())
    iterate_scan(scan, &volume, output, options, context);
  else
    reconstruct_scan(scan, volume, output, options, context);
  tried.numbers.seconds = elapsed_s(start);
  each_row(scan.grid, extended, tried.voxels, all, [&](float* slab, float* wide) {
    scan.method.whole ? std::copy_n(wide, scan.grid.nx, slab) : std::copy_n(slab, scan.grid.nx, wide);
  });
  tried.numbers.residual = residual.of(all);
  return tried;
}

void save_panel(const std::vector<Tried>& all, const SlabScan& slab, const std::filesystem::path& picture,
                const ReconstructOptions& options, Context& context) {
  std::vector<PanelRow> rows;
  rows.reserve(all.size());
  std::vector<Slice> slices;
  slices.reserve(all.size());
  for (const Tried& tried : all)
    slices.push_back(extract_slices(ArrayVolume(slab.scan.grid, tried.voxels), {{Axis::z, slab.middle}},
                                    options.compute.memory_bytes, context)
                         .front());
  const GreyWindow window = percentile_window({slices.front()}, 0.5, 99.5);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& [name, seconds, residual] = all[i].numbers;
    rows.push_back({.label = format("{}: {:.1f} s, residual {:.3g}", name, seconds, residual),
                    .slices = {slices[i]},
                    .window = window});
  }
  save_png(draw_panel(rows, {.title = format("slice {} of a slab of {}", slab.middle, slab.scan.grid.nz)}), picture,
           options.force);
}

}  // namespace

MethodComparison compare_methods(const Scan& scan, const std::filesystem::path& picture,
                                 const std::vector<std::string>& names, const ReconstructOptions& options,
                                 Context& outer) {
  if (picture.extension() != ".png")
    throw Error(ErrorKind::usage, {.what = format("a comparison in {}", picture.string()),
                                   .where = "option --output",
                                   .why = "methods are compared in a picture",
                                   .hint = "give for example -o methods.png"});
  for (const std::string& name : names)
    if (name != "fdk") method_options(settings_for(name, scan.method), scan.geometry.views(), 0);
  const OutputLock lock = reserve_output(picture, options.force, outer.progress);
  WarnOnce once(outer.progress);
  Context context{outer.threads, outer.cancel, once};
  SlabScan slab = middle_slab(scan);
  center_automatically(slab.scan, context);
  const Residual residual(slab.scan, picture, options, context);
  std::vector<Tried> all;
  for (const std::string& name : names) all.push_back(run_method(name, slab.scan, picture, options, residual, context));
  save_panel(all, slab, picture, options, context);
  MethodComparison report{picture, slab.middle, slab.scan.grid.nz, slab.scan.geometry.rows, {}};
  for (const Tried& tried : all) report.methods.push_back(tried.numbers);
  return report;
}

}  // namespace lepus
