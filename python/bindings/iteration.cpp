// SPDX-License-Identifier: Apache-2.0
// An iterative method on arrays: it keeps its state between runs, so that it can be gone on with, looked at after every
// iteration, saved and restored.
#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <string>

#include <pybind11/functional.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "core/format.h"
#include "core/row_checksum.h"
#include "core/settings_text.h"
#include "iterative/iterate.h"
#include "iterative/state_file.h"
#include "job/map_filters.h"
#include "job/method_input.h"
#include "job/method_memory.h"
#include "operators/scan_map.h"
#include "python/bindings/arrays.h"
#include "python/bindings/bindings.h"
#include "python/bindings/call.h"

namespace lepus::python {
namespace {

struct IterationArrays {
  FloatArray views;
  std::optional<FloatArray> weights, start, prior, mask;
};

void require_numbers(const std::optional<FloatArray>& array, const char* what) {
  if (!array) return;
  const auto values = values_of(*array);
  const auto bad = std::ranges::find_if(values, [](float value) { return !std::isfinite(value); });
  if (bad != values.end())
    throw Error(ErrorKind::input, {.what = format("{}: a value is not a number", what),
                                   .where = format("Solver, value {}", bad - values.begin()),
                                   .why = "no iteration would have numbers after it",
                                   .hint = "replace it, for example with numpy.nan_to_num"});
}

// Of arrays the noise is not estimated.
void require_noise(const MethodSettings& settings) {
  if (settings.stop_at_noise && !(settings.noise.value_or(0) > 0))
    throw Error(ErrorKind::usage, {.what = "stop_at_noise without the noise",
                                   .where = "Solver",
                                   .why = "of arrays it is not estimated, and the method would never stop",
                                   .hint = "give noise, the root mean square of that of the line integrals"});
}

class Iteration {
public:
  Iteration(const ScanGeometry& geometry, const VolumeGrid& grid, const MethodSettings& settings,
            const Compute& compute, const IterationArrays& arrays)
      : settings_(settings),
        geometry_(geometry),
        grid_(grid),
        compute_(compute),
        kind_(method_kind(settings.name)),
        options_(method_options(settings, geometry.views(), settings.noise.value_or(0))) {
    require_noise(settings);
    require_numbers(arrays.views, "views");
    require_numbers(arrays.weights, "weights");
    require_numbers(arrays.start, "start");
    require_numbers(arrays.prior, "prior");
    require_numbers(arrays.mask, "mask");
    OperatorOptions options;
    options.model = ray_model(settings.model);
    options.compute = compute;
    map_ =
        make_scan_map(geometry, grid, options,
                      vector_needs(kind_, options_, geometry.views(), geometry.rows * geometry.columns, grid.voxels()));
    load(arrays);
    method_ = make_method(problem_, options_);
  }

  // `watch`: called after every iteration with its number, its residual and, where asked for, the volume; what is not
  // None and false stops. What was done so far is known after every iteration, whatever ends the run.
  void run(std::int64_t iterations, const py::object& watch, bool with_volume, const py::object& progress) {
    MethodOptions options = options_;
    options.iterations = method_->iteration() + iterations;
    std::exception_ptr raised;
    std::int64_t watched = 0;
    const auto ask = [&](double residual) {
      const py::gil_scoped_acquire locked;
      watched = method_->iteration();
      try {
        const py::object volume = with_volume ? py::object(volume_array()) : py::object(py::none());
        const py::object answer = watch(watched, residual, volume);
        return answer.is_none() || answer.cast<bool>();
      } catch (...) {
        raised = std::current_exception();
        return false;
      }
    };
    run_call(progress, [&](const CallTools& tools) {
      const std::unique_lock lock(at_work_, std::try_to_lock);
      if (!lock)
        throw Error(ErrorKind::usage, {.what = "the method is at work already",
                                       .where = "Solver.run",
                                       .why = "another thread runs it, or its own callback does",
                                       .hint = "make another Solver"});
      IterateHooks hooks;
      hooks.progress = &tools.progress;
      hooks.cancel = &tools.cancel;
      if (started_) hooks.restore = [&](Method&) { return so_far_; };  // the state is there
      hooks.save_rule.iterations = 1;
      hooks.save = [&](Method&, const IterateReport& report) { keep(report); };
      if (!watch.is_none()) hooks.go_on = [&](Method&, double residual) { return ask(residual); };
      const std::int64_t before = method_->iteration();
      keep(iterate(*method_, problem_, options, hooks));
      started_ = true;
      // The one at which a rule to stop holds.
      const bool one_more = method_->iteration() > std::max(before, watched);
      if (one_more && !watch.is_none() && !raised) ask(so_far_.residuals.back());
    });
    if (raised) std::rethrow_exception(raised);
  }

  FloatArray volume_array() {
    FloatArray out({grid_.nz, grid_.ny, grid_.nx});
    method_->download(out.mutable_data(), method_->volume().data(), grid_.voxels());
    return out;
  }
  const IterateReport& so_far() const { return so_far_; }  // of all runs
  std::int64_t negative_values() const { return problem_.negative_values; }

  void save(const std::filesystem::path& file) {
    if (so_far_.iterations == 0)
      throw Error(ErrorKind::usage, {.what = "there is nothing to save",
                                     .where = file.string(),
                                     .why = "no iteration is done",
                                     .hint = "run the Solver first"});
    std::filesystem::path before = file;
    before += ".before";
    save_state(file, before, file, {.run = run_text(), .strength = options_.strength, .done = so_far_}, *method_);
    std::filesystem::remove(before);
  }
  void load_from(const std::filesystem::path& file) try {
    if (const std::string difference = settings_difference(read_state_header(file).run, run_text());
        !difference.empty())
      throw Error(ErrorKind::input, {.what = "the state is that of another solver",
                                     .where = file.string(),
                                     .why = difference,
                                     .hint = "make the Solver as the one that was saved"});
    prepare(*method_);
    so_far_ = load_state(file, *method_).done;
    started_ = true;
  } catch (const DamagedState& damaged) {  // whose hint is the program's
    ErrorParts parts = damaged.parts();
    parts.hint = "begin anew with another Solver";
    throw Error(damaged.kind(), parts);
  }

private:
  // With the interpreter's lock, under which it is read.
  void keep(const IterateReport& report) {
    const py::gil_scoped_acquire locked;
    so_far_ = report;
  }

  void load(const IterationArrays& arrays) {
    std::vector<float> mask;
    if (arrays.mask) mask.assign(arrays.mask->data(), arrays.mask->data() + arrays.mask->size());
    for (float& value : mask) value = value == 0 ? 0.0F : 1.0F;
    problem_ = make_problem(*map_, kind_, mask);
    problem_.angles_rad = view_angles(geometry_);
    problem_.fdk = [this](const float* line_integrals, float* volume) {
      FdkOptions options;
      options.compute = compute_;
      fdk_of_map(*map_, geometry_, grid_, options, line_integrals, volume);
    };
    problem_.ramp = [this](float* line_integrals) { ramp_of_map(*map_, geometry_, compute_.threads, line_integrals); };
    const auto pixels = static_cast<std::size_t>(geometry_.rows * geometry_.columns);
    for (std::int64_t view = 0; view < geometry_.views(); ++view) {
      const std::size_t first = static_cast<std::size_t>(view) * pixels;
      put_view(problem_, kind_, view, values_of(arrays.views).subspan(first, pixels),
               arrays.weights ? values_of(*arrays.weights).subspan(first, pixels) : std::span<const float>{});
    }
    finish_views(problem_, kind_);
    if (arrays.start) problem_.start = volume_from(problem_, values_of(*arrays.start));
    if (arrays.prior) problem_.prior = volume_from(problem_, values_of(*arrays.prior));
    problem_text_ = text_of(arrays, mask);
  }

  // Which problem it is: where rays and voxels are, and checksums of all that was measured or is known.
  std::string text_of(const IterationArrays& arrays, const std::vector<float>& mask) const {
    std::uint64_t matrices = 0;
    for (std::int64_t view = 0; view < geometry_.views(); ++view) {
      const auto& m = geometry_.matrices[static_cast<std::size_t>(view)].m;
      matrices += row_checksum(view, 0, m.data(), static_cast<std::int64_t>(sizeof m));
    }
    const auto sum = [](std::span<const float> values) {
      return format("\"{:016x}\"", row_checksum(0, 0, values.data(), static_cast<std::int64_t>(values.size_bytes())));
    };
    const auto sum_if = [&](const std::optional<FloatArray>& array) { return array ? sum(values_of(*array)) : "\"\""; };
    const Vec3 &origin = grid_.origin_mm, &step = grid_.step_mm;
    return format("\n[problem]\nvoxels = [{}, {}, {}]\norigin_mm = [{}, {}, {}]\nstep_mm = [{}, {}, {}]\n", grid_.nx,
                  grid_.ny, grid_.nz, origin.x, origin.y, origin.z, step.x, step.y, step.z) +
           format("columns = {}\nrows = {}\nmatrices = \"{:016x}\"\n", geometry_.columns, geometry_.rows, matrices) +
           format("views = {}\nweights = {}\nprior = {}\nmask = {}\n", sum(values_of(arrays.views)),
                  sum_if(arrays.weights), sum_if(arrays.prior), mask.empty() ? "\"\"" : sum(mask));
  }

  // What must be the same to go on from a saved state.
  std::string run_text() const { return method_toml(resumable_settings(settings_, options_.subsets)) + problem_text_; }

  MethodSettings settings_;
  ScanGeometry geometry_;
  VolumeGrid grid_;
  Compute compute_;
  const MethodKind& kind_;
  MethodOptions options_;
  std::unique_ptr<LinearMap> map_;
  Problem problem_;
  std::string problem_text_;
  std::unique_ptr<Method> method_;
  bool started_ = false;
  std::mutex at_work_;
  IterateReport so_far_;
};

void bind_settings(py::module_& module) {
  py::class_<MethodSettings>(module, "MethodSettings")
      .def(py::init<>())
      .def_readwrite("name", &MethodSettings::name)
      .def_readwrite("iterations", &MethodSettings::iterations)
      .def_readwrite("subsets", &MethodSettings::subsets)
      .def_readwrite("order", &MethodSettings::order)
      .def_readwrite("seed", &MethodSettings::seed)
      .def_readwrite("relaxation", &MethodSettings::relaxation)
      .def_readwrite("strength", &MethodSettings::strength)
      .def_readwrite("choose_strength", &MethodSettings::choose_strength)
      .def_readwrite("huber", &MethodSettings::huber)
      .def_readwrite("total_variation_steps", &MethodSettings::total_variation_steps)
      .def_readwrite("low", &MethodSettings::low)
      .def_readwrite("high", &MethodSettings::high)
      .def_readwrite("start", &MethodSettings::start)
      .def_readwrite("weights", &MethodSettings::weights)
      .def_readwrite("mask", &MethodSettings::mask)
      .def_readwrite("prior", &MethodSettings::prior)
      .def_readwrite("prior_share", &MethodSettings::prior_share)
      .def_readwrite("extend", &MethodSettings::extend)
      .def_readwrite("model", &MethodSettings::model)
      .def_readwrite("stop_residual", &MethodSettings::stop_residual)
      .def_readwrite("stop_change", &MethodSettings::stop_change)
      .def_readwrite("stop_at_noise", &MethodSettings::stop_at_noise)
      .def_readwrite("noise", &MethodSettings::noise)
      .def_readwrite("save_every", &MethodSettings::save_every)
      .def_readwrite("save_minutes", &MethodSettings::save_minutes)
      .def_readwrite("resume", &MethodSettings::resume)
      .def_readwrite("restart", &MethodSettings::restart);
}

}  // namespace

void bind_iteration(py::module_& module) {
  bind_settings(module);
  py::class_<Iteration>(module, "Iteration")
      .def(py::init([](const ScanGeometry& geometry, const VolumeGrid& grid, const MethodSettings& settings,
                       const Compute& compute, FloatArray views, std::optional<FloatArray> weights,
                       std::optional<FloatArray> start, std::optional<FloatArray> prior,
                       std::optional<FloatArray> mask) {
        return std::make_unique<Iteration>(
            geometry, grid, settings, compute,
            IterationArrays{std::move(views), std::move(weights), std::move(start), std::move(prior), std::move(mask)});
      }))
      .def("run", &Iteration::run)
      .def_property_readonly("volume", &Iteration::volume_array)
      .def_property_readonly("iteration", [](const Iteration& i) { return i.so_far().iterations; })
      .def_property_readonly("residuals", [](const Iteration& i) { return i.so_far().residuals; })
      .def_property_readonly("stopped", [](const Iteration& i) { return i.so_far().stopped; })
      .def_property_readonly("diverged", [](const Iteration& i) { return i.so_far().diverged; })
      .def_property_readonly("taken_back", [](const Iteration& i) { return i.so_far().taken_back; })
      .def_property_readonly("negative_values", &Iteration::negative_values)
      .def("save", &Iteration::save)
      .def("load", &Iteration::load_from);
  module.def("method_kinds", [] {
    py::dict kinds;
    for (const MethodKind& kind : method_kinds()) kinds[kind.name] = kind.summary;
    return kinds;
  });
}

}  // namespace lepus::python
