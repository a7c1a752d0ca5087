// SPDX-License-Identifier: Apache-2.0
// The corrections' options as classes, and chains of them on arrays.
#include <lepus/correct.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <pybind11/stl.h>

#include "python/bindings/arrays.h"
#include "python/bindings/bindings.h"
#include "python/bindings/call.h"
#include "run/correction_chain.h"
#include "run/memory_io.h"
#include "scan/document.h"

namespace lepus::python {
namespace {

std::vector<std::string> correct_counts_of(const ScanGeometry& geometry, const FloatArray& counts,
                                           const std::optional<FloatArray>& flat, const std::optional<FloatArray>& dark,
                                           double open_beam, const std::vector<CorrectionStep>& steps,
                                           FloatArray& line_integrals, int threads, const py::object& progress) {
  OpenBeam beam;
  if (flat) beam.flat = values_of(*flat);
  if (dark) beam.dark = values_of(*dark);
  beam.counts = open_beam;
  const auto from = values_of(counts);
  const auto to = writable(line_integrals);
  std::vector<std::string> notes;
  run_call(progress, [&](const CallTools& tools) {
    notes = correct_counts(geometry, from, beam, steps, to,
                           {.threads = threads, .cancel = &tools.cancel, .progress = &tools.progress});
  });
  return notes;
}

std::vector<std::string> correct_lines_of(const ScanGeometry& geometry, FloatArray& line_integrals,
                                          const std::vector<CorrectionStep>& steps, int threads,
                                          const py::object& progress) {
  const auto lines = writable(line_integrals);
  std::vector<std::string> notes;
  run_call(progress, [&](const CallTools& tools) {
    notes = correct_line_integrals(geometry, lines, steps,
                                   {.threads = threads, .cancel = &tools.cancel, .progress = &tools.progress});
  });
  return notes;
}

// [[correct]] sections as a scan file has them, on line integrals in place; [row][view][column] is how the chain works.
std::vector<std::string> correct_by_keys(const ScanGeometry& geometry, FloatArray& line_integrals,
                                         const std::string& toml, int threads, const py::object& progress) {
  const auto lines = writable(line_integrals);
  std::vector<std::string> notes;
  run_call(progress, threads, [&](Context& context) {
    const MemoryFrames frames(geometry, lines.data());
    Scan scan;
    scan.file = std::filesystem::current_path() / "steps";  // what messages call it, and where its files lie
    scan.geometry = geometry;
    scan.content = FrameContent::line_integrals;
    scan.recorded = {frames.columns(), frames.rows(), frames.frames(), PixelType::f32};
    scan.corrections = ScanDocument(toml, scan.file).corrections();
    CorrectionChain chain(scan, frames, nullptr, context);
    const std::int64_t columns = frames.columns(), rows = frames.rows(), views = frames.frames();
    const Buffer<float> corrected = chain.corrected({0, rows}, context.threads);
    chain.judge_replaced();
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t view = 0; view < views; ++view)
        std::copy_n(corrected.data() + (row * views + view) * columns, columns,
                    lines.data() + (view * rows + row) * columns);
    for (const CorrectionReport& report : chain.reports()) notes.push_back(report.kind + ": " + report.found);
    for (const auto& list : {chain.warnings_of_making(), chain.warnings_of_work()})
      for (const auto& warning : list) context.progress.warning(warning);
  });
  return notes;
}

using Air = std::optional<std::array<std::int64_t, 4>>;

corrections::Drift drift(const Air& air) {
  corrections::Drift made;
  if (air) made.air = {(*air)[0], (*air)[1], (*air)[2], (*air)[3]};
  return made;
}

void bind_steps(py::module_& module) {
  using namespace corrections;
  py::class_<HotPixels>(module, "HotPixels")
      .def(py::init([](double tolerance, bool below, int iterations) {
             return HotPixels{tolerance, below, iterations};
           }),
           py::arg("tolerance") = 4, py::arg("below") = false, py::arg("iterations") = 3);
  py::class_<Zingers>(module, "Zingers")
      .def(py::init([](double tolerance, int radius_views) {
             return Zingers{tolerance, radius_views};
           }),
           py::arg("tolerance") = 8, py::arg("radius_views") = 2);
  py::class_<DeadPixels>(module, "DeadPixels")
      .def(py::init([](std::vector<std::int64_t> pixels) { return DeadPixels{std::move(pixels)}; }), py::arg("pixels"));
  py::class_<Drift>(module, "Drift").def(py::init(&drift), py::arg("air") = Air{});
  py::class_<Dose>(module, "Dose")
      .def(py::init([](std::vector<double> values, std::optional<double> reference) {
             return Dose{std::move(values), reference};
           }),
           py::arg("values"), py::arg("reference") = std::optional<double>{});
  py::class_<Lag>(module, "Lag")
      .def(py::init([](double fraction, double decay_frames) {
             return Lag{fraction, decay_frames};
           }),
           py::arg("fraction") = 0.02, py::arg("decay_frames") = 3);
  py::class_<Phase>(module, "Phase")
      .def(py::init([](double energy, double delta_over_beta, std::optional<double> distance) {
             return Phase{energy, delta_over_beta, distance};
           }),
           py::arg("energy_kev"), py::arg("delta_over_beta"), py::arg("distance_mm") = std::optional<double>{});
  py::class_<Hardening>(module, "Hardening")
      .def(py::init([](std::vector<double> coefficients) { return Hardening{std::move(coefficients)}; }),
           py::arg("coefficients"));
  py::enum_<Rings::Method>(module, "RingMethod")
      .value("automatic", Rings::Method::automatic)
      .value("trend", Rings::Method::trend)
      .value("wavelet_fourier", Rings::Method::wavelet_fourier)
      .value("sorting", Rings::Method::sorting)
      .value("combined", Rings::Method::combined);
  py::class_<Rings>(module, "Rings")
      .def(py::init([](Rings::Method method) { return Rings{method}; }), py::arg("method") = Rings::Method::trend);
}

}  // namespace

void bind_corrections(py::module_& module) {
  bind_steps(module);
  module.def("correct_by_keys", &correct_by_keys);
  module.def("correction_kinds", [] {
    py::dict kinds;
    for (const CorrectionKind& kind : correction_kinds())
      kinds[py::str(std::string(kind.name))] = std::string(kind.meaning);
    return kinds;
  });
  module.def("correct_counts", &correct_counts_of);
  module.def("correct_line_integrals", &correct_lines_of);
}

}  // namespace lepus::python
