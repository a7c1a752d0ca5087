// SPDX-License-Identifier: Apache-2.0
#include "bench/papers/papers.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "bench/suite/names.h"
#include "bench/papers/parts.h"
#include "bench/suite/suite.h"
#include "core/format.h"
#include "core/text.h"
#include "bench/rabbitct/view_stream.h"
#include <lepus/error.h>

namespace lepus::bench {
namespace {

// In the order of paper_names.
constexpr std::vector<measure::Figure> (*papers[])(const PaperRun&) = {rabbitct_paper,  michigan_paper, paris_paper,
                                                                       projector_paper, iowa_paper,     filters_paper};
static_assert(std::size(papers) == std::size(paper_names));

[[noreturn]] void refuse_papers(std::string what, std::string why, std::string hint) {
  throw Error(ErrorKind::usage, {.what = std::move(what), .where = {}, .why = std::move(why), .hint = std::move(hint)});
}

}  // namespace

std::string PaperRun::how() const {
  if (!gpu) return kind;
  return kind + (precision == Precision::exact ? ", exact" : precision == Precision::fast ? ", fast" : ", half");
}

std::int64_t scaled(std::int64_t n, double scale, std::int64_t minimum) {
  return std::max(minimum, static_cast<std::int64_t>(std::llround(static_cast<double>(n) * scale)));
}

void add_note(measure::Figure& figure, const std::string& note) {
  figure.note += (figure.note.empty() ? "" : "; ") + note;
}

void put_published(measure::Figure& figure, double seconds, const std::string& who, double work_ratio) {
  figure.published_seconds = seconds * work_ratio;
  figure.published = who;
  if (std::abs(work_ratio - 1) < 1e-9) return;
  figure.published += format(", {:g} s scaled", seconds);
  add_note(figure, format("scaled down: {:.3g} of the paper's work, and its {:g} s times that", work_ratio, seconds));
}

std::shared_ptr<float> host_floats(const PaperRun& run, std::int64_t count) {
  const Devices devices = open_devices(compute_on(run.kind, format("{}", run.device)), run.context.threads);
  return rabbitct::host_floats(count, *devices.front());
}

measure::Report run_papers(const PapersOptions& options, Context& context) {
  const std::vector<std::string> names(std::begin(paper_names), std::end(paper_names));
  if (!options.only.empty() && std::find(names.begin(), names.end(), options.only) == names.end()) {
    const std::string nearest = nearest_name(options.only, names);
    refuse_papers(format("no paper is called '{}'", options.only),
                  "there are rabbitct, michigan, paris, projector, iowa and filters",
                  nearest.empty() ? "" : format("did you mean '{}'?", nearest));
  }
  constexpr double minimum_scale = 0.08;  // below it the ball has too few voxels to be checked
  if (options.scale != 0 && !(options.scale >= minimum_scale && options.scale <= 1))
    refuse_papers(format("a scale of {:g} is not possible", options.scale),
                  format("it must be {:g} to 1, or 0 for what suits the machine", minimum_scale), "");
  if (options.repeats < 1) refuse_papers("nothing can be measured in no run", "", "give at least one repeat");
  Progress silent;
  Context quiet{context.threads, context.cancel, silent};
  const Devices devices = open_devices(compute_on(options.backend, format("{}", options.device)), context.threads);
  PaperRun run{.kind = devices.front()->info().kind,
               .gpu = !devices.front()->info().host,
               .device = options.device,
               .precision = options.precision,
               .scale = options.scale,
               .repeats = options.repeats,
               .context = quiet};
  if (run.scale == 0) run.scale = run.gpu ? 1 : 0.25;
  measure::Report report = new_report("lepus bench papers", context.threads.size(), options.device);
  context.progress.begin("papers", options.only.empty() ? static_cast<std::int64_t>(std::size(papers)) : 1);
  for (std::size_t i = 0; i < std::size(papers); ++i) {
    if (!options.only.empty() && options.only != paper_names[i]) continue;
    context.cancel.check();
    for (measure::Figure& figure : papers[i](run)) report.figures.push_back(std::move(figure));
    context.progress.advance();
  }
  context.progress.end();
  return report;
}

}  // namespace lepus::bench
