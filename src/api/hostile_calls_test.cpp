// SPDX-License-Identifier: Apache-2.0
// What a struct of options can hold and no call can do: each is one error that says so, whatever the value, and no file
// of the caller's is touched. Here: what all calls have.
#include "api/test_hostile_calls.h"

#include <atomic>
#include <functional>
#include <stdexcept>

namespace lepus {
namespace {

using namespace hostile;
using test::read_file;

TEST_F(HostileCalls, what_a_call_may_take_of_the_machine) {
  for (const int threads : {-5, -1, 4097, std::numeric_limits<int>::max()}) {
    SliceOptions slice = slice_of(truth(), output("slice.png"));
    slice.call.threads = threads;
    EXPECT_REFUSED(draw_slices(slice), "threads are not possible");
    EXPECT_REFUSED(limit_io_threads(threads), "threads are not possible");
    ReconstructOptions reconstruction;
    reconstruction.compute.threads = threads;
    EXPECT_REFUSED(reconstruct(scan_file(), output("v.mha"), reconstruction), "threads are not possible");
  }
  SliceOptions slice = slice_of(truth(), output("slice.png"));
  slice.call.memory_bytes = -1;
  EXPECT_REFUSED(draw_slices(slice), "-1 bytes are no limit");
  EXPECT_EQ(outputs(), 0U);
}

TEST_F(HostileCalls, what_computes) {
  const auto refused = [&](const Compute& compute, const std::string& part) {
    SCOPED_TRACE(part);
    ReconstructOptions reconstruction;
    reconstruction.compute = compute;
    EXPECT_REFUSED(reconstruct(scan_file(), output("v.mha"), reconstruction), part);
    PlanOptions plan;
    plan.compute = compute;
    EXPECT_REFUSED(plan_reconstruction(scan_file(), plan), part);
    PreviewOptions page;
    page.page = output("page.html");
    page.compute = compute;
    EXPECT_REFUSED(preview(scan_file(), page), part);
    PostOptions post;
    post.input = truth();
    post.output = output("post.mha");
    post.steps = {"median radius=1"};
    post.compute = compute;
    EXPECT_REFUSED(post_process(post), part);
    AnalyzeOptions analysis;
    analysis.volume = truth();
    analysis.compute = compute;
    EXPECT_REFUSED(analyze(analysis), part);
    VolumeProjectionOptions projection;
    projection.compute = compute;
    EXPECT_REFUSED(project_volume(truth(), scan_file(), output("frames.raw"), projection), part);
    SimulationOptions simulation = small_simulation();
    simulation.compute = compute;
    EXPECT_REFUSED(simulate_scan(output("scan"), simulation), part);
    LiveOptions live;
    live.compute = compute;
    EXPECT_REFUSED(reconstruct_live(scan_file(), output("live.mha"), live), part);
  };
  refused({.backend = "gpu"}, "unknown backend 'gpu'");
  refused({.backend = "cpu", .devices = "first"}, "'first' does not name devices");
  refused({.backend = "cpu", .devices = ""}, "does not name devices");
  refused({.backend = "cpu", .precision = static_cast<Precision>(9)}, "there is no Precision 9");
  refused({.backend = "cpu", .device_memory_bytes = -1}, "-1 bytes are no limit");
  refused({.backend = "cpu", .memory_bytes = -huge}, "bytes are no limit");
  EXPECT_EQ(outputs(), 0U);
}

TEST_F(HostileCalls, a_limit_of_one_byte) {
  const Call tiny{.threads = 2, .memory_bytes = 1};
  const auto too_little = [](const std::function<void()>& call) { EXPECT_LEPUS_ERROR(call(), ErrorKind::memory, ""); };
  SliceOptions slice = slice_of(truth(), output("s.png"));
  slice.call = tiny;
  too_little([&] { draw_slices(slice); });
  CompareOptions comparison = comparison_of(truth(), truth());
  comparison.call = tiny;
  too_little([&] { compare_volumes(comparison); });
  AnalyzeOptions analysis;
  analysis.volume = truth();
  analysis.call = tiny;
  too_little([&] { analyze(analysis); });
  PostOptions post;
  post.input = truth();
  post.output = output("p.mha");
  post.steps = {"median radius=1"};
  post.call = tiny;
  too_little([&] { post_process(post); });
  too_little([&] { convert_volume(truth(), output("v.tif"), {.call = tiny}); });
  too_little([&] { write_surface(truth(), output("s.stl"), 0.01, {.call = tiny}); });
  too_little([&] { describe_file(truth(), {.call = tiny}); });
  too_little([&] { preview(scan_file(), {.page = output("p.html"), .call = tiny}); });
  too_little([&] { plan_reconstruction(scan_file(), {.call = tiny}); });
  too_little([&] { project_volume(truth(), scan_file(), output("f.raw"), {.call = tiny}); });
  too_little([&] { write_projection_matrix(scan_file(), output("m.npz"), {.call = tiny}); });
  too_little([&] { reconstruct(scan_file(), output("v.mha"), {.compute = {.backend = "cpu", .memory_bytes = 1}}); });
}

TEST_F(HostileCalls, files_without_a_name) {
  EXPECT_REFUSED(draw_slices(slice_of(unnamed, output("s.png"))), "no volume was named");
  EXPECT_REFUSED(draw_slices(slice_of(truth(), unnamed)), "no picture was named");
  EXPECT_REFUSED(compare_volumes(comparison_of(unnamed, truth())), "no reference was named");
  EXPECT_REFUSED(compare_volumes(comparison_of(truth(), unnamed)), "no volume was named");
  EXPECT_REFUSED(analyze({}), "no volume was named");
  EXPECT_REFUSED(convert_volume(unnamed, output("v.mha")), "no volume was named");
  EXPECT_REFUSED(convert_volume(truth(), unnamed), "no output was named");
  EXPECT_REFUSED(write_surface(unnamed, output("s.stl"), 0.01), "no volume was named");
  EXPECT_REFUSED(write_surface(truth(), unnamed, 0.01), "no surface was named");
  EXPECT_REFUSED(convert_scan(scan_file(), unnamed), "no folder was named");
  EXPECT_REFUSED(write_scan_geometry(scan_file(), unnamed, "rtk"), "no output was named");
  EXPECT_REFUSED(describe_file(unnamed), "no file was named");
  EXPECT_REFUSED(import_scan(unnamed), "no folder was named");
  EXPECT_REFUSED(post_process({.steps = {"median radius=1"}}), "no volume was named");
  EXPECT_REFUSED(post_process({.input = truth(), .steps = {"median radius=1"}}), "no output was named");
  EXPECT_REFUSED(preview(scan_file(), {.page = {}}), "no page was named");
  EXPECT_REFUSED(project_volume(truth(), scan_file(), unnamed), "no output was named");
  EXPECT_REFUSED(project_volume(unnamed, scan_file(), output("f.raw")), "no volume was named");
  EXPECT_REFUSED(reconstruct_live(scan_file(), unnamed), "no volume was named");
  EXPECT_REFUSED(run_status(unnamed), "no output was named");
  EXPECT_REFUSED(simulate_scan(unnamed, small_simulation()), "no folder was named");
  ViewOptions view;
  view.volumes = {unnamed};
  EXPECT_REFUSED(ViewServer(view), "no volume was named");
  // Those that read a scan file say that it is not there.
  EXPECT_LEPUS_ERROR(reconstruct(unnamed, output("v.mha")), ErrorKind::input, "");
  EXPECT_LEPUS_ERROR(center(unnamed), ErrorKind::input, "");
  EXPECT_LEPUS_ERROR(calibrate(unnamed), ErrorKind::input, "");
  EXPECT_LEPUS_ERROR(plan_reconstruction(unnamed), ErrorKind::input, "");
}

TEST_F(HostileCalls, outputs_that_are_inputs) {
  const std::string scan_before = read_file(scan_file()), volume_before = read_file(truth());
  const std::filesystem::path frame = scan_file().parent_path() / "frames.raw";
  const std::string frame_before = read_file(frame);
  const Call force{.threads = 2, .force = true};
  SliceOptions slice = slice_of(truth(), truth());
  slice.call = force;
  EXPECT_REFUSED(draw_slices(slice), "input and output are the same");
  CompareOptions comparison = comparison_of(truth(), truth());
  comparison.picture = truth();
  comparison.call = force;
  EXPECT_REFUSED(compare_volumes(comparison), "input and output are the same");
  EXPECT_REFUSED(center(scan_file(), {.picture = scan_file(), .call = force}), "which the picture would overwrite");
  EXPECT_REFUSED(center(scan_file(), {.picture = frame, .call = force}), "which the picture would overwrite");
  EXPECT_REFUSED(calibrate(scan_file(), {.output = scan_file(), .call = force}), "would overwrite");
  EXPECT_REFUSED(preview(scan_file(), {.page = scan_file(), .call = force}), "which the page would overwrite");
  EXPECT_REFUSED(project_volume(truth(), scan_file(), frame, {.call = force}), "which what is projected would");
  EXPECT_REFUSED(write_scan_geometry(scan_file(), frame, "matrices", force), "which the geometry would overwrite");
  EXPECT_REFUSED(project_volume(truth(), scan_file(), truth(), {.call = force}), "would replace the input");
  EXPECT_REFUSED(convert_volume(truth(), truth(), {.call = force}), "input and output are the same");
  EXPECT_REFUSED(reconstruct(scan_file(), scan_file(), {.force = true}), "cannot be written to");
  EXPECT_EQ(read_file(scan_file()), scan_before);
  EXPECT_EQ(read_file(frame), frame_before);
  EXPECT_EQ(read_file(truth()), volume_before);
}

TEST_F(HostileCalls, enums_that_are_no_names) {
  SliceOptions slice = slice_of(truth(), output("s.png"));
  slice.axis = static_cast<Axis>(3);
  EXPECT_REFUSED(draw_slices(slice), "there is no Axis 3");
  CompareOptions comparison = comparison_of(truth(), truth());
  comparison.ssim = static_cast<SsimMode>(-1);
  EXPECT_REFUSED(compare_volumes(comparison), "there is no SsimMode -1");
  EXPECT_REFUSED(convert_volume(truth(), output("v.mha"), {.stored = {.type = static_cast<VoxelType>(3)}}),
                 "there is no VoxelType 3");
  EXPECT_REFUSED(convert_scan(scan_file(), output("scan"), {.form = static_cast<ScanForm>(4)}), "no ScanForm 4");
  EXPECT_REFUSED(describe_file(truth(), {.volume = static_cast<VolumeDetail>(3)}), "there is no VolumeDetail 3");
  EXPECT_REFUSED(project_volume(truth(), scan_file(), output("f.raw"), {.model = static_cast<RayModel>(4)}),
                 "there is no RayModel 4");
  EXPECT_REFUSED(write_projection_matrix(scan_file(), output("m.npz"), {.model = static_cast<RayModel>(4)}),
                 "there is no RayModel 4");
  EXPECT_REFUSED(center(scan_file(), {.search = {.method = static_cast<CenterMethod>(4)}}), "no CenterMethod 4");
  EXPECT_REFUSED(center(scan_file(), {.search = {.key = static_cast<CenterKey>(2)}}), "there is no CenterKey 2");
  SimulationOptions simulation = small_simulation();
  simulation.content = static_cast<SimulatedContent>(2);
  EXPECT_REFUSED(simulate_scan(output("scan"), simulation), "there is no SimulatedContent 2");
  simulation = small_simulation();
  simulation.scan.beam = static_cast<Beam>(3);
  EXPECT_REFUSED(simulate_scan(output("scan"), simulation), "there is no Beam 3");
  EXPECT_REFUSED(build_scan(simulation.scan), "there is no Beam 3");
  EXPECT_EQ(outputs(), 0U);
}

// Throws when it is told something for the n-th time.
class Refusing : public Progress {
public:
  explicit Refusing(int from) : left_(from) {}
  void begin(std::string_view, std::int64_t) override { count(); }
  void advance(std::int64_t) override { count(); }
  void end() override { count(); }
  void note(const std::string&) override { count(); }
  void warning(const std::string&) override { count(); }

private:
  void count() {
    if (left_-- <= 0) throw std::runtime_error("nobody listens");
  }
  std::atomic<int> left_;
};

TEST_F(HostileCalls, progress_that_throws) {
  // Whatever it was told last: the call ends with its exception, and the next one works.
  const auto ends = [](const std::function<void(Progress&)>& call) {
    int thrown = 0;
    for (const int from : {0, 1, 2, 3, 5, 8, 13, 21, 34}) {
      Refusing progress(from);
      try {
        call(progress);
        break;
      } catch (const std::runtime_error&) {
        ++thrown;
      }
    }
    EXPECT_GT(thrown, 0);
  };
  const auto call_of = [](Progress& progress) { return Call{.threads = 2, .force = true, .progress = &progress}; };
  ends([&](Progress& progress) {
    ReconstructOptions options;
    options.compute = {.backend = "cpu", .threads = 2};
    options.force = true;
    options.progress = &progress;
    reconstruct(scan_file(), output("v.mha"), options);
  });
  ends([&](Progress& progress) { center(scan_file(), {.picture = output("c.png"), .call = call_of(progress)}); });
  ends([&](Progress& progress) {
    AnalyzeOptions options;
    options.volume = truth();
    options.output = output("report");
    options.call = call_of(progress);
    analyze(options);
  });
  ends([&](Progress& progress) { convert_volume(truth(), output("v.tif"), {.call = call_of(progress)}); });
  ends([&](Progress& progress) {
    SimulationOptions options = small_simulation();
    options.call = call_of(progress);
    simulate_scan(output("scan"), options);
  });
  ends([&](Progress& progress) {
    project_volume(truth(), scan_file(), output("frames.raw"),
                   {.compute = {.backend = "cpu"}, .call = call_of(progress)});
  });
}

TEST_F(HostileCalls, a_state_that_throws) {
  ReconstructOptions options;
  options.compute = {.backend = "cpu", .threads = 2};
  options.state = [](const RunState&) { throw std::runtime_error("nobody keeps it"); };
  EXPECT_THROW(reconstruct(scan_file(), output("v.mha"), options), std::runtime_error);
  options.state = {};
  EXPECT_EQ(reconstruct(scan_file(), output("v.mha"), options).output, output("v.mha"));
}

}  // namespace
}  // namespace lepus
