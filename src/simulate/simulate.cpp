// SPDX-License-Identifier: Apache-2.0
// The whole simulation on one page: geometry as it is -> phantom -> every view projected, exposed, written -> the text
// files -> the truth -> renamed into place.
#include "simulate/simulate.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/format.h"
#include "core/input_file.h"
#include "geometry/helix.h"
#include "core/memory.h"
#include "core/output_file.h"
#include "core/check_numbers.h"
#include "core/output_folder.h"
#include "geometry/camera.h"
#include "geometry/row_band.h"
#include "io/frames.h"
#include "io/volume_file.h"
#include "simulate/phantom_file.h"
#include "simulate/random.h"
#include "simulate/scan_text.h"
#include "simulate/scanners/scanner_files.h"
#include "simulate/streams.h"
#include "simulate/traced_views.h"
#include "simulate/voxelise.h"
#include <lepus/error.h>

namespace lepus {
namespace {

namespace fs = std::filesystem;

#ifdef LEPUS_HAVE_TIFF
constexpr bool have_tiff = true;
#else
constexpr bool have_tiff = false;
#endif

void require(bool good, const char* where, std::string why, const char* hint) {
  if (!good)
    throw Error(ErrorKind::usage,
                {.what = "simulation cannot be done so", .where = where, .why = std::move(why), .hint = hint});
}

// Only a scan that was simulated is replaced, and only where that was asked for.
void check_folder(const PartialFolder& folder, bool force) {
  if (folder.target_is_free()) return;
  const fs::path& target = folder.target();
  const bool ours = fs::exists(target / "truth.json") &&
                    InputFile(target / "truth.json").head(64).find("\"made_by\": \"lepus") != std::string::npos;
  if (force && ours) return;
  throw Error(ErrorKind::disk,
              {.what = "folder exists already",
               .where = target.string(),
               .why = ours ? "it holds a simulated scan" : "it holds something that is not a simulated scan",
               .hint = ours ? "give another name, or --force to replace it" : "give another name"});
}

// What the scan itself is made of.
bool is_free_truth_name(const fs::path& file) {
  const fs::path path = file.lexically_normal();
  const std::string first = path.empty() ? std::string() : path.begin()->string();
  for (const char* taken :
       {"", ".", "..", "frames", "flats", "darks", "scan.toml", "truth.json", "angles.txt", "jitter.csv"})
    if (first == taken) return false;
  for (const char* set : {"frames", "flats", "darks"})
    if (path.stem() == set || path.stem().stem() == set) return false;
  return path.is_relative();
}

std::vector<ViewPerturbation> make_jitter(const ViewJitter& o, std::size_t views, std::uint64_t seed) {
  if (o.source_mm == 0 && o.detector_mm == 0 && o.in_plane_deg == 0 && o.angle_deg == 0) return {};
  std::vector<ViewPerturbation> jitter(views);
  for (std::size_t i = 0; i < views; ++i) {
    Random random(seed, streams::jitter, 0, i);
    ViewPerturbation& p = jitter[i];
    p.source_mm.x = o.source_mm * random.normal();
    p.source_mm.y = o.source_mm * random.normal();
    p.detector_mm.x = o.detector_mm * random.normal();
    p.detector_mm.y = o.detector_mm * random.normal();
    p.in_plane_rad = radians(o.in_plane_deg) * random.normal();
    p.angle_rad = radians(o.angle_deg) * random.normal();
  }
  return jitter;
}

// Whatever the scan file knows already, and the jitter on top.
std::vector<ViewPerturbation> sum(std::vector<ViewPerturbation> a, const std::vector<ViewPerturbation>& b) {
  if (a.empty()) return b;
  for (std::size_t i = 0; i < b.size(); ++i) {
    a[i].source_mm = a[i].source_mm + b[i].source_mm;
    a[i].detector_mm = a[i].detector_mm + b[i].detector_mm;
    a[i].in_plane_rad += b[i].in_plane_rad;
    a[i].angle_rad += b[i].angle_rad;
  }
  return a;
}

Spectrum spectrum_of(const SimulationOptions& o) {
  if (!o.spectrum_file.empty()) return read_spectrum(o.spectrum_file);
  if (o.tube_kv > 0) return tungsten_spectrum(o.tube_kv, o.filter_aluminium_mm, o.filter_copper_mm);
  return {};
}

struct Writers {
  bool raw = false;
  PixelType type = PixelType::u16;
  std::int64_t columns = 0, rows = 0;
  fs::path folder;
  ScannerFiles* scanner = nullptr;  // whose files they are, where they are not lepus' own

  std::unique_ptr<FrameWriter> open(const char* name, ImageSet set, std::int64_t frames) const {
    if (scanner) return scanner->open(set, frames);
    if (!raw) fs::create_directories(folder / name);
    return create_frames(
        raw ? folder / (std::string(name) + ".raw") : folder / name / "%04d.tif",
        {.columns = columns, .rows = rows, .frames = frames, .type = type, .force = false, .dataset = {}});
  }
};

void write_still_frames(const char* name, Exposure kind, std::int64_t count, const Detector& detector,
                        const Writers& writers, Context& context) {
  if (count == 0) return;
  Buffer<std::uint16_t> levels(writers.columns * writers.rows);
  const auto out = writers.open(name, kind == Exposure::flat ? ImageSet::flats : ImageSet::darks, count);
  for (std::int64_t i = 0; i < count; ++i) {
    context.cancel.check();
    detector.expose(kind, i, 1.0, nullptr, levels.data(), context.threads);
    out->write(levels.data());
    context.progress.advance();
  }
  out->finish();
}

// The host's own projector serves where this is empty.
std::unique_ptr<TracedViews> views_of_devices(const Compute& compute, const PhantomProjector& projector,
                                              Devices& devices, Context& context) {
  if (compute.backend == "cpu" || compute.backend == "reference") return nullptr;
  std::string why = TracedViews::why_not(projector.phantom());
  if (why.empty()) {
    devices = open_devices(compute, context.threads);
    if (devices.front()->info().host) return nullptr;
    if (auto views = TracedViews::make(projector, devices)) return views;
    why = format("{} traces no rays", devices.front()->info().name);
  }
  if (compute.backend != "auto") context.progress.note(why + ": the host does");
  return nullptr;
}

void write_truth_volume(const Phantom& phantom, const VolumeGrid& grid, int samples, VolumeWriter& out,
                        Context& context) {
  const std::int64_t slice = grid.nx * grid.ny;
  const std::int64_t slab =
      std::clamp<std::int64_t>((std::int64_t{16} << 20) / std::max<std::int64_t>(1, slice), 1, grid.nz);
  Buffer<float> slices(slab * slice);
  context.progress.begin("truth", grid.nz);
  for (std::int64_t z = 0; z < grid.nz; z += slab) {
    const std::int64_t end = std::min(grid.nz, z + slab);
    for (std::int64_t k = z; k < end; ++k) {
      context.cancel.check();
      voxelise(phantom, grid, k, k + 1, samples, slices.data() + (k - z) * slice, context.threads);
      context.progress.advance();
    }
    out.write(z, end, slices.data());
  }
  out.finish(truth_provenance(phantom.name(), samples));
  context.progress.end();
}

void write_scan_files(const ScanText& text, const std::vector<ViewPerturbation>& known, const fs::path& folder) {
  if (!text.equal_steps) write_file(folder / "angles.txt", angles_text(text.options.scan.angles_rad), false);
  if (!known.empty()) write_file(folder / "jitter.csv", perturbations_csv(known), false);
  write_file(folder / "scan.toml", scan_toml(text), false);
}

}  // namespace

void check(const SimulationOptions& o) {
  const auto number = [](double x) { return format("it is {}", x); };
  require(!o.scan.angles_rad.empty(), "views", "there are none", "give at least one");
  constexpr std::int64_t maximum_frames = 10'000'000;
  require(std::min(o.flats, o.darks) >= 0 && std::max(o.flats, o.darks) <= maximum_frames, "flats, darks",
          format("{} and {}", o.flats, o.darks), "give 0 or more");
  check_named(o.scan.beam, Beam::parallel, "Beam");
  check_named(o.rays.average, PixelAverage::intensity, "PixelAverage");
  check_named(o.content, SimulatedContent::line_integrals, "SimulatedContent");
  check_named(o.format, FrameFormat::raw, "FrameFormat");
  if (o.grid) check_grid(*o.grid);
  require(o.phantom.size_mm >= 0 && std::isfinite(o.phantom.size_mm), "phantom size", number(o.phantom.size_mm),
          "give mm, or 0 for one that fits");
  require(o.phantom.material.empty() || is_stl(o.phantom.name), "phantom material",
          format("it is \"{}\", which only parts (.stl) have", o.phantom.material), "give the phantom's value");
  require(std::isfinite(o.phantom.value_per_mm), "phantom value", number(o.phantom.value_per_mm), "give 1/mm");
  require(o.jitter.source_mm >= 0 && o.jitter.detector_mm >= 0 && o.jitter.in_plane_deg >= 0 && o.jitter.angle_deg >= 0,
          "jitter", "a standard deviation is negative", "give numbers that are not negative");
  for (const double jitter : {o.jitter.source_mm, o.jitter.detector_mm, o.jitter.in_plane_deg, o.jitter.angle_deg})
    require(std::isfinite(jitter), "jitter", number(jitter), "give numbers");
  require(o.tube_kv >= 0, "tube", format("{} kV", o.tube_kv), "give 30 to 450 kV, or 0 for one energy");
  require(std::isfinite(o.helix_pitch_mm), "helix pitch", number(o.helix_pitch_mm), "give mm per turn");
  require(o.helix_pitch_mm == 0 || o.grid, "helix pitch", "no part of the axis is in every view",
          "give --size and --voxel");
  require(std::isfinite(o.hidden_shift_px), "hidden shift", number(o.hidden_shift_px), "give pixels");
  require(o.tube_kv == 0 || o.spectrum_file.empty(), "spectrum", "both a tube voltage and a spectrum file are given",
          "keep one of them");
  require(o.truth_samples >= 1 && o.truth_samples <= 64, "truth samples", format("it is {}", o.truth_samples),
          "give 1 to 64");
  require(!o.write_truth || is_free_truth_name(o.truth_file), "truth file", format("it is \"{}\"", o.truth_file),
          "give a name within the scan's folder that none of its files has");
  require(o.format != FrameFormat::tiff || have_tiff, "frame format", "this lepus was built without TIFF",
          "write raw frames");
}

SimulationReport simulate_scan(const SimulationOptions& asked, const fs::path& folder, Context& context) {
  SimulationOptions options = asked;
  const ScannerWriter* const scanner = asked.scanner.empty() ? nullptr : &scanner_writer(asked.scanner);
  if (scanner) scanner->prepare(options);
  check(options);
  const ScanGeometry described = build_scan(with_helix(options.scan, options.helix_pitch_mm));
  if (options.content == SimulatedContent::counts)  // whose pixels build_scan has looked at
    check(options.detector, options.scan.columns, options.scan.rows);
  CircularScan real_scan = options.scan;
  const auto jitter = make_jitter(options.jitter, options.scan.angles_rad.size(), options.detector.seed);
  real_scan.perturbations = sum(real_scan.perturbations, jitter);
  real_scan.detector_shift_u_mm += options.hidden_shift_px * options.scan.pixel_width_mm;
  // What the operator knows of every view's deviation: what the options say, and the jitter where it is known.
  const auto& known = options.jitter.known ? real_scan.perturbations : options.scan.perturbations;
  const ScanGeometry real = build_scan(with_helix(real_scan, options.helix_pitch_mm));

  const Spectrum spectrum = spectrum_of(options);
  MadePhantom made = make_phantom(options.phantom, options.phantom.size_mm > 0 ? 0 : fitting_size_mm(described),
                                  options.detector.seed);
  double energy = 0;
  if (!spectrum.empty()) energy = effective_energy_kev(spectrum);
  if (spectrum.empty() && made.phantom.has_materials()) energy = default_energy_kev;
  if (energy > 0) made.phantom = made.phantom.at_energy(energy);
  const VolumeGrid grid = options.grid ? *options.grid : automatic_grid(described);

  const bool counts = options.content == SimulatedContent::counts;
  PartialFolder partial(folder, context.progress);
  check_folder(partial, options.call.force);
  std::unique_ptr<VolumeWriter> truth;  // opened before the work: what is wrong with its name is said at once
  if (options.write_truth)
    truth = create_volume(partial.path() / options.truth_file, grid,
                          {.force = false, .unit = "1/mm", .provenance_room = 0});
  SimulationReport report;
  report.views = real.views();
  report.columns = recorded_columns(real);
  report.rows = recorded_rows(real);
  report.porosity = made.porosity;

  Writers writers;
  writers.raw = options.format == FrameFormat::raw || (options.format == FrameFormat::automatic && !have_tiff);
  writers.type = counts ? PixelType::u16 : PixelType::f32;
  writers.columns = report.columns;
  writers.rows = report.rows;
  writers.folder = partial.path();
  std::unique_ptr<ScannerFiles> files;
  if (scanner)
    files = scanner->make({.options = options,
                           .grid = grid,
                           .known = known,
                           .columns = report.columns,
                           .rows = report.rows,
                           .type = writers.type,
                           .folder = partial.path()});
  writers.scanner = files.get();

  const PhantomProjector projector(made.phantom, real, options.rays, spectrum);
  Devices devices;
  const auto on_devices = views_of_devices(options.compute, projector, devices, context);
  if (on_devices) report.device = devices.front()->info().name;
  std::optional<Detector> detector;
  if (counts) detector.emplace(report.columns, report.rows, options.detector);
  std::vector<double> beam;
  context.progress.begin("frames", report.views + (counts ? options.flats + options.darks : 0));
  if (counts) {
    write_still_frames("flats", Exposure::flat, options.flats, *detector, writers, context);
    write_still_frames("darks", Exposure::dark, options.darks, *detector, writers, context);
  }
  {
    Buffer<float> line_integrals(report.columns * report.rows);
    Buffer<std::uint16_t> levels(counts ? report.columns * report.rows : 0);
    const auto out = writers.open("frames", ImageSet::views, report.views);
    for (std::int64_t view = 0; view < report.views; ++view) {
      context.cancel.check();
      if (on_devices)
        on_devices->project(view, line_integrals.data(), context.threads, &context.cancel);
      else
        projector.project(view, line_integrals.data(), context.threads, &context.cancel);
      report.largest_line_integral =
          std::max(report.largest_line_integral,
                   static_cast<double>(*std::max_element(line_integrals.begin(), line_integrals.end())));
      if (counts) {
        beam.push_back(detector->beam(view, report.views));
        report.saturated_pixels +=
            detector->expose(Exposure::view, view, beam.back(), line_integrals.data(), levels.data(), context.threads);
        out->write(levels.data());
      } else {
        out->write(line_integrals.data());
      }
      context.progress.advance();
    }
    out->finish();
  }
  context.progress.end();

  const ScanText text{.options = options,
                      .geometry = described,
                      .grid = grid,
                      .phantom = made,
                      .detector = detector ? &*detector : nullptr,
                      .jitter = jitter,
                      .perturbations_file = !known.empty(),
                      .beam = beam,
                      .raw = writers.raw,
                      .equal_steps = has_equal_steps(options.scan.angles_rad),
                      .energy_kev = energy};
  if (files)
    files->finish();
  else
    write_scan_files(text, known, partial.path());
  write_file(partial.path() / "truth.json", truth_json(text, report), false);
  if (truth) write_truth_volume(made.phantom, grid, options.truth_samples, *truth, context);
  truth.reset();
  partial.commit(options.call.force ? PartialFolder::Replace::whole : PartialFolder::Replace::nothing);
  report.scan_file = files ? partial.target() : partial.target() / "scan.toml";
  report.truth_json = partial.target() / "truth.json";
  if (options.write_truth) report.truth_volume = partial.target() / options.truth_file;
  return report;
}

}  // namespace lepus
