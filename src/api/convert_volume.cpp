// SPDX-License-Identifier: Apache-2.0
// A volume file into another format, slab by slab, and its surface.
#include <lepus/convert.h>

#include <algorithm>
#include <array>

#include "analysis/surface.h"
#include "api/refuse_option.h"
#include "api/unfinished_run.h"
#include "api/volume_in_axes.h"
#include "core/call_context.h"
#include "core/check_numbers.h"
#include "core/format.h"
#include "core/json.h"
#include "core/memory.h"
#include "core/output_file.h"
#include "io/dicom_images.h"
#include "io/input_identity.h"
#include "io/output_values.h"
#include "io/pixels.h"
#include "io/resumable_volume.h"
#include <lepus/version.h>

namespace lepus {
namespace {

namespace fs = std::filesystem;

// Voxels [x0, x1) x [y0, y1) x [z0, z1) of the volume.
struct SelectedPart {
  std::int64_t x0, x1, y0, y1, z0, z1;
};

SelectedPart selected_part(const VoxelSelection& selection, const VolumeGrid& grid) {
  SelectedPart part{0, grid.nx, 0, grid.ny, 0, grid.nz};
  if (const auto& s = selection.slices; !s.empty()) {
    if (s.size() != 2 || s[0] < 0 || s[1] < s[0] || s[1] >= grid.nz)
      refuse_option("--slices", format("the volume has slices 0 to {}", grid.nz - 1),
                    "write the first and last as --slices 0,9");
    part.z0 = s[0];
    part.z1 = s[1] + 1;
  }
  if (const auto& c = selection.crop; !c.empty()) {
    const auto inside = [](std::int64_t low, std::int64_t high, std::int64_t n) {
      return low >= 0 && low < high && high <= n;
    };
    if (c.size() != 4 || !inside(c[0], c[1], grid.nx) || !inside(c[2], c[3], grid.ny))
      refuse_option("--crop", format("a slice has {} x {} voxels", grid.nx, grid.ny),
                    "write it as --crop x0,x1,y0,y1, with x1 and y1 just outside");
    part.x0 = c[0];
    part.x1 = c[1];
    part.y0 = c[2];
    part.y1 = c[3];
  }
  return part;
}

VolumeGrid grid_of_part(const VolumeGrid& whole, const SelectedPart& part) {
  VolumeGrid grid = whole;
  grid.nx = part.x1 - part.x0;
  grid.ny = part.y1 - part.y0;
  grid.nz = part.z1 - part.z0;
  grid.origin_mm =
      whole.centre(static_cast<double>(part.x0), static_cast<double>(part.y0), static_cast<double>(part.z0));
  return grid;
}

// Moves the rows of a crop to the front, in place: a row never moves past one that is still needed.
void crop_slices(float* slices, std::int64_t count, const VolumeGrid& whole, const SelectedPart& part) {
  float* out = slices;
  for (std::int64_t z = 0; z < count; ++z)
    for (std::int64_t y = part.y0; y < part.y1; ++y) {
      const float* row = slices + (z * whole.ny + y) * whole.nx;
      out = std::copy(row + part.x0, row + part.x1, out);
    }
}

VolumeAxes axes_to_write(const VolumeConversionOptions& options) {
  return options.output_axes.empty() ? VolumeAxes{} : parse_axes(options.output_axes, "option --axes");
}

std::string provenance_with_note(const VolumeReader& volume, const fs::path& input,
                                 const VolumeConversionOptions& options) {
  nlohmann::json object = json_or_discarded(volume.provenance());
  if (!object.is_object()) object = nlohmann::json::object();
  nlohmann::json note{{"by", format("lepus {}", version)},
                      {"from", input.string()},
                      {"format", volume.format()},
                      {"pixel_type", volume.pixel_type()}};
  // As floats, which these notes always had: 3.0.
  const auto note_numbers = [&note](const char* key, const std::vector<std::int64_t>& numbers) {
    if (!numbers.empty()) note[key] = std::vector<double>(numbers.begin(), numbers.end());
  };
  note_numbers("slices", options.part.slices);
  note_numbers("crop", options.part.crop);
  if (options.water_per_mm) note["water_per_mm"] = *options.water_per_mm;
  if (const VolumeAxes axes = axes_to_write(options); axes != VolumeAxes{})
    object["axes"] = words_of(axes);
  else
    object.erase("axes");
  object["converted"].push_back(note);
  return json_text(object);
}

// DICOM has no floats: integers stay as they are, so that labels need not be HU.
PixelType type_to_write(const VolumeReader& volume, const fs::path& output) {
  const auto stored = pixel_type_named(volume.pixel_type());
  const bool kept = stored == PixelType::u8 || stored == PixelType::u16 || stored == PixelType::i16;
  return is_dicom_name(output) && kept && volume.scale().is_identity() ? *stored : PixelType::f32;
}

// Reads, cuts, scales and writes these slices of the output, slab by slab.
void convert_slabs(const VolumeReader& volume, const SelectedPart& part, const std::optional<double>& water,
                   const std::vector<VolumeSlices>& wanted, VolumeWriter& writer, CallContext& working) {
  Context& context = working.context();
  const VolumeGrid& whole = volume.grid();
  const std::int64_t slice = whole.nx * whole.ny;
  // Beside the slab a slice as it is stored here and one as it will be stored there.
  const std::int64_t packing = writer.memory_bytes() + turning_bytes(volume);
  const std::int64_t fits = (working.buffer_bytes(12 * slice + packing) - packing) / (4 * slice) - 2;
  const std::int64_t slab = std::clamp<std::int64_t>((std::int64_t{1} << 24) / slice, 1, fits);
  Buffer<float> slices(std::min(slab, part.z1 - part.z0) * slice);
  const bool cropped = part.x1 - part.x0 < whole.nx || part.y1 - part.y0 < whole.ny;
  context.progress.begin("converting", count_slices(wanted));
  for (const VolumeSlices& range : wanted)
    for (std::int64_t z = range.z0; z < range.z1; z += slab) {
      context.cancel.check();
      const std::int64_t end = std::min(range.z1, z + slab);
      volume.read(part.z0 + z, part.z0 + end, slices.data());
      if (cropped) crop_slices(slices.data(), end - z, whole, part);
      if (water)
        ValueScale{1000 / *water, -1000}.apply(slices.data(), (end - z) * (part.x1 - part.x0) * (part.y1 - part.y0));
      writer.write(z, end, slices.data());
      context.progress.advance(end - z);
    }
  context.progress.end();
  context.cancel.check();
}

void check_water(double water_per_mm, const std::string& unit) {
  check_finite(water_per_mm, "option --water");
  if (unit == "HU") refuse_option("--water", "the volume is in HU already", "leave it out");
  if (!unit.empty() && unit != "1/mm")
    refuse_option("--water", format("HU are made of attenuations in 1/mm, the volume is in '{}'", unit),
                  "give the volume before it was scaled");
  if (!(water_per_mm > 0))
    refuse_option("--water", "the attenuation of water is above zero", "write it as --water 0.02, in 1/mm");
}

}  // namespace

VolumeConversionReport convert_volume(const fs::path& input, const fs::path& output,
                                      const VolumeConversionOptions& asked) {
  check_resume_or_restart(asked.resume, asked.restart);
  require_name(input, "volume");
  require_name(output, "output");
  refuse_same_file(input, output);
  refuse_to_replace_input(output, input);
  if (asked.resume) require_unfinished_run(output);
  CallContext working(asked.call);
  Context& context = working.context();
  const auto volume = into_axes(open_in_our_axes(input.string(), asked.input_axes, "--from-axes", context.progress),
                                axes_to_write(asked));
  const VolumeGrid& whole = volume->grid();
  const SelectedPart part = selected_part(asked.part, whole);
  const VolumeGrid grid = grid_of_part(whole, part);
  VolumeWriterOptions options;
  options.force = asked.call.force;
  options.unit = asked.water_per_mm ? "HU" : volume->unit();
  set_output_values(options, asked.stored);
  options.threads = context.threads.size();
  const std::string provenance = provenance_with_note(*volume, input, asked);
  // A header that comes before the data must have room for what is written into it at the end.
  options.provenance_room = std::max<std::int64_t>(64 << 10, 2 * static_cast<std::int64_t>(provenance.size()));
  if (asked.water_per_mm) check_water(*asked.water_per_mm, volume->unit());
  if (!asked.water_per_mm && options.type == PixelType::f32) options.type = type_to_write(*volume, output);
  const auto locks = reserve_volume(output, options.force, context.progress);
  const std::string axes = words_of(axes_to_write(asked));
  const auto report_on = [&](const VolumeWriter& written) {
    warn_of_cut_off(written, grid, context.progress);
    return VolumeConversionReport{grid, axes};
  };
  if (!can_be_resumed(output)) {
    const auto writer = create_volume(output, grid, options);
    convert_slabs(*volume, part, asked.water_per_mm, {{0, grid.nz}}, *writer, working);
    writer->finish(provenance);
    return report_on(*writer);
  }
  ResumableRun run;
  run.header = {
      "convert",
      {volume_fact(input),
       {"the part of the volume",
        format("x {} to {}, y {} to {}, z {} to {}", part.x0, part.x1, part.y0, part.y1, part.z0, part.z1)},
       {"the axes", format("from {} to {}", asked.input_axes.empty() ? "those it has" : asked.input_axes, axes)},
       {"water", asked.water_per_mm ? format("{:.17g} per mm", *asked.water_per_mm) : "not HU"}}};
  run.restart = asked.restart;
  ResumableVolume writer(output, grid, options, run, context.progress);
  try {
    convert_slabs(*volume, part, asked.water_per_mm, writer.missing(), writer, working);
    writer.finish(provenance);
  } catch (const std::exception& exception) {
    throw writer.ended_by(as_error(exception));
  }
  return report_on(writer);
}

SurfaceReport write_surface(const fs::path& file, const fs::path& surface, double threshold,
                            const SurfaceFileOptions& options) {
  require_name(file, "volume");
  require_name(surface, "surface");
  check_finite(threshold, "option --surface");
  refuse_same_file(file, surface);
  CallContext working(options.call);
  Context& context = working.context();
  const OutputLock lock = reserve_output(surface, options.call.force, context.progress);
  const auto volume = open_in_our_axes(file.string(), options.input_axes, "--from-axes", context.progress);
  const VolumeGrid& grid = volume->grid();
  const SelectedPart part = selected_part(options.part, grid);
  // Two slices, one as it is stored, and the numbers of the vertices between and on them.
  (void)working.buffer_bytes(60 * grid.nx * grid.ny);
  return analysis::write_surface(*volume, {threshold, std::array{part.x0, part.x1, part.y0, part.y1, part.z0, part.z1}},
                                 surface, options.call.force, context);
}

}  // namespace lepus
