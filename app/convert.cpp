// SPDX-License-Identifier: Apache-2.0
// lepus convert: a volume into another format, or a scan into another form, slab by slab.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "analysis/surface.h"
#include "app/commands.h"
#include "app/convert_scan.h"
#include "app/output_options.h"
#include "app/resume_options.h"
#include "api/volume_in_axes.h"
#include "core/format.h"
#include "core/memory.h"
#include "geometry/exchange.h"
#include "io/dicom_images.h"
#include "io/input_identity.h"
#include "io/output_values.h"
#include "io/pixels.h"
#include "io/resumable_volume.h"
#include "io/volume_axes.h"
#include "io/volume_file.h"
#include "job/automatic_center.h"
#include "scan/document.h"
#include "scan/scan.h"
#include <lepus/version.h>

namespace lepus::app {
namespace {

struct ConvertArguments {
  std::string input, output, form, order = "frames", geometry, axes, from_axes;
  std::vector<double> slices, crop;
  std::optional<double> surface, water;
  ResumeOptions resume;
  OutputOptions stored;
};

// Voxels [x0, x1) x [y0, y1) x [z0, z1) of the volume.
struct Part {
  std::int64_t x0, x1, y0, y1, z0, z1;
};

Part part_of(const ConvertArguments& a, const VolumeGrid& grid) {
  Part part{0, grid.nx, 0, grid.ny, 0, grid.nz};
  const auto whole = [](double x) { return x == std::floor(x) && std::abs(x) < 1e15; };
  if (!a.slices.empty()) {
    const auto& s = a.slices;
    if (s.size() != 2 || !whole(s[0]) || !whole(s[1]) || s[0] < 0 || s[1] < s[0] ||
        s[1] >= static_cast<double>(grid.nz))
      refuse_option("--slices", format("the volume has slices 0 to {}", grid.nz - 1),
                    "write the first and last as --slices 0,9");
    part.z0 = static_cast<std::int64_t>(s[0]);
    part.z1 = static_cast<std::int64_t>(s[1]) + 1;
  }
  if (!a.crop.empty()) {
    const auto& c = a.crop;
    const auto inside = [&](double low, double high, std::int64_t n) {
      return whole(low) && whole(high) && low >= 0 && low < high && high <= static_cast<double>(n);
    };
    if (c.size() != 4 || !inside(c[0], c[1], grid.nx) || !inside(c[2], c[3], grid.ny))
      refuse_option("--crop", format("a slice has {} x {} voxels", grid.nx, grid.ny),
                    "write it as --crop x0,x1,y0,y1, with x1 and y1 just outside");
    part.x0 = static_cast<std::int64_t>(c[0]);
    part.x1 = static_cast<std::int64_t>(c[1]);
    part.y0 = static_cast<std::int64_t>(c[2]);
    part.y1 = static_cast<std::int64_t>(c[3]);
  }
  return part;
}

VolumeGrid grid_of(const VolumeGrid& whole, const Part& part) {
  VolumeGrid grid = whole;
  grid.nx = part.x1 - part.x0;
  grid.ny = part.y1 - part.y0;
  grid.nz = part.z1 - part.z0;
  grid.origin_mm =
      whole.centre(static_cast<double>(part.x0), static_cast<double>(part.y0), static_cast<double>(part.z0));
  return grid;
}

// Moves the rows of a crop to the front, in place: a row never moves past one that is still needed.
void crop_slices(float* slices, std::int64_t count, const VolumeGrid& whole, const Part& part) {
  float* out = slices;
  for (std::int64_t z = 0; z < count; ++z)
    for (std::int64_t y = part.y0; y < part.y1; ++y) {
      const float* row = slices + (z * whole.ny + y) * whole.nx;
      out = std::copy(row + part.x0, row + part.x1, out);
    }
}

VolumeAxes output_axes(const ConvertArguments& a) {
  return a.axes.empty() ? VolumeAxes{} : parse_axes(a.axes, "option --axes");
}

std::string with_note(const std::string& provenance, const ConvertArguments& a, const VolumeReader& volume) {
  nlohmann::json object = nlohmann::json::parse(provenance, nullptr, false);
  if (!object.is_object()) object = nlohmann::json::object();
  nlohmann::json note{{"by", format("lepus {}", version)},
                      {"from", a.input},
                      {"format", volume.format()},
                      {"pixel_type", volume.pixel_type()}};
  if (!a.slices.empty()) note["slices"] = a.slices;
  if (!a.crop.empty()) note["crop"] = a.crop;
  if (a.water) note["water_per_mm"] = *a.water;
  if (const VolumeAxes axes = output_axes(a); axes != VolumeAxes{})
    object["axes"] = words_of(axes);
  else
    object.erase("axes");
  object["converted"].push_back(note);
  return object.dump();
}

// DICOM has no floats: integers stay as they are, so that labels need not be HU.
PixelType type_to_write(const VolumeReader& volume, const std::string& output) {
  const auto stored = pixel_type_named(volume.pixel_type());
  const bool kept = stored == PixelType::u8 || stored == PixelType::u16 || stored == PixelType::i16;
  return is_dicom_name(output) && kept && volume.scale().is_identity() ? *stored : PixelType::f32;
}

// Reads, cuts, scales and writes these slices of the output, slab by slab.
void convert_slabs(const VolumeReader& volume, const Part& part, const std::optional<double>& water,
                   const std::vector<VolumeSlices>& wanted, VolumeWriter& writer, Session& session) {
  Context& context = session.context();
  const VolumeGrid& whole = volume.grid();
  const std::int64_t slice = whole.nx * whole.ny;
  // Beside the slab a slice as it is stored here and one as it will be stored there.
  const std::int64_t packing = writer.memory_bytes() + turning_bytes(volume);
  const std::int64_t fits = (session.buffer_bytes(12 * slice + packing) - packing) / (4 * slice) - 2;
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

int convert_volume(const ConvertArguments& a, Session& session) {
  refuse_to_replace_input(a.output, a.input);
  a.resume.require_unfinished(a.output);
  Context& context = session.context();
  const auto volume =
      into_axes(open_in_our_axes(a.input, a.from_axes, "--from-axes", session.context().progress), output_axes(a));
  const VolumeGrid& whole = volume->grid();
  const Part part = part_of(a, whole);
  const VolumeGrid grid = grid_of(whole, part);
  VolumeWriterOptions options;
  options.force = session.common().force;
  options.unit = a.water ? "HU" : volume->unit();
  set_output_values(options, a.stored.values());
  options.threads = context.threads.size();
  const std::string provenance = with_note(volume->provenance(), a, *volume);
  // A header that comes before the data must have room for what is written into it at the end.
  options.provenance_room = std::max<std::int64_t>(64 << 10, 2 * static_cast<std::int64_t>(provenance.size()));
  if (a.water && volume->unit() == "HU") refuse_option("--water", "the volume is in HU already", "leave it out");
  if (a.water && !volume->unit().empty() && volume->unit() != "1/mm")
    refuse_option("--water", format("HU are made of attenuations in 1/mm, the volume is in '{}'", volume->unit()),
                  "give the volume before it was scaled");
  if (a.water && !(*a.water > 0))
    refuse_option("--water", "the attenuation of water is above zero", "write it as --water 0.02, in 1/mm");
  if (!a.water && options.type == PixelType::f32) options.type = type_to_write(*volume, a.output);
  const auto locks = reserve_volume(a.output, options.force, context.progress);
  const std::string axes = words_of(output_axes(a));
  const auto report = [&](const VolumeWriter& written) {
    warn_of_cut_off(written, grid, context.progress);
    session.note(format("wrote {} ({} x {} x {} voxels, axes {})", a.output, grid.nx, grid.ny, grid.nz, axes));
    session.result({{"kind", "volume"},
                    {"from", a.input},
                    {"to", a.output},
                    {"size", {grid.nx, grid.ny, grid.nz}},
                    {"axes", axes}});
    return exit_ok;
  };
  if (!can_be_resumed(a.output)) {
    const auto writer = create_volume(a.output, grid, options);
    convert_slabs(*volume, part, a.water, {{0, grid.nz}}, *writer, session);
    writer->finish(provenance);
    return report(*writer);
  }
  ResumableRun run;
  run.header = {"convert",
                {volume_fact(a.input),
                 {"the part of the volume",
                  format("x {} to {}, y {} to {}, z {} to {}", part.x0, part.x1, part.y0, part.y1, part.z0, part.z1)},
                 {"the axes", format("from {} to {}", a.from_axes.empty() ? "those it has" : a.from_axes, axes)},
                 {"water", a.water ? format("{:.17g} per mm", *a.water) : "not HU"}}};
  run.restart = a.resume.restart;
  ResumableVolume writer(a.output, grid, options, run, context.progress);
  try {
    convert_slabs(*volume, part, a.water, writer.missing(), writer, session);
    writer.finish(provenance);
  } catch (const Error& error) {
    throw writer.ended_by(error);
  }
  return report(writer);
}

int convert_surface(const ConvertArguments& a, Session& session) {
  const OutputLock lock = session.reserve(a.output);
  const auto volume = open_in_our_axes(a.input, a.from_axes, "--from-axes", session.context().progress);
  const VolumeGrid& grid = volume->grid();
  const Part part = part_of(a, grid);
  // Two slices, one as it is stored, and the numbers of the vertices between and on them.
  (void)session.buffer_bytes(60 * grid.nx * grid.ny);
  const analysis::SurfaceReport found =
      analysis::write_surface(*volume, {*a.surface, std::array{part.x0, part.x1, part.y0, part.y1, part.z0, part.z1}},
                              a.output, session.common().force, session.context());
  session.note(format("wrote {} ({} triangles, {:.6g} mm2 around {:.6g} mm3)", a.output, found.triangles,
                      found.area_mm2, found.volume_mm3));
  session.result({{"kind", "surface"},
                  {"from", a.input},
                  {"to", a.output},
                  {"threshold", *a.surface},
                  {"vertices", found.vertices},
                  {"triangles", found.triangles},
                  {"area_mm2", found.area_mm2},
                  {"volume_mm3", found.volume_mm3}});
  return exit_ok;
}

int convert_geometry(const ConvertArguments& a, Session& session) {
  const OutputLock lock = session.reserve(a.output);
  Scan scan = read_scan(a.input);
  center_automatically(scan, session.context());
  GeometryFileOptions options;
  options.force = session.common().force;
  options.pixel_width_mm = ScanDocument(scan.resolved, scan.file).find<double>("geometry.pixel_width_mm").value_or(0);
  write_geometry(scan.geometry, a.output, a.geometry, options);
  session.note(format("wrote {} (the geometry of {} views for {})", a.output, scan.geometry.views(), a.geometry));
  session.result({{"kind", "geometry"},
                  {"from", a.input},
                  {"to", a.output},
                  {"format", a.geometry},
                  {"views", scan.geometry.views()}});
  return exit_ok;
}

int run_convert(const ConvertArguments& a, Session& session) {
  a.resume.check();
  std::error_code ignored;
  if (std::filesystem::equivalent(a.input, a.output, ignored))
    throw Error(ErrorKind::usage, {.what = "input and output are the same",
                                   .where = a.output,
                                   .why = {},
                                   .hint = "give another name for the output"});
  const bool scan = std::filesystem::path(a.input).extension() == ".toml";
  if ((scan || a.surface) && (a.stored.type != "float32" || !a.stored.range.empty()))
    throw Error(ErrorKind::usage, {.what = "--output-type and --output-range are for volumes",
                                   .where = a.output,
                                   .why = "the pixels of a scan are not changed, and a surface has none",
                                   .hint = "leave them out"});
  if ((a.surface || !a.geometry.empty()) && (a.resume.resume || a.resume.restart))
    throw Error(ErrorKind::usage, {.what = "--resume and --restart are for volumes and scans",
                                   .where = a.output,
                                   .why = "a surface or a geometry that is not finished leaves nothing to go on with",
                                   .hint = "leave them out"});
  if (!scan) {
    if (!a.form.empty() || a.order != "frames" || !a.geometry.empty())
      throw Error(ErrorKind::usage, {.what = "--frames, --order and --geometry are for scans",
                                     .where = a.input,
                                     .why = "the input is not a scan file (.toml)",
                                     .hint = "the ending of the output chooses the format of a volume"});
    if (a.surface && (a.water || !a.axes.empty()))
      refuse_option(a.water ? "--water" : "--axes", "a surface is written in millimetres, in lepus' axes",
                    "leave it out, or convert the volume first");
    return a.surface ? convert_surface(a, session) : convert_volume(a, session);
  }
  if (!a.slices.empty() || !a.crop.empty() || a.surface || a.water || !a.axes.empty() || !a.from_axes.empty())
    throw Error(ErrorKind::usage, {.what = "--slices, --crop, --axes, --water and --surface are for volumes",
                                   .where = a.input,
                                   .why = "the input is a scan file",
                                   .hint = "choose views and rows in the [frames] section of the scan file"});
  if (!a.geometry.empty()) return convert_geometry(a, session);
  a.resume.require_unfinished(a.output);
  ScanForm form;
  form.frames = a.form.empty() ? "tiff" : a.form;
  form.sinograms = a.order == "sinograms";
  const ConvertedScan converted = convert_scan(a.input, a.output, form, a.resume.restart, session);
  session.note(format("wrote {} ({} views of {} x {} pixels)", converted.scan_file.string(), converted.views,
                      converted.columns, converted.rows));
  session.result({{"kind", "scan"},
                  {"from", a.input},
                  {"to", converted.scan_file.string()},
                  {"views", converted.views},
                  {"columns", converted.columns},
                  {"rows", converted.rows}});
  return exit_ok;
}

}  // namespace

std::unique_ptr<Command> convert_command() {
  auto arguments = std::make_shared<ConvertArguments>();
  auto command = std::make_unique<Command>();
  command->name = "convert";
  command->summary = "a volume into another format, or a scan into another form";
  command->description =
      "A volume: the ending of the output chooses the format (.mha, .mhd, .nrrd, .tif, .h5, .npy, .npz, .dcm, .raw,\n"
      ".zarr, or a folder of slices as slices/%04d.tif or series/%04d.dcm); grid and provenance are kept.\n"
      "A .zarr is an OME-Zarr with all its resolutions. With --surface the output is a closed surface\n"
      "(marching cubes), closed at the volume's ends, too.\n"
      "\n"
      "A scan (a file ending in .toml): the output is a folder, which gets the frames, flats and darks in the form "
      "that\n"
      "--frames and --order choose, and a scan.toml that names them. Values are not changed.\n"
      "\n"
      "Where a run ends early, what it has finished of a volume or a scan stays beside the output, and the same "
      "command\n"
      "goes on from there to the same bits (docs/restart.md).";
  command->examples = {
      {"lepus convert demo/truth.mha -o demo/truth.nrrd", "A volume as NRRD"},
      {"lepus convert demo/truth.mha -o demo/truth.zarr", "A pyramid for napari, Fiji or neuroglancer"},
      {"lepus convert demo/truth.mha --surface 0.01 -o demo/truth.stl", "What is brighter than 0.01 per mm, as a body"},
      {"lepus convert demo/truth.mha --water 0.02 -o demo/series/%04d.dcm", "A DICOM series in HU"},
      {"lepus convert demo/truth.mha --axes rtk -o demo/rtk.mha", "A volume as RTK would have it, its rotation axis y"},
      {"lepus convert demo/scan.toml -o demo-h5/ --frames hdf5", "A scan with its frames in HDF5"},
      {"lepus convert demo/scan.toml -o demo/geometry.xml --geometry rtk", "Its geometry for RTK"}};
  command->writes = true;
  OptionTable& table = command->options;
  ConvertArguments& a = *arguments;
  table.positional("INPUT", a.input, "a volume, or a scan file").must().file();
  table.value("-o,--output", "OUTPUT", a.output, "the volume, or the folder of the scan").must().file();
  table.group("Volumes");
  table.value("--slices", "FIRST,LAST", a.slices, "only these slices, the last included");
  table.value("--crop", "X0,X1,Y0,Y1", a.crop, "only these voxels of each slice, X1 and Y1 not included");
  table.value("--axes", "AXES", a.axes, "axes of the output, its fastest first: x,z,-y, or rtk, itk, dicom, lepus")
      .otherwise("x,y,z");
  table.value("--from-axes", "AXES", a.from_axes, "axes of the input, in the same words")
      .otherwise("as it says, or x,y,z");
  table.value("--water", "VALUE", a.water, "make HU of attenuations: that of water, in 1/mm");
  table.value("--surface", "VALUE", a.surface,
              "the surface of what is brighter, as triangles in millimetres: OUTPUT ends in .stl or .ply");
  a.stored.describe(table);
  a.resume.describe(table);
  table.group("Scans");
  table.value("--frames", "FORM", a.form, "files of the frames: one TIFF each, a TIFF stack, HDF5 or raw")
      .one_of({"tiff", "stack", "hdf5", "raw"})
      .otherwise("tiff");
  table.value("--order", "ORDER", a.order, "an image per view, or per detector row").one_of({"frames", "sinograms"});
  table
      .value("--geometry", "TOOL", a.geometry,
             "write only the geometry of the views, for RTK, ASTRA or TIGRE, or as 12 numbers each")
      .one_of(geometry_formats());
  command->run = [arguments](Session& session) { return run_convert(*arguments, session); };
  return command;
}

}  // namespace lepus::app
