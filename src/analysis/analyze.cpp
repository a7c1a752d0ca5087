// SPDX-License-Identifier: Apache-2.0
#include "analysis/analyze.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "analysis/result_json.h"
#include "analysis/staged.h"
#include "analysis/value_slices.h"
#include "analysis/value_sums.h"
#include "core/format.h"
#include "io/stack.h"
#include <lepus/error.h>

namespace lepus::analysis {
namespace {

constexpr std::int64_t cells_along_longest = 16;

std::string text_of(const std::vector<double>& thresholds) {
  std::string text;
  for (const double t : thresholds) text += (text.empty() ? "" : ", ") + format("{:g}", t);
  return text.empty() ? "local" : text;
}

void require_both(const Analysis& a) {
  if (a.phase_inside > 0 && a.phase_inside < a.inside) return;
  const bool none = a.phase_inside == 0;
  throw Error(ErrorKind::input, {.what = none ? "the threshold selects nothing" : "the threshold selects everything",
                                 .where = format("threshold {}", text_of(a.phase->thresholds)),
                                 .why = format("{} of {} voxels belong to the phase; the values go from {:g} to {:g}",
                                               none ? "none" : "all", a.inside, a.survey.smallest, a.survey.largest),
                                 .hint = "choose another threshold or --phase; the histogram of `lepus info` helps"});
}

// Labels of at most 32 bits, slice by slice; io's writers of volumes take floats, which hold 24. Only those of `blobs`.
void write_labels(const LabelSource& labels, const std::vector<Blob>& blobs, const VolumeReader& volume,
                  const std::filesystem::path& path, const std::string& provenance) {
  std::vector<Label> kept(static_cast<std::size_t>(labels.count()) + 1, 0);
  for (const Blob& blob : blobs) kept[blob.label] = blob.label;
  StackTarget target;
  target.path = path;
  const VolumeGrid& grid = volume.grid();
  target.shape = {.columns = grid.nx, .rows = grid.ny, .images = grid.nz, .type = PixelType::u32};
  target.text = {.grid = grid, .unit = "label"};
  const auto writer = create_meta_image(target, default_provenance_room);
  Buffer<Label> out(grid.nx * grid.ny);
  labels.each_slice_in_order([&](int, std::int64_t z, const Label* slice) {
    for (std::int64_t i = 0; i < out.size(); ++i) out[i] = kept[slice[i]];
    writer->write(z, 1, out.data());
  });
  writer->finish(provenance);
}

// Bits as a volume of values: 0 outside, 1 inside, 2 in the phase.
class PhaseReader final : public VolumeReader {
public:
  PhaseReader(const BitVolume& phase, const BitVolume& inside, const VolumeGrid& grid)
      : phase_(phase), inside_(inside), grid_(grid), words_(2 * phase.slice_words()) {}
  const VolumeGrid& grid() const override { return grid_; }
  std::string format() const override { return "bits"; }
  std::string pixel_type() const override { return "uint8"; }
  std::string provenance() const override { return {}; }
  void read(std::int64_t z0, std::int64_t z1, float* out) const override {
    const std::int64_t row = phase_.row_words();
    for (std::int64_t z = z0; z < z1; ++z) {
      const Word* const in = inside_.slice(z, words_.data());
      const Word* const ph = phase_.slice(z, words_.data() + phase_.slice_words());
      for (std::int64_t y = 0; y < grid_.ny; ++y)
        for (std::int64_t x = 0; x < grid_.nx; ++x)
          *out++ = static_cast<float>((bit_at(in + y * row, x) ? 1 : 0) + (bit_at(ph + y * row, x) ? 1 : 0));
    }
  }

private:
  const BitVolume &phase_, &inside_;
  VolumeGrid grid_;
  mutable Buffer<Word> words_;  // read by one thread only
};

bool write_phase(const PhaseReader& phase, const AnalysisOptions& options) {
  const VolumeGrid& grid = phase.grid();
  const auto writer = create_volume(
      options.phase_map, grid,
      {.force = true, .unit = "0 outside, 1 inside, 2 phase", .provenance_room = 0, .type = PixelType::u8});
  Buffer<float> slice(grid.nx * grid.ny);
  for (std::int64_t z = 0; z < grid.nz; ++z) {
    phase.read(z, z + 1, slice.data());
    writer->write(z, z + 1, slice.data());
  }
  writer->finish(options.provenance);
  return true;
}

// From every voxel of the phase to the nearest one that is not, centre to centre, in mm.
template <class T>
bool write_distances(const BitVolume& phase, const SquaredSteps<T>& steps, const VoxelShape& shape,
                     const VolumeGrid& grid, const AnalysisOptions& options, WorkMemory& memory, Context& context) {
  const DistanceVolume<T> distances(phase, steps, memory, context);
  const auto writer = create_volume(options.distance_map, grid, {.force = true, .unit = "mm"});
  Buffer<T> buffer(distances.slice_size());
  Buffer<float> slice(distances.slice_size());
  for (std::int64_t z = 0; z < grid.nz; ++z) {
    const T* const squared = distances.slice(z, buffer.data());
    for (std::int64_t i = 0; i < distances.slice_size(); ++i)
      slice[i] = static_cast<float>(std::sqrt(static_cast<double>(squared[i])) * shape.edge_mm);
    writer->write(z, z + 1, slice.data());
  }
  writer->finish(options.provenance);
  return true;
}

// The share of the phase in every cell; NaN where a cell has no voxel of the region.
void write_map(const CellCounts& cells, const VolumeReader& volume, const AnalysisOptions& options) {
  const VolumeGrid& grid = volume.grid();
  VolumeGrid coarse{cells.nx, cells.ny, cells.nz, {}, {}};
  const auto edge = static_cast<double>(cells.edge);
  coarse.step_mm = grid.step_mm * edge;
  coarse.origin_mm = grid.centre((edge - 1) / 2, (edge - 1) / 2, (edge - 1) / 2);
  std::vector<float> values;
  for (std::size_t i = 0; i < cells.inside.size(); ++i)
    values.push_back(static_cast<float>(static_cast<double>(cells.phase[i]) / static_cast<double>(cells.inside[i])));
  const auto writer = create_volume(options.map, coarse, {.force = true, .unit = "share of the phase"});
  writer->write(0, coarse.nz, values.data());
  writer->finish(options.provenance);
}

SampleReport find_sample(const VolumeReader& volume, const AnalysisOptions& options, const VoxelShape& shape,
                         const Survey& looked, const PhaseResult& found, const BitVolume& phase, BitVolume& inside,
                         WorkMemory& memory, Context& context) {
  context.progress.note("taking away what surrounds the sample");
  if (is_darkest(options.phase) && looked.not_finite == 0)
    return remove_surroundings(options.sample, phase, shape, inside, memory, context);
  BitVolume air(memory, phase.size());
  find_air(volume, options.threshold, options.phase, found, phase, air, memory, context);
  return remove_surroundings(options.sample, air, shape, inside, memory, context);
}

// What the stages give; see Analysis.
struct Looked {
  Survey survey;
  Histogram histogram;
};
struct Phased {
  PhaseResult phase;
  std::optional<SampleReport> sample;
  std::int64_t inside = 0, phase_inside = 0;
};
struct PhaseValues {
  ValueStatistics phase, rest;
};
struct Measured {
  std::optional<Porosity> porosity;
  std::vector<Blob> blobs;
  std::int64_t components = 0, left_out = 0, left_out_voxels = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Looked, survey, histogram)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Phased, phase, sample, inside, phase_inside)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PhaseValues, phase, rest)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Measured, porosity, blobs, components, left_out, left_out_voxels)

Phased make_phase(const VolumeReader& volume, const AnalysisOptions& options, const VoxelShape& shape,
                  const Looked& looked, BitVolume& phase, BitVolume& inside, WorkMemory& memory, Context& context) {
  Phased result;
  result.phase =
      find_phase(volume, options.threshold, options.phase, looked.histogram, looked.survey, phase, memory, context);
  if (options.sample.any())
    result.sample = find_sample(volume, options, shape, looked.survey, result.phase, phase, inside, memory, context);
  for (const MorphologyStep& step : options.clean) apply(step, shape, phase, memory, context, options.device);
  intersect(phase, inside, context);
  result.inside = inside.count(context);
  result.phase_inside = phase.count(context);
  return result;
}

// The values of the phase and of the rest of the region.
PhaseValues measure_values(const VolumeReader& volume, const BitVolume& phase, const BitVolume& inside,
                           const Survey& looked, WorkMemory& memory, Context& context) {
  const ValueScale scale(looked);
  const int workers = context.threads.size();
  WorkerSlices phase_words(phase, workers), inside_words(inside, workers);
  std::vector<std::array<ValueSums, 2>> sums(static_cast<std::size_t>(workers));
  const VolumeSize& size = phase.size();
  each_value_slice(volume, "values", memory, context, [&](std::int64_t z, const float* values, int worker) {
    const Word *const ph = phase.slice(z, phase_words[worker]), *const in = inside.slice(z, inside_words[worker]);
    auto& own = sums[static_cast<std::size_t>(worker)];
    for (std::int64_t y = 0; y < size.ny; ++y) {
      const Word* const row = ph + y * phase.row_words();
      each_run(in + y * phase.row_words(), phase.row_words(), [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t x = first; x < last; ++x)
          own[bit_at(row, x) ? 0 : 1].add(scale.level(values[y * size.nx + x]));
      });
    }
  });
  for (std::size_t w = 1; w < sums.size(); ++w)
    for (std::size_t i = 0; i < 2; ++i) sums[0][i].add(sums[w][i]);
  const auto statistics = [&](const ValueSums& s) {
    return ValueStatistics{s.count(), s.mean(scale), s.spread(scale)};
  };
  return {statistics(sums[0][0]), statistics(sums[0][1])};
}

Measured measure(const VolumeReader& volume, const AnalysisOptions& options, const VoxelShape& shape,
                 const BitVolume& phase, const BitVolume& inside, const Survey& looked, WorkMemory& memory,
                 Context& context) {
  Measured result;
  Components components(phase, options.connectivity, memory, context);
  result.components = components.count();
  const auto touched = border_touching(components, inside, context);
  if (options.porosity) {
    const VolumeSize& size = phase.size();
    const std::int64_t longest = std::max({size.nx, size.ny, size.nz});
    const std::int64_t cell =
        options.cell > 0 ? options.cell : std::max<std::int64_t>(1, longest / cells_along_longest);
    result.porosity = measure_porosity(phase, inside, components, touched, cell, context);
    if (!options.map.empty()) write_map(result.porosity->cells, volume, options);
  }
  if (!options.blobs) return result;

  std::vector<std::uint8_t> keep(components.voxels().size(), 1), open;
  for (std::size_t i = 1; i < keep.size(); ++i) {
    const std::int64_t voxels = components.voxels()[i];
    // Parted blobs are judged after they are parted.
    const bool fits = options.part_depth || (voxels >= options.minimum_voxels &&
                                             (options.maximum_voxels == 0 || voxels <= options.maximum_voxels) &&
                                             !(options.closed_only && touched[i] != 0));
    keep[i] = fits ? 1 : 0;
    if (fits) {
      open.push_back(touched[i]);
    } else {
      ++result.left_out;
      result.left_out_voxels += voxels;
    }
  }
  components.drop(keep);
  if (options.part_depth) {
    const ArrayLabels parted =
        part_blobs(phase, shape.steps, shape.cubes,
                   {.connectivity = options.connectivity, .depth = *options.part_depth}, memory, context);
    result.blobs = measure_blobs(parted, volume, looked, memory, context);
    std::erase_if(result.blobs, [&](const Blob& b) {
      const bool out =
          b.voxels < options.minimum_voxels || (options.maximum_voxels > 0 && b.voxels > options.maximum_voxels);
      result.left_out += out ? 1 : 0;
      result.left_out_voxels += out ? b.voxels : 0;
      return out;
    });
    if (!options.labels.empty()) write_labels(parted, result.blobs, volume, options.labels, options.provenance);
  } else {
    const ComponentLabels labels(components);
    result.blobs = measure_blobs(labels, volume, looked, memory, context);
    for (std::size_t i = 0; i < result.blobs.size(); ++i) result.blobs[i].open = open[i] != 0;
    if (!options.labels.empty()) write_labels(labels, result.blobs, volume, options.labels, options.provenance);
  }
  sort_blobs(result.blobs, options.sort);
  return result;
}

std::int64_t stages_of(const AnalysisOptions& options) {
  std::int64_t stages = 1;
  for (const bool asked : {options.noise.has_value(), options.resolution.has_value(), options.against.has_value(),
                           options.nominal.has_value()})
    stages += asked ? 1 : 0;
  if (!options.needs_phase()) return stages;
  return stages + 3 + (options.phase_map.empty() ? 0 : 1) + (options.distance_map.empty() ? 0 : 1) +
         (options.thickness ? 2 : 0);
}

}  // namespace

double contrast_to_noise(const ValueStatistics& a, const ValueStatistics& b) {
  return std::abs(a.mean - b.mean) / std::sqrt((a.spread * a.spread + b.spread * b.spread) / 2);
}

Analysis analyze(const VolumeReader& volume, const AnalysisOptions& options, Context& context) {
  Analysis result;
  std::vector<Blob> none;
  sort_blobs(none, options.sort);  // refuses a wrong key before any work
  WorkMemory memory(options.memory_bytes, options.scratch_folder);
  const VoxelShape shape = shape_of(volume.grid());
  Staged staged(options.stages, context);
  if (options.stages) options.stages->expect(stages_of(options));
  BitVolume inside(memory, size_of(volume));
  const Looked looked = staged("survey", {.bits = {&inside}}, [&](Context& c) {
    const Survey seen = survey(volume, options.region, inside, memory, c);
    return Looked{seen, histogram_of(volume, inside, seen, options.bins, memory, c)};
  });
  result.survey = looked.survey;
  result.histogram = looked.histogram;
  if (result.survey.not_finite > 0)
    context.progress.warning(format("{} of {} voxels are not finite numbers: they are left out",
                                    result.survey.not_finite, result.survey.voxels));
  if (options.noise)
    result.noise = staged("noise", {}, [&](Context& c) {
      return measure_noise(volume, *options.noise, inside, result.survey, result.histogram, memory, c);
    });
  // One value between material and air, where edges are looked for.
  const auto level = [&] {
    return options.threshold.kind == ThresholdKind::fixed ? options.threshold.values.front()
                                                          : otsu_threshold(result.histogram);
  };
  if (options.resolution)
    result.resolution = staged("resolution", {}, [&](Context& c) {
      return measure_resolution(volume, *options.resolution, inside, result.survey, result.histogram, level(), memory,
                                c);
    });
  if (options.against)
    result.against = staged("against", {.files = {options.against->moved_map}},
                            [&](Context& c) { return compare_against(volume, *options.against, inside, memory, c); });
  if (options.nominal)
    result.nominal = staged("nominal", {}, [&](Context& c) {
      return measure_nominal(volume, *options.nominal, inside, level(), memory, c);
    });
  result.inside = result.survey.inside;
  if (!options.needs_phase()) return result;
  BitVolume phase(memory, size_of(volume));
  const Phased phased = staged("phase", {.bits = {&inside, &phase}}, [&](Context& c) {
    return make_phase(volume, options, shape, looked, phase, inside, memory, c);
  });
  result.phase = phased.phase;
  result.sample = phased.sample;
  result.inside = phased.inside;
  result.phase_inside = phased.phase_inside;
  require_both(result);
  const PhaseValues values =
      staged("values", {}, [&](Context& c) { return measure_values(volume, phase, inside, result.survey, memory, c); });
  result.phase_values = values.phase;
  result.rest_values = values.rest;

  const PhaseReader reader(phase, inside, volume.grid());
  result.phase_slices = extract_slices(reader, middle_slices(volume.grid()), memory.left_bytes(), context);
  if (!options.phase_map.empty())
    staged("phase map", {.files = {options.phase_map}}, [&](Context&) { return write_phase(reader, options); });
  if (!options.distance_map.empty())
    staged("distances", {.files = {options.distance_map}}, [&](Context& c) {
      return shape.cubes ? write_distances<std::int32_t>(phase, {}, shape, volume.grid(), options, memory, c)
                         : write_distances<double>(phase, shape.steps, shape, volume.grid(), options, memory, c);
    });
  Measured measured = staged("blobs", {.files = {options.labels, options.map}}, [&](Context& c) {
    return measure(volume, options, shape, phase, inside, result.survey, memory, c);
  });
  result.porosity = std::move(measured.porosity);
  result.blobs = std::move(measured.blobs);
  result.components = measured.components;
  result.left_out = measured.left_out;
  result.left_out_voxels = measured.left_out_voxels;
  if (options.thickness) {
    result.thickness = staged("thickness", {.files = {options.thickness_map}}, [&](Context& c) {
      std::unique_ptr<VolumeWriter> map;
      if (!options.thickness_map.empty())
        map = create_volume(options.thickness_map, volume.grid(), {.force = true, .unit = "mm"});
      ThicknessResult thickness = local_thickness(phase, shape, map.get(), memory, c);
      if (map) map->finish(options.provenance);
      return thickness;
    });
    // The walls: inside, and not of the phase.
    result.wall = staged("walls", {}, [&](Context& c) {
      complement(phase, c);
      intersect(phase, inside, c);
      return local_thickness(phase, shape, nullptr, memory, c);
    });
  }
  context.cancel.check();
  return result;
}

}  // namespace lepus::analysis
