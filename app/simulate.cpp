// SPDX-License-Identifier: Apache-2.0
// lepus simulate: a phantom, a geometry and a detector -> a scan on disk as a scanner would have written it.
#include <array>
#include <cmath>
#include <filesystem>
#include <set>

#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/compute_options.h"
#include "core/format.h"
#include <lepus/simulate.h>

namespace lepus::app {
namespace {

// All have the same field of view, 100 mm across: a detector of 205 x 205 mm at twice the distance of the axis.
struct Preset {
  const char* name;
  std::int64_t columns, rows, views;
  double pixel_mm;
};
constexpr Preset presets[] = {
    {"tiny", 64, 64, 90, 3.2}, {"demo", 256, 256, 360, 0.8}, {"large", 1024, 1024, 1440, 0.2}};

struct SimulateArguments {
  SimulationOptions options;
  std::string output, preset = "demo", beam = "cone", angles, content = "counts", format = "automatic";
  std::string spectrum, backend = "auto", device = "auto";
  bool no_truth = false;
  std::int64_t seed = 1;
  std::optional<std::int64_t> columns, rows, views;
  std::optional<double> pixel, pixel_height, voxel;
  double first_angle = 0, arc = 360, in_plane = 0, pitch = 0, yaw = 0;
  std::vector<double> size;
  std::set<std::string> given;  // of the options that have no use everywhere
};

std::vector<double> angles_of(const SimulateArguments& a, std::int64_t views) {
  if (a.angles.empty()) return equal_angles_rad(views, a.first_angle, a.arc);
  std::vector<double> angles = read_angles_rad(a.angles);
  if (a.views && *a.views != static_cast<std::int64_t>(angles.size()))
    refuse_option("--views", format("{} views were asked for, {} has {} angles", *a.views, a.angles, angles.size()),
                  "leave --views out: the file of angles says how many there are");
  return angles;
}

void fill_geometry(const SimulateArguments& a, CircularScan& scan) {
  const Preset* preset = presets;
  while (a.preset != preset->name) ++preset;  // the table of options has checked that it is one of them
  scan.beam = a.beam == "cone" ? Beam::cone : a.beam == "fan" ? Beam::fan : Beam::parallel;
  scan.columns = a.columns.value_or(preset->columns);
  scan.rows = a.rows.value_or(preset->rows);
  // A parallel beam does not magnify: half the pixel gives the same field of view.
  scan.pixel_width_mm = a.pixel.value_or(scan.beam == Beam::parallel ? preset->pixel_mm / 2 : preset->pixel_mm);
  scan.pixel_height_mm = a.pixel_height.value_or(scan.pixel_width_mm);
  scan.in_plane_rad = radians(a.in_plane);
  scan.pitch_rad = radians(a.pitch);
  scan.yaw_rad = radians(a.yaw);
  scan.angles_rad = angles_of(a, a.views.value_or(preset->views));
}

// Options that would change nothing are an error.
void refuse_what_has_no_use(const SimulateArguments& a) {
  const auto refuse = [&](std::initializer_list<const char*> names, bool without_use, const std::string& why) {
    for (const char* name : names)
      if (without_use && a.given.contains(name)) refuse_option(name, why, "leave it out");
  };
  const std::string& phantom = a.options.phantom.name;
  const std::string ending = std::filesystem::path(phantom).extension();
  const bool part = ending == ".stl" || ending == ".STL", head = phantom.starts_with("forbild-head");
  refuse({"--phantom-size"}, ending == ".toml" || ending == ".pd" || head, "the phantom has a size of its own");
  refuse({"--value"}, ending == ".toml", "the file of the phantom says what its shapes are made of");
  refuse({"--material"}, !part, "it is for parts (.stl)");
  refuse({"--value"}, a.given.contains("--material"), "the material says it already");
  refuse({"--pores", "--smallest-pore", "--largest-pore", "--overlap"}, phantom != "porous-block",
         "it is for porous-block");
  refuse({"--beads", "--bead-radius", "--two-rings"}, phantom != "beads", "it is for beads");
  refuse({"--arc", "--first-angle"}, !a.angles.empty(), "the file of --angles lists the angles");
  const ViewJitter& jitter = a.options.jitter;
  refuse({"--jitter-known"},
         jitter.source_mm == 0 && jitter.detector_mm == 0 && jitter.in_plane_deg == 0 && jitter.angle_deg == 0,
         "nothing varies from view to view: there is no --jitter-source, -detector, -in-plane or -angle");
  refuse({"--aluminium", "--copper"}, !a.spectrum.empty(), "the file of --spectrum is taken as it is");
  refuse({"--aluminium", "--copper"}, a.options.tube_kv == 0,
         "it filters the spectrum of --tube-kv, which is not given");
  refuse({"--photons", "--open-level", "--offset-level", "--gain-spread", "--offset-spread", "--dark-current",
          "--electronic-noise", "--bits", "--hot-pixels", "--dead-pixels", "--dead-columns", "--beam-drift",
          "--beam-flicker"},
         a.content == "line-integrals", "--content line-integrals is without a detector");
  refuse({"--truth-file", "--truth-samples"}, a.no_truth, "--no-truth leaves the volume out");
}

std::optional<std::array<std::int64_t, 3>> size_of(const SimulateArguments& a) {
  if (a.size.empty()) return std::nullopt;
  std::vector<double> n = a.size;
  if (n.size() == 1) n = {n[0], n[0], n[0]};
  const auto good = [](double x) { return x >= 1 && x <= 1 << 20 && x == std::floor(x); };
  if (n.size() != 3 || !good(n[0]) || !good(n[1]) || !good(n[2]))
    refuse_option("--size", "the size is one or three whole numbers", "write it as --size 128 or --size 128,128,64");
  return {{static_cast<std::int64_t>(n[0]), static_cast<std::int64_t>(n[1]), static_cast<std::int64_t>(n[2])}};
}

int run_simulate(const SimulateArguments& a, Session& session) {
  refuse_what_has_no_use(a);
  SimulationOptions options = a.options;
  fill_geometry(a, options.scan);
  options.content = a.content == "counts" ? SimulatedContent::counts : SimulatedContent::line_integrals;
  options.format = a.format == "tiff"  ? FrameFormat::tiff
                   : a.format == "raw" ? FrameFormat::raw
                                       : FrameFormat::automatic;
  if (a.format != "automatic" && a.format != "tiff" && a.format != "raw") options.scanner = a.format;
  options.spectrum_file = a.spectrum;
  options.write_truth = !a.no_truth;
  options.detector.seed = static_cast<std::uint64_t>(a.seed);
  check_device_list(a.device);
  options.compute.backend = a.backend;
  if (a.device != "auto") options.compute.devices = a.device;
  if (!a.size.empty() || a.voxel) options.grid = grid_of_scan(options.scan, size_of(a), a.voxel);
  options.call = session.call();
  const SimulationReport report = simulate_scan(a.output, options);

  // As it was typed: the report has absolute names.
  const std::filesystem::path folder = a.output;
  const std::string scan_file =
      options.scanner.empty() ? (folder / report.scan_file.filename()).string() : folder.string();
  std::string text = format("{}: {} views of {} x {} pixels\n", scan_file, report.views, report.columns, report.rows);
  if (!report.truth_volume.empty()) text += format("{}: the phantom itself\n", (folder / options.truth_file).string());
  if (report.porosity) text += format("porosity: {:.6f}\n", *report.porosity);
  text += format("\nnext: lepus reconstruct {} -o {}\n", scan_file, (folder / "volume.mha").string());
  session.report(text, report.device.empty() ? "" : format("kernel    rays on {}\n", report.device));
  nlohmann::json object{{"scan", report.scan_file.string()},
                        {"truth_json", report.truth_json.string()},
                        {"views", report.views},
                        {"columns", report.columns},
                        {"rows", report.rows},
                        {"saturated_pixels", report.saturated_pixels},
                        {"largest_line_integral", report.largest_line_integral},
                        {"device", report.device}};
  object["truth"] = report.truth_volume.empty() ? nlohmann::json() : nlohmann::json(report.truth_volume.string());
  object["porosity"] = report.porosity ? nlohmann::json(*report.porosity) : nlohmann::json();
  session.result(object);
  return exit_ok;
}

void add_options(OptionTable& table, SimulateArguments& a) {
  SimulationOptions& o = a.options;
  CircularScan& s = o.scan;
  s.source_axis_mm = 500;
  s.source_detector_mm = 1000;
  table.positional("PHANTOM", o.phantom.name, "a phantom that lepus knows, or a file: .toml, .pd, or .stl (a part)")
      .must()
      .file()
      .choices = builtin_phantom_names();
  table.value("-o,--output", "FOLDER", a.output, "the folder to write").must().folder();

  table.group("Phantom");
  table.value("--phantom-size", "MM", o.phantom.size_mm, "its diameter or edge")
      .otherwise("80 % of the field of view")
      .noted(a.given);
  table.value("--value", "PER_MM", o.phantom.value_per_mm, "attenuation of its material").noted(a.given);
  table.value("--material", "NAME", o.phantom.material, "of a part (.stl), instead of --value")
      .one_of(material_names())
      .noted(a.given);
  table.value("--pores", "N", o.phantom.pores, "porous-block: number of pores").noted(a.given);
  table.value("--smallest-pore", "FRACTION", o.phantom.smallest_pore, "porous-block: least radius, of the edge")
      .noted(a.given);
  table.value("--largest-pore", "FRACTION", o.phantom.largest_pore, "porous-block: largest radius, of the edge")
      .noted(a.given);
  table.flag("--overlap", o.phantom.overlap, "porous-block: pores may overlap").noted(a.given);
  table.value("--beads", "N", o.phantom.beads, "beads: number of beads").noted(a.given);
  table.value("--bead-radius", "FRACTION", o.phantom.bead_radius, "beads: radius, of the cylinder's diameter")
      .noted(a.given);
  table.flag("--two-rings", o.phantom.two_rings, "beads: in two rings instead of a helix").noted(a.given);

  table.group("Geometry");
  table.value("--preset", "NAME", a.preset, "size of detector and scan, where the options below do not say it")
      .one_of({"tiny", "demo", "large"});
  table.value("--beam", "BEAM", a.beam, "shape of the beam").one_of({"cone", "fan", "parallel"});
  table.flag("--arc-detector", s.arc, "the detector is bent around the source");
  table.value("--source-axis", "MM", s.source_axis_mm, "from the source to the rotation axis");
  table.value("--source-detector", "MM", s.source_detector_mm, "from the source to the detector");
  table.value("--columns", "N", a.columns, "detector columns").otherwise("of the preset");
  table.value("--rows", "N", a.rows, "detector rows").otherwise("of the preset");
  table.value("--pixel", "MM", a.pixel, "width of a pixel").otherwise("of the preset");
  table.value("--pixel-height", "MM", a.pixel_height, "height of a pixel").otherwise("as wide");
  table.value("--shift-u", "MM", s.detector_shift_u_mm, "detector shift along its rows, to the right");
  table.value("--shift-v", "MM", s.detector_shift_v_mm, "detector shift along its columns, down");
  table.value("--axis-offset", "MM", s.axis_offset_mm, "of the rotation axis from the central ray, to the right");
  table.value("--in-plane", "DEG", a.in_plane, "rotation of the detector about its normal");
  table.value("--pitch", "DEG", a.pitch, "tilt of the detector about its rows");
  table.value("--yaw", "DEG", a.yaw, "tilt of the detector about its columns");

  table.group("Views");
  table.value("--views", "N", a.views, "number of views").otherwise("of the preset");
  table.value("--arc", "DEG", a.arc, "arc that they cover").noted(a.given);
  table.value("--first-angle", "DEG", a.first_angle, "angle of the first view").noted(a.given);
  table.value("--angles", "FILE", a.angles, "angles of the views in degrees, instead of the three above").file();
  table.value("--helix-pitch", "MM", o.helix_pitch_mm, "source and detector move up by it in every turn");
  table.value("--jitter-source", "MM", o.jitter.source_mm, "source position varies from view to view by this");
  table.value("--jitter-detector", "MM", o.jitter.detector_mm, "detector position varies likewise");
  table.value("--jitter-in-plane", "DEG", o.jitter.in_plane_deg, "detector rotation varies likewise");
  table.value("--jitter-angle", "DEG", o.jitter.angle_deg, "angle varies likewise");
  table.flag("--jitter-known", o.jitter.known, "the scan file knows these deviations").noted(a.given);

  table.group("Rays");
  table.value("--subpixels", "N", o.rays.subpixels, "N x N rays to each pixel");
  table.value("--spot", "MM", o.rays.spot_diameter_mm, "diameter of the source's spot");
  table.value("--tube-kv", "KV", o.tube_kv, "tungsten spectrum of this voltage").otherwise("one energy");
  table.value("--aluminium", "MM", o.filter_aluminium_mm, "aluminium filter of the spectrum").noted(a.given);
  table.value("--copper", "MM", o.filter_copper_mm, "copper filter of the spectrum").noted(a.given);
  table.value("--spectrum", "FILE", a.spectrum, "a spectrum from a file instead").file();

  table
      .value("--backend", "NAME", a.backend,
             "what traces rays through parts (.stl): a GPU where there is one, else the CPU")
      .one_of({"auto", "cpu", "cuda", "opencl"});
  table.value("--device", "LIST", a.device, "which GPUs: a number, several with commas between them, all, or auto");

  table.group("Detector");
  table.value("--photons", "N", o.detector.photons, "photons per pixel in the open beam")
      .otherwise("no photon noise")
      .noted(a.given);
  table.value("--open-level", "LEVEL", o.detector.open_level, "grey level that the open beam adds").noted(a.given);
  table.value("--offset-level", "LEVEL", o.detector.offset_level, "grey level without beam").noted(a.given);
  table.value("--gain-spread", "FRACTION", o.detector.gain_spread, "spread of the pixels' gains").noted(a.given);
  table.value("--offset-spread", "LEVEL", o.detector.offset_spread, "spread of the pixels' offsets").noted(a.given);
  table.value("--dark-current", "LEVEL", o.detector.dark_current, "dark current, with its noise").noted(a.given);
  table.value("--electronic-noise", "LEVEL", o.detector.electronic_noise, "electronic noise").noted(a.given);
  table.value("--bits", "N", o.detector.bits, "bits of a pixel; higher levels saturate").noted(a.given);
  table.value("--hot-pixels", "N", o.detector.hot_pixels, "pixels that are always bright").noted(a.given);
  table.value("--dead-pixels", "N", o.detector.dead_pixels, "pixels that see no beam").noted(a.given);
  table.value("--dead-columns", "N", o.detector.dead_columns, "columns that see no beam").noted(a.given);
  table.value("--beam-drift", "FRACTION", o.detector.beam_drift, "change of the beam from first to last view")
      .noted(a.given);
  table.value("--beam-flicker", "FRACTION", o.detector.beam_flicker, "change of the beam from view to view")
      .noted(a.given);
  table.value("--hidden-shift", "PIXELS", o.hidden_shift_px, "detector shift that the scan file does not tell");
  table.value("--seed", "N", a.seed, "of all random numbers");

  table.group("Files");
  table.value("--content", "WHAT", a.content, "what the frames hold").one_of({"counts", "line-integrals"});
  std::vector<std::string> formats = scanner_writer_names();
  formats.insert(formats.begin(), {"automatic", "tiff", "raw"});
  table.value("--format", "FORMAT", a.format, "how frames are written, or the scanner whose files to write")
      .one_of(std::move(formats));
  table.value("--flats", "N", o.flats, "number of frames of the open beam");
  table.value("--darks", "N", o.darks, "number of frames without beam");
  table.value("--size", "N[,NY,NZ]", a.size, "voxels of the volume").otherwise("what the scan sees");
  table.value("--voxel", "MM", a.voxel, "edge of a voxel").otherwise("pixel / magnification");
  table.flag("--no-truth", a.no_truth, "do not write the phantom as a volume");
  table.value("--truth-file", "NAME", o.truth_file, "name of that volume; the ending chooses the format")
      .noted(a.given);
  table.value("--truth-samples", "N", o.truth_samples, "samples per axis in each of its voxels").noted(a.given);
}

}  // namespace

std::unique_ptr<Command> simulate_command() {
  auto arguments = std::make_shared<SimulateArguments>();
  auto command = std::make_unique<Command>();
  command->name = "simulate";
  command->summary = "write the scan of a phantom: frames, flats, darks, scan file, and the truth";
  command->description =
      "Computes exact line integrals through a phantom of ellipsoids, cylinders, cones and boxes, or through a part "
      "whose\n"
      "surface is an STL file, lets a detector measure them, and writes what a scanner would write. The same seed "
      "gives the same files.\n"
      "\n"
      "Without further options: a cone beam, 360 views of 256 x 256 pixels, no noise.";
  command->examples = {{"lepus simulate shepp-logan-modified -o demo/", "A scan to try things with"},
                       {"lepus simulate porous-block -o pores/ --preset tiny --photons 20000 --gain-spread 0.02",
                        "A small one with photon noise and uneven pixels"},
                       {"lepus simulate part.stl -o part/ --material aluminium --tube-kv 160 --source-axis 200",
                        "A part as its drawing has it"}};
  command->writes = true;
  add_options(command->options, *arguments);
  command->run = [arguments](Session& session) { return run_simulate(*arguments, session); };
  return command;
}

}  // namespace lepus::app
