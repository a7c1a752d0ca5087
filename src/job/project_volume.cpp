// SPDX-License-Identifier: Apache-2.0
#include "job/project_volume.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "core/format.h"
#include "core/memory.h"
#include "device/device.h"
#include "io/input_identity.h"
#include "io/volume_axes.h"
#include "job/line_integrals.h"
#include "job/projected_frames.h"
#include "preprocess/arc_resample.h"
#include "run/run_state.h"
#include <lepus/error.h>

namespace lepus {
namespace {

constexpr auto float_size = static_cast<std::int64_t>(sizeof(float));

Buffer<float> whole_volume(const VolumeReader& reader, std::int64_t memory_left) {
  const std::int64_t voxels = reader.grid().voxels();
  if (voxels * float_size > memory_left)
    throw Error(ErrorKind::memory, {.what = "the volume does not fit into the memory",
                                    .where = {},
                                    .why = format("it needs {}, {} are left", format_bytes(voxels * float_size),
                                                  format_bytes(std::max<std::int64_t>(0, memory_left))),
                                    .hint = "allow more with --memory, or project a smaller volume"});
  Buffer<float> volume(voxels);
  reader.read(0, reader.grid().nz, volume.data());
  for (std::int64_t i = 0; i < voxels; ++i)
    if (!std::isfinite(volume[i]))
      throw Error(ErrorKind::input, {.what = "a voxel is not a number",
                                     .where = format("voxel {}", i),
                                     .why = "its line integrals would not be numbers",
                                     .hint = "replace it, for example with lepus post"});
  return volume;
}

// As many views at a time as a share of the memory holds. They are what a crash costs, but fewer bytes than the volume,
// which a device may have to take once for them, gain little.
std::int64_t views_at_a_time(std::int64_t views, std::int64_t pixels, std::int64_t voxels, std::int64_t memory_left) {
  const std::int64_t enough = std::max(std::int64_t{1} << 28, voxels);
  return std::clamp<std::int64_t>(std::min(memory_left / 4 / (2 * float_size), enough) / pixels, 1, views);
}

// What must be the same for views that are there to be those of this run.
std::vector<JournalFact> facts_of_projection(const std::filesystem::path& volume, const Scan& scan,
                                             const VolumeProjectionOptions& options, const Operator& computes) {
  // Without --against its frames are not read.
  std::vector<JournalFact> facts = options.against ? facts_of(scan) : facts_without_frames(scan);
  facts.push_back(volume_fact(volume));
  // How many devices, and of how many threads, changes no pixel: they stand at the end.
  const std::string kernel = computes.description();
  facts.push_back(
      {"what computes", format("{}, {}", computes.devices().front().kind, kernel.substr(0, kernel.rfind("; ")))});
  facts.push_back({"--against", options.against ? "given" : "not given"});
  return facts;
}

double squared(const std::vector<float>& values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value) * value;
  return sum;
}

// A view of the flat detector that the matrices describe -> a frame of the one that records.
class FrameMaker {
public:
  explicit FrameMaker(const ScanGeometry& geometry) : rows_(geometry.rows), columns_(geometry.columns) {
    if (!geometry.recorded_on_arc) return;
    arc_.emplace(geometry, ArcResampler::Onto::arc);
    rows_ = geometry.recorded_on_arc->rows;
    columns_ = geometry.recorded_on_arc->columns;
  }
  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  std::int64_t pixels() const { return rows_ * columns_; }
  void operator()(std::int64_t view, std::span<const float> flat, float* frame) const {
    if (!arc_) return void(std::ranges::copy(flat, frame));
    const RowBand all{0, rows_};
    const std::int64_t width = arc_->map().columns;
    arc_->apply(view, all, flat.data() + arc_->recorded_rows(view, all).first * width, frame);
  }

private:
  std::int64_t rows_, columns_;
  std::optional<ArcResampler> arc_;
};

// measured: null where nothing is compared.
void project_missing(const Operator& scan_operator, const Buffer<float>& volume, LineIntegrals* measured,
                     const FrameMaker& make_frame, std::int64_t pixels, std::int64_t at_a_time, ProjectedFrames& out,
                     Context& context) {
  const std::vector<std::int64_t>& missing = out.missing();
  const auto wanted = static_cast<std::int64_t>(missing.size());
  std::vector<float> values, frame(static_cast<std::size_t>(make_frame.pixels())), seen(measured ? frame.size() : 0);
  context.progress.begin("projecting", wanted);
  for (std::int64_t first = 0; first < wanted; first += at_a_time) {
    context.cancel.check();
    const std::vector<std::int64_t> views(missing.begin() + first,
                                          missing.begin() + std::min(first + at_a_time, wanted));
    values.resize(views.size() * static_cast<std::size_t>(pixels));
    scan_operator.subset(views).forward({volume.data(), static_cast<std::size_t>(volume.size())}, values);
    for (std::size_t i = 0; i < views.size(); ++i) {
      const auto per_view = static_cast<std::size_t>(pixels);
      make_frame(views[i], std::span(values).subspan(i * per_view, per_view), frame.data());
      ProjectedFrames::Sums sums;
      sums.projected = squared(frame);
      if (measured) {
        measured->recorded_view(views[i], seen);
        sums.measured = squared(seen);
        for (std::size_t k = 0; k < frame.size(); ++k) frame[k] -= seen[k];
        sums.residual = squared(frame);
      }
      out.write(views[i], frame.data(), sums);
      context.progress.advance();
    }
  }
  context.progress.end();
}

}  // namespace

VolumeProjectionReport project_volume(const std::filesystem::path& volume_file, const Scan& scan,
                                      const std::filesystem::path& frames, const VolumeProjectionOptions& options,
                                      Context& context) {
  const auto start = std::chrono::steady_clock::now();
  const auto reader = open_as_noted(volume_file);
  if (const std::string unit = reader->unit(); !unit.empty() && unit != "1/mm")
    context.progress.warning(format("the volume is in {}, not in 1/mm: so are its line integrals, times mm", unit));
  const std::int64_t limit = host_memory_limit(options.compute);
  const Buffer<float> volume = whole_volume(*reader, limit - resident_bytes());

  ReconstructOptions correcting;
  correcting.compute = options.compute;
  std::optional<LineIntegrals> measured;
  if (options.against) measured.emplace(scan, frames, correcting, context);
  const ScanGeometry geometry = without_arc(scan.geometry);
  const FrameMaker make_frame(scan.geometry);
  OperatorOptions operator_options;
  operator_options.model = options.model;
  operator_options.compute = options.compute;
  const Operator scan_operator(geometry, reader->grid(), operator_options);

  VolumeProjectionReport report{.views = geometry.views(),
                                .columns = make_frame.columns(),
                                .rows = make_frame.rows(),
                                .kernel = scan_operator.description()};
  const std::int64_t pixels = geometry.columns * geometry.rows;
  const std::int64_t at_a_time = views_at_a_time(report.views, pixels, volume.size(), limit - resident_bytes());
  ResumableRun run;
  run.header = {"project", facts_of_projection(volume_file, scan, options, scan_operator)};
  run.restart = options.restart;
  const VolumeGrid shape{
      .nx = report.columns, .ny = report.rows, .nz = report.views, .origin_mm = {}, .step_mm = {1, 1, 1}};
  ProjectedFrames out(frames, shape, options.call.force, run, context.progress);
  try {
    project_missing(scan_operator, volume, measured ? &*measured : nullptr, make_frame, pixels, at_a_time, out,
                    context);
    context.cancel.check();
    out.finish();
  } catch (const std::exception& exception) {
    throw out.ended_by(as_error(exception));
  }
  if (measured) {
    for (const auto& line : measured->finish()) context.progress.note(line);
    for (const auto& warning : measured->warnings()) context.progress.warning(warning);
  }
  const ProjectedFrames::Sums total = out.total();
  report.norm = total.projected;
  report.measured = total.measured;
  report.residual = total.residual;
  for (double* sum : {&report.norm, &report.measured, &report.residual}) *sum = std::sqrt(*sum);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

}  // namespace lepus
