// SPDX-License-Identifier: Apache-2.0
// What a struct of options can hold and no call can do, as in hostile_calls_test. Here: what single calls have, and
// arrays.
#include "api/test_hostile_calls.h"

#include <functional>
#include <optional>
#include <stdexcept>

namespace lepus {
namespace {

using namespace hostile;
using test::TempFolder;

TEST_F(HostileCalls, slices) {
  const auto refused = [&](const std::function<void(SliceOptions&)>& change, const std::string& part) {
    SliceOptions options = slice_of(truth(), output("s.png"));
    change(options);
    EXPECT_REFUSED(draw_slices(options), part);
  };
  refused([](SliceOptions& o) { o.window = 1, o.level = not_a_number; }, "option --level");
  refused([](SliceOptions& o) { o.window = infinite, o.level = 0; }, "option --window");
  refused([](SliceOptions& o) { o.minimum = -infinite; }, "option --min");
  refused([](SliceOptions& o) { o.maximum = not_a_number; }, "option --max");
  refused([](SliceOptions& o) { o.position_mm = not_a_number; }, "outside the volume");
  refused([](SliceOptions& o) { o.index = -1; }, "");
  refused([](SliceOptions& o) { o.index = huge; }, "");
  refused([](SliceOptions& o) { o.percentiles = {1}; }, "--percentiles");
  refused([](SliceOptions& o) { o.percentiles = {not_a_number, 99}; }, "--percentiles");
  refused([](SliceOptions& o) { o.montage = -huge; }, "montage");
  refused([](SliceOptions& o) { o.size_pixels = huge; }, "--size");
  EXPECT_EQ(outputs(), 0U);
  SliceOptions many = slice_of(truth(), output("s.png"));
  many.montage = huge;  // as many as there are
  EXPECT_EQ(draw_slices(many).slices.size(), 24U);
}

TEST_F(HostileCalls, comparisons) {
  const auto refused = [&](const std::function<void(CompareOptions&)>& change, const std::string& part) {
    CompareOptions options = comparison_of(truth(), truth());
    change(options);
    EXPECT_REFUSED(compare_volumes(options), part);
  };
  refused([](CompareOptions& o) { o.peak = infinite; }, "option --peak");
  refused([](CompareOptions& o) { o.peak = not_a_number; }, "option --peak");
  refused([](CompareOptions& o) { o.radius_mm = not_a_number; }, "option --radius");
  refused([](CompareOptions& o) { o.reference_above = not_a_number; }, "option --above");
  refused([](CompareOptions& o) { o.reference_below = not_a_number; }, "option --below");
  refused([](CompareOptions& o) { o.box_mm = {1, 2, 3}; }, "a box needs six numbers");
  refused([](CompareOptions& o) { o.box_mm = {-1, 1, -1, not_a_number, -1, 1}; }, "a box needs six numbers");
  refused([](CompareOptions& o) { o.limits = {{.metric = "rmsd", .value = 1}}; }, "did you mean 'rmse'?");
  refused([](CompareOptions& o) { o.limits = {{.metric = "rmse", .value = not_a_number}}; }, "option --fail-above");
  refused([](CompareOptions& o) { o.volume_axes = "x,x,z"; }, "option --axes");
}

TEST_F(HostileCalls, analyses) {
  const auto refused = [&](const std::function<void(AnalyzeOptions&)>& change, const std::string& part) {
    AnalyzeOptions options;
    options.volume = truth();
    options.output = output("report");
    change(options);
    EXPECT_REFUSED(analyze(options), part);
  };
  refused([](AnalyzeOptions& o) { o.box_mm = {not_a_number, 1, -1, 1, -1, 1}; }, "a box needs six numbers");
  refused([](AnalyzeOptions& o) { o.noise_box_mm = {0, infinite, -1, 1, -1, 1}; }, "option --noise-box");
  refused([](AnalyzeOptions& o) { o.cylinder_mm = {not_a_number, 0, 1}; }, "a cylinder needs three numbers");
  refused([](AnalyzeOptions& o) { o.cylinder_mm = {0, 1}; }, "a cylinder needs three numbers");
  refused([](AnalyzeOptions& o) { o.radius_mm = not_a_number; }, "option --radius");
  refused([](AnalyzeOptions& o) { o.part = infinite; }, "option --part");
  refused([](AnalyzeOptions& o) { o.remove_air = true, o.seal = not_a_number; }, "option --seal");
  refused([](AnalyzeOptions& o) { o.cell = std::numeric_limits<std::int64_t>::max(); }, "option --cell");
  refused([](AnalyzeOptions& o) { o.cell = -1; }, "option --cell");
  refused([](AnalyzeOptions& o) { o.bins = huge; }, "bins");
  refused([](AnalyzeOptions& o) { o.connectivity = 0; }, "neighbours");
  refused([](AnalyzeOptions& o) { o.minimum_voxels = huge, o.maximum_voxels = 1; }, "no blob has such a size");
  refused([](AnalyzeOptions& o) { o.threshold = ""; }, "threshold");
  refused([](AnalyzeOptions& o) { o.threshold = "nan"; }, "threshold");
  refused([](AnalyzeOptions& o) { o.phase = "grey"; }, "phase");
  refused([](AnalyzeOptions& o) { o.sort = "mass"; }, "mass");
  refused([](AnalyzeOptions& o) { o.save = {"everything"}; }, "cannot be saved");
  refused([](AnalyzeOptions& o) { o.clean = {"open:-1"}; }, "open:-1");
  refused([](AnalyzeOptions& o) { o.resume = o.restart = true; }, "contradict");
  EXPECT_EQ(outputs(), 0U);
}

TEST_F(HostileCalls, conversions) {
  const auto refused = [&](const VolumeConversionOptions& options, const std::string& part) {
    EXPECT_REFUSED(convert_volume(truth(), output("v.mha"), options), part);
  };
  refused({.part = {.slices = {3, 2}}}, "option --slices");
  refused({.part = {.slices = {0, huge}}}, "option --slices");
  refused({.part = {.slices = {1}}}, "option --slices");
  refused({.part = {.crop = {0, 0, 0, 1}}}, "option --crop");
  refused({.part = {.crop = {-huge, huge, 0, 1}}}, "option --crop");
  refused({.water_per_mm = infinite}, "option --water");
  refused({.water_per_mm = not_a_number}, "option --water");
  refused({.stored = {.type = VoxelType::uint16}}, "no range of values");
  refused({.stored = {.type = VoxelType::uint16, .low = 0, .high = infinite}}, "no range of values");
  refused({.stored = {.type = VoxelType::float32, .low = 0, .high = 1}}, "need no range");
  refused({.output_axes = "x,y"}, "option --axes");
  EXPECT_REFUSED(write_surface(truth(), output("s.stl"), not_a_number), "option --surface");
  EXPECT_LEPUS_ERROR(write_scan_geometry(scan_file(), output("g.xml"), "itk"), ErrorKind::usage, "itk");
  EXPECT_EQ(outputs(), 0U);
}

TEST_F(HostileCalls, searches_for_the_axis) {
  const auto refused = [&](const CenterOptions& options, const std::string& part) {
    EXPECT_REFUSED(center(scan_file(), options), part);
  };
  for (const std::int64_t bands : {std::int64_t{0}, -huge, huge}) refused({.bands = bands}, "option --bands");
  refused({.row = -1}, "there is no row -1");
  refused({.row = huge}, "there is no row");
  refused({.column = not_a_number}, "option --column");
  refused({.trial_step_columns = infinite}, "option --trial-step");
  refused({.search = {.first = not_a_number}}, "columns of the search");
  refused({.search = {.last = 1e300}}, "no detector has such columns");
  refused({.search = {.first = 20, .last = 20}}, "give the smaller one first");
  refused({.search = {.step = 0}}, "steps must be above zero");
  refused({.search = {.step = 1e-300}}, "steps of the search");
  refused({.search = {.precision = not_a_number}}, "steps must be above zero");
  refused({.search = {.largest_tilt_deg = not_a_number}}, "within 45 degrees");
  refused({.search = {.largest_tilt_deg = -1}}, "within 45 degrees");
  refused({.search = {.image_size = huge}}, "no such trial image");
  refused({.search = {.lines = 0}}, "no line of the image");
  refused({.search = {.detrend = not_a_number}}, "a running mean");
}

TEST_F(HostileCalls, calibrations) {
  const auto refused = [&](const CalibrateOptions& options, const std::string& part) {
    EXPECT_REFUSED(calibrate(scan_file(), options), part);
  };
  for (const double diameter : {-1.0, 0.0, not_a_number, infinite})
    refused({.bead_diameter_px = diameter}, "option --bead-diameter");
  refused({.bead_spacing_mm = not_a_number}, "--bead-spacing-mm");
  refused({.plate_width_mm = infinite}, "--plate-width-mm");
  refused({.plate_width_mm = 0}, "above zero");
  refused({.bead_spacing_mm = 1, .plate_width_mm = 1}, "a plate or beads");
  refused({.output = output("geometry.toml"), .plate_width_mm = 1}, "not written as a section");
  refused({.write = true, .plate_width_mm = 1}, "not written into a scan file");
  EXPECT_EQ(outputs(), 0U);
}

TEST_F(HostileCalls, plans) {
  PlanOptions options;
  EXPECT_REFUSED(plan_problem({}, options), "how large is the cluster?");
  options.cluster.emplace();
  options.cluster->updates = 1e12;
  EXPECT_REFUSED(plan_problem({}, options), "at least one of each");
  EXPECT_REFUSED(plan_problem({-1, -1, -1, -1}, options), "at least one of each");
  EXPECT_REFUSED(plan_problem({256, 256, huge, 256}, options), "at most");
  EXPECT_REFUSED(plan_problem({256, 256, 256, huge}, options), "at most");
  const auto refused = [&](const std::function<void(Cluster&)>& change, const std::string& part) {
    PlanOptions changed = options;
    change(*changed.cluster);
    EXPECT_REFUSED(plan_problem({64, 64, 64, 64}, changed), part);
  };
  refused([](Cluster& c) { c.nodes = 0; }, "option --nodes");
  refused([](Cluster& c) { c.nodes = huge; }, "option --nodes");
  refused([](Cluster& c) { c.devices_per_node = -1; }, "option --nodes");
  refused([](Cluster& c) { c.ranks_per_node = 0; }, "option --ranks-per-node");
  refused([](Cluster& c) { c.updates = not_a_number; }, "option --gups");
  refused([](Cluster& c) { c.updates = infinite; }, "option --gups");
  refused([](Cluster& c) { c.network_bytes = infinite; }, "option --network");
  refused([](Cluster& c) { c.disk_bytes = not_a_number; }, "option --disk");
  refused([](Cluster& c) { c.launch_seconds = not_a_number; }, "option --launch");
  refused([](Cluster& c) { c.devices_per_node = 1, c.device_bytes = -1; }, "option --gpu-memory");
}

TEST_F(HostileCalls, previews_and_projections) {
  PreviewOptions page;
  page.page = output("page.html");
  page.place = not_a_number;
  EXPECT_REFUSED(preview(scan_file(), page), "outside the volume");
  page.place.reset();
  page.index = -huge;
  EXPECT_REFUSED(preview(scan_file(), page), "there is no slice");
  EXPECT_REFUSED(write_projection_matrix(scan_file(), output("m.mat")), ".npz");
  EXPECT_EQ(outputs(), 0U);
}

TEST_F(HostileCalls, reconstructions) {
  const auto refused = [&](const std::function<void(ReconstructOptions&)>& change, const std::string& part) {
    ReconstructOptions options;
    options.compute = {.backend = "cpu", .threads = 2};
    change(options);
    EXPECT_REFUSED(reconstruct(scan_file(), output("v.mha"), options), part);
  };
  refused([](ReconstructOptions& o) { o.share = 1; }, "there is no share");
  refused([](ReconstructOptions& o) { o.shares = -3, o.share = -3; }, "there is no share");
  refused([](ReconstructOptions& o) { o.wedges = -1; }, "option --wedges");
  refused([](ReconstructOptions& o) { o.wedges = 2; }, "option --wedges");
  refused([](ReconstructOptions& o) { o.output = {.type = VoxelType::uint16}; }, "no range of values");
  refused([](ReconstructOptions& o) { o.method.name = "os-start"; }, "did you mean os-sart?");
  refused([](ReconstructOptions& o) { o.method = {.name = "sirt", .iterations = 0}; }, "at least one is needed");
  refused([](ReconstructOptions& o) { o.method = {.name = "os-sart", .subsets = huge}; }, "subsets");
  refused([](ReconstructOptions& o) { o.method = {.name = "fista-tv", .strength = not_a_number}; }, "strength");
  refused([](ReconstructOptions& o) { o.method = {.name = "fista-tv", .strength = infinite}; }, "strength");
  refused([](ReconstructOptions& o) { o.method = {.name = "fista-tv", .strength = 1, .choose_strength = true}; },
          "leave one of them out");
  refused([](ReconstructOptions& o) { o.method = {.name = "sirt", .save_every = -3}; }, "a state after every -3");
  refused([](ReconstructOptions& o) { o.method = {.name = "sirt", .save_minutes = not_a_number}; }, "a state after");
  refused([](ReconstructOptions& o) { o.method = {.name = "sirt", .model = "ray"}; }, "model");
  refused([](ReconstructOptions& o) { o.method = {.name = "sirt", .weights = "all"}; }, "weights");
  EXPECT_REFUSED(compare_methods(scan_file(), output("m.png"), {}), "no method was named");
  EXPECT_REFUSED(compare_methods(scan_file(), output("m.png"), {"fdk"}, {.share = 1, .shares = 2}), "a share of");
  EXPECT_REFUSED(compare_methods(scan_file(), output("m.png"), {"", "fdk"}), "no method is called");
  EXPECT_EQ(outputs(), 0U);
}

TEST_F(HostileCalls, simulations) {
  const auto fails = [&](const std::function<void(SimulationOptions&)>& change, ErrorKind kind,
                         const std::string& part) {
    SimulationOptions options = small_simulation();
    change(options);
    EXPECT_LEPUS_ERROR(simulate_scan(output("scan"), options), kind, part);
  };
  const auto refused = [&](const std::function<void(SimulationOptions&)>& change, const std::string& part) {
    fails(change, ErrorKind::usage, part);
  };
  refused([](SimulationOptions& o) { o.flats = huge; }, "flats, darks");
  refused([](SimulationOptions& o) { o.tube_kv = -80; }, "tube");
  refused([](SimulationOptions& o) { o.tube_kv = not_a_number; }, "tube");
  refused([](SimulationOptions& o) { o.phantom.size_mm = infinite; }, "phantom size");
  refused([](SimulationOptions& o) { o.phantom.name = "bal"; }, "did you mean \"ball\"?");
  refused([](SimulationOptions& o) { o.phantom.name = "porous-block", o.phantom.pores = -1; }, "porous block");
  refused([](SimulationOptions& o) { o.phantom.name = "porous-block", o.phantom.pores = huge; }, "pores");
  refused([](SimulationOptions& o) { o.phantom.name = "beads", o.phantom.beads = 0; }, "beads");
  refused([](SimulationOptions& o) { o.phantom.name = "beads", o.phantom.beads = 2'000'000'000; }, "too many");
  refused([](SimulationOptions& o) { o.phantom.material = "iron"; }, "which only parts (.stl) have");
  refused([](SimulationOptions& o) { o.jitter.source_mm = infinite; }, "jitter");
  refused([](SimulationOptions& o) { o.rays.subpixels = 0; }, "subpixels");
  refused([](SimulationOptions& o) { o.rays.spot_diameter_mm = not_a_number; }, "spot");
  refused([](SimulationOptions& o) { o.detector.bits = 17; }, "bits");
  refused([](SimulationOptions& o) { o.detector.photons = not_a_number; }, "photons");
  refused([](SimulationOptions& o) { o.detector.dead_pixels = huge; }, "dead pixels");
  refused([](SimulationOptions& o) { o.grid.emplace(); }, "a volume needs voxels");
  refused([](SimulationOptions& o) { o.grid = VolumeGrid{huge, huge, huge, {}}; }, "too many voxels");
  refused([](SimulationOptions& o) { o.scan.angles_rad.clear(); }, "views");
  refused([](SimulationOptions& o) { o.scanner = "camera"; }, "camera");
  refused([](SimulationOptions& o) { o.truth_samples = 0; }, "truth samples");
  fails([](SimulationOptions& o) { o.scan.columns = huge; }, ErrorKind::geometry, "too many pixels");
  fails([](SimulationOptions& o) { o.scan.rows = -1; }, ErrorKind::geometry, "no pixels");
  fails([](SimulationOptions& o) { o.scan.source_axis_mm = not_a_number; }, ErrorKind::geometry, "source_axis_mm");
  fails([](SimulationOptions& o) { o.scan.perturbations.resize(1); }, ErrorKind::geometry, "perturbations");
  EXPECT_EQ(outputs(), 0U);
  EXPECT_REFUSED(equal_angles_rad(huge), "option --views");
  EXPECT_LEPUS_ERROR(equal_angles_rad(10, not_a_number), ErrorKind::input, "an angle of nan degrees");
  const CircularScan scan = small_simulation().scan;
  for (const double voxel : {0.0, -1.0, not_a_number, infinite, 1e-300})
    EXPECT_REFUSED(grid_of_scan(scan, {}, voxel), "vox");
  EXPECT_REFUSED(grid_of_scan(scan, {{huge, huge, huge}}), "too many voxels");
}

TEST_F(HostileCalls, live_runs_and_pages) {
  const auto refused = [&](const std::function<void(LiveOptions&)>& change, const std::string& part) {
    LiveOptions options;
    change(options);
    EXPECT_REFUSED(reconstruct_live(scan_file(), output("v.mha"), options), part);
  };
  refused([](LiveOptions& o) { o.views = huge; }, "option --views");
  refused([](LiveOptions& o) { o.views = -1; }, "option --views");
  refused([](LiveOptions& o) { o.first_number = -1; }, "option --first-number");
  refused([](LiveOptions& o) { o.every_s = not_a_number; }, "option --every");
  refused([](LiveOptions& o) { o.timeout_s = infinite; }, "option --timeout");
  ViewOptions view;
  EXPECT_REFUSED(ViewServer(view), "one or two volumes");
  view.volumes = {truth()};
  view.water_per_mm = infinite;
  EXPECT_REFUSED(ViewServer(view), "option --water");
  EXPECT_EQ(outputs(), 0U);
}

TEST_F(HostileCalls, questions_without_end) {
  const std::filesystem::path folder = output("frames");
  std::filesystem::create_directory(folder);
  int asked = 0;
  ImportOptions options;
  options.ask = [&asked](const std::string&) { return ++asked, "none"; };
  EXPECT_REFUSED(import_scan(folder, options), "no answer was a number above zero");
  EXPECT_LT(asked, 100);
  options.ask = [](const std::string&) -> std::string { throw std::runtime_error("closed"); };
  EXPECT_THROW(import_scan(folder, options), std::runtime_error);
}

TEST(HostileArrays, sizes_that_wrap_around) {
  ScanGeometry geometry = build_scan(small_simulation().scan);
  const VolumeGrid grid = centred_grid(8, 8, 8, {1, 1, 1});
  std::vector<float> lines(static_cast<std::size_t>(40 * 24 * 24)), volume(512);
  FdkOptions options;
  options.compute = {.backend = "cpu", .threads = 2};
  fdk(geometry, lines, grid, volume, options);
  options.interpolation = static_cast<Interpolation>(3);
  EXPECT_REFUSED(fdk(geometry, lines, grid, volume, options), "there is no Interpolation 3");
  options.interpolation = Interpolation::linear;
  options.filter.window = static_cast<Window>(5);
  EXPECT_REFUSED(fdk(geometry, lines, grid, volume, options), "there is no Window 5");
  options.filter = {.cutoff = not_a_number};
  EXPECT_REFUSED(fdk(geometry, lines, grid, volume, options), "cut-off");
  options.filter = {};
  EXPECT_REFUSED(fdk(geometry, lines, grid, std::span(lines).first(512), options), "overlap");
  EXPECT_REFUSED(fdk(geometry, lines, {huge, 2, 8, {}}, volume, options), "too many voxels");
  options.compute.threads = -5;
  EXPECT_REFUSED(fdk(geometry, lines, grid, volume, options), "threads are not possible");
  options.compute.threads = 2;
  ScanGeometry wide = geometry;
  wide.columns = wide.rows = std::int64_t{1} << 32;  // their product is 0
  EXPECT_REFUSED(fdk(wide, {}, grid, volume, options), "too many pixels");
  EXPECT_REFUSED(Operator(wide, grid), "too many pixels");
  std::vector<float> none;
  EXPECT_REFUSED(correct_line_integrals(wide, none, {}), "too many pixels");
  EXPECT_REFUSED(correct_counts(wide, none, {.counts = 1}, {}, none), "too many pixels");
  EXPECT_REFUSED(correct_counts({}, none, {.counts = 1}, {}, none), "needs a scan with views");
  ScanGeometry arc = geometry;
  arc.recorded_on_arc = ArcDetector{.columns = 40, .rows = 24};
  EXPECT_REFUSED(fdk(arc, lines, grid, volume, options), "an arc detector needs a radius");
}

TEST(HostileArrays, corrections) {
  const ScanGeometry geometry = build_scan(small_simulation().scan);
  std::vector<float> lines(static_cast<std::size_t>(40 * 24 * 24), 0.1F);
  const auto refused = [&](const CorrectionStep& step, const std::string& part) {
    EXPECT_REFUSED(correct_line_integrals(geometry, lines, std::vector{step}), part);
  };
  refused(corrections::Rings{static_cast<corrections::Rings::Method>(99)}, "Rings::Method 99");
  refused(corrections::Rings{static_cast<corrections::Rings::Method>(-1)}, "Rings::Method -1");
  refused(corrections::DeadPixels{{-1}}, "outside the detector");
  refused(corrections::DeadPixels{{huge}}, "outside the detector");
  refused(corrections::HotPixels{.tolerance = not_a_number}, "tolerance");
  refused(corrections::HotPixels{.iterations = 0}, "iterations");
  refused(corrections::Zingers{.radius_views = -1}, "radius_views");
  refused(corrections::Drift{corrections::Drift::Region{-1, 5, 0, 5}}, "region");
  refused(corrections::Drift{corrections::Drift::Region{0, huge, 0, 5}}, "region");
  refused(corrections::Dose{{1, 2}, {}}, "2 doses");
  refused(corrections::Dose{std::vector<double>(24, not_a_number), {}}, "dose");
  refused(corrections::Lag{not_a_number, 3}, "lag");
  refused(corrections::Phase{}, "phase");
  refused(corrections::Hardening{}, "hardening");
  refused(corrections::Hardening{{not_a_number}}, "hardening");
  refused(corrections::Hardening{std::vector<double>(7, 1.0)}, "hardening");
}

TEST(HostileArrays, operators) {
  const ScanGeometry geometry = build_scan(small_simulation().scan);
  const VolumeGrid grid = centred_grid(8, 8, 8, {1, 1, 1});
  const Compute compute{.backend = "cpu", .threads = 2};
  EXPECT_REFUSED(Operator(geometry, grid, {.model = static_cast<RayModel>(9), .compute = compute}), "RayModel 9");
  EXPECT_REFUSED(Operator(geometry, grid, {.compute = {.backend = "cpu", .threads = -1}}), "threads");
  const Operator projection(geometry, grid, {.compute = compute});
  for (const double tolerance : {-1.0, 1.0, infinite, not_a_number})
    EXPECT_REFUSED(projection.norm(tolerance), "share");
  EXPECT_REFUSED(projection.subset({}), "needs a scan with views");
}

}  // namespace
}  // namespace lepus
