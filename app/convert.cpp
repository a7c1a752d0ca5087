// SPDX-License-Identifier: Apache-2.0
// lepus convert: a volume into another format, or a scan into another form.
#include <lepus/convert.h>

#include <cmath>

#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/output_options.h"
#include "app/resume_options.h"
#include "core/format.h"
#include <lepus/error.h>

namespace lepus::app {
namespace {

struct ConvertArguments {
  std::string input, output, form, order = "frames", geometry, axes, from_axes;
  std::vector<double> slices, crop;
  std::optional<double> surface, water;
  ResumeOptions resume;
  OutputOptions stored;
};

// A number that is not whole is outside of every volume, as -1 is.
std::vector<std::int64_t> whole_numbers(const std::vector<double>& numbers) {
  std::vector<std::int64_t> whole;
  for (const double x : numbers)
    whole.push_back(x == std::floor(x) && std::abs(x) < 1e15 ? static_cast<std::int64_t>(x) : -1);
  return whole;
}

int run_volume(const ConvertArguments& a, Session& session) {
  VolumeConversionOptions options;
  options.part = {whole_numbers(a.slices), whole_numbers(a.crop)};
  options.input_axes = a.from_axes;
  options.output_axes = a.axes;
  options.water_per_mm = a.water;
  options.stored = a.stored.values();
  options.resume = a.resume.resume;
  options.restart = a.resume.restart;
  options.call = session.call();
  const auto [grid, axes] = convert_volume(a.input, a.output, options);
  session.note(format("wrote {} ({} x {} x {} voxels, axes {})", a.output, grid.nx, grid.ny, grid.nz, axes));
  session.result(
      {{"kind", "volume"}, {"from", a.input}, {"to", a.output}, {"size", {grid.nx, grid.ny, grid.nz}}, {"axes", axes}});
  return exit_ok;
}

int run_surface(const ConvertArguments& a, Session& session) {
  const SurfaceReport found = write_surface(
      a.input, a.output, *a.surface, {{whole_numbers(a.slices), whole_numbers(a.crop)}, a.from_axes, session.call()});
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

int run_geometry(const ConvertArguments& a, Session& session) {
  const std::int64_t views = write_scan_geometry(a.input, a.output, a.geometry, session.call());
  session.note(format("wrote {} (the geometry of {} views for {})", a.output, views, a.geometry));
  session.result({{"kind", "geometry"}, {"from", a.input}, {"to", a.output}, {"format", a.geometry}, {"views", views}});
  return exit_ok;
}

int run_scan(const ConvertArguments& a, Session& session) {
  ScanConversionOptions options;
  options.form = a.form == "stack"  ? ScanForm::stack
                 : a.form == "hdf5" ? ScanForm::hdf5
                 : a.form == "raw"  ? ScanForm::raw
                                    : ScanForm::tiff;
  options.sinograms = a.order == "sinograms";
  options.resume = a.resume.resume;
  options.restart = a.resume.restart;
  options.call = session.call();
  const ScanConversionReport converted = convert_scan(a.input, a.output, options);
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

int run_convert(const ConvertArguments& a, Session& session) {
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
    return a.surface ? run_surface(a, session) : run_volume(a, session);
  }
  if (!a.slices.empty() || !a.crop.empty() || a.surface || a.water || !a.axes.empty() || !a.from_axes.empty())
    throw Error(ErrorKind::usage, {.what = "--slices, --crop, --axes, --water and --surface are for volumes",
                                   .where = a.input,
                                   .why = "the input is a scan file",
                                   .hint = "choose views and rows in the [frames] section of the scan file"});
  return a.geometry.empty() ? run_scan(a, session) : run_geometry(a, session);
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
