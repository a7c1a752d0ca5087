// SPDX-License-Identifier: Apache-2.0
// lepus bench: how near this machine's limits every part of lepus runs. compare: two such reports side by side.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "bench/program/options.h"
#include "app/command.h"
#include "bench/papers/papers.h"
#include "bench/suite/suite.h"
#include "core/call_context.h"
#include "core/format.h"
#include "core/json.h"
#include "core/output_file.h"
#include "core/output_lock.h"
#include "bench/ladder/ladder.h"
#include "bench/measure/report.h"

namespace lepus::app {
namespace {

[[noreturn]] void refuse_bench_use(const std::string& where, const std::string& what, const std::string& hint) {
  throw Error(ErrorKind::usage, {.what = what, .where = where, .why = {}, .hint = hint});
}

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words;
  std::size_t start = 0;
  while (start <= list.size() && !list.empty()) {
    const std::size_t comma = std::min(list.find(',', start), list.size());
    words.push_back(list.substr(start, comma - start));
    start = comma + 1;
  }
  return words;
}

std::vector<std::int64_t> whole_sizes(const std::vector<double>& sizes) {
  std::vector<std::int64_t> whole;
  for (const double size : sizes) {
    if (size != std::floor(size) || !(std::abs(size) < 1e9))
      refuse_bench_use("option --size", format("{} is not a whole number", size), "write it as --size 256,512");
    whole.push_back(static_cast<std::int64_t>(size));
  }
  return whole;
}

// The line that makes the report again, without where it goes.
std::string command_line(const BenchArguments& a, const Session& session) {
  std::string words = a.action == "suite" ? "lepus bench" : "lepus bench " + a.action;
  if (a.quick) words += " --quick";
  if (!a.sizes.empty()) {
    words += " --size ";
    for (std::size_t i = 0; i < a.sizes.size(); ++i) words += format("{}{:g}", i == 0 ? "" : ",", a.sizes[i]);
  }
  if (!a.only.empty()) words += " --only " + a.only;
  if (a.backend != "auto") words += " --backend " + a.backend;
  if (a.device != 0) words += format(" --device {}", a.device);
  if (a.views != 0) words += format(" --views {}", a.views);
  if (a.repeats != 3) words += format(" --repeats {}", a.repeats);
  if (a.scale != 0) words += format(" --scale {:g}", a.scale);
  if (a.precision != "fast") words += " --precision " + a.precision;
  if (a.no_ablation) words += " --no-ablation";
  if (session.common().threads > 0) words += format(" --threads {}", session.common().threads);
  return words;
}

// Where title, version, date and machine are not yet known, as of now and here.
void complete(measure::Report& report, const BenchArguments& a, const Context& context) {
  const measure::Report now =
      bench::new_report("lepus bench " + a.action, context.threads.size(), static_cast<int>(a.device));
  if (report.title.empty()) report.title = now.title;
  report.version = now.version;
  report.date = now.date;
  report.machine = now.machine;
}

// A figure whose result was wrong fails the command, also where it only compares.
int verdict(bool correct, Session& session) {
  if (!correct) session.warning("a result is wrong: its time counts for nothing");
  return correct ? exit_ok : exit_comparison_failed;
}

int hand_over(measure::Report& report, const BenchArguments& a, Session& session) {
  report.command = command_line(a, session);
  if (!a.output.empty()) {
    measure::write_report(report, a.output, "bench");
    session.note(format("wrote {0}/bench.json, {0}/bench.md and {0}/bench.svg", a.output));
  }
  session.print(measure::to_markdown(report));
  session.result(parse_json(measure::to_json(report)));
  return verdict(report.correct(), session);
}

int run_suite(const BenchArguments& a, Session& session) {
  bench::BenchOptions o;
  o.quick = a.quick;
  o.sizes = whole_sizes(a.sizes);
  o.only = words_of(a.only);
  o.backend = a.backend;
  o.device = static_cast<int>(a.device);
  measure::Report report = bench::run_bench(o, CallContext(session.call()).context());
  return hand_over(report, a, session);
}

int run_ladder_steps(const BenchArguments& a, Session& session) {
  ladder::LadderOptions o;
  o.sizes = whole_sizes(a.sizes);
  o.views = a.views;
  o.only = a.only;
  o.backend = a.backend;
  o.device = static_cast<int>(a.device);
  o.repeats = static_cast<int>(a.repeats);
  o.ablation = o.sweep = !a.no_ablation;
  if (a.quick) {
    if (o.sizes.empty()) o.sizes = {64};
    if (o.views == 0) o.views = 16;
    o.columns = 156;
    o.rows = 120;
    o.repeats = 1;
  }
  CallContext working(session.call());
  // Its own tables and plots beside the common report, after each group: a run that is stopped leaves what it found.
  if (!a.output.empty())
    o.so_far = [&](measure::Report found) {
      complete(found, a, working.context());
      found.command = command_line(a, session);
      ladder::write_ladder(found, a.output);
      measure::write_report(found, a.output, "bench");
    };
  measure::Report report = ladder::run_ladder(o, working.context());
  complete(report, a, working.context());
  if (!a.output.empty()) session.note(format("wrote {}/ladder.md and its plots", a.output));
  return hand_over(report, a, session);
}

int run_papers_again(const BenchArguments& a, Session& session) {
  bench::PapersOptions o;
  o.backend = a.backend;
  o.device = static_cast<int>(a.device);
  o.precision = a.precision == "exact" ? Precision::exact : a.precision == "half" ? Precision::half : Precision::fast;
  o.scale = a.quick && a.scale == 0 ? 0.1 : a.scale;
  o.only = a.only;
  o.repeats = a.quick ? 1 : static_cast<int>(a.repeats);
  CallContext working(session.call());
  measure::Report report = bench::run_papers(o, working.context());
  complete(report, a, working.context());
  return hand_over(report, a, session);
}

// "2%", "2 %" or "2"
double percent_of(const std::string& text) {
  double percent = -1;
  const char* const end = text.data() + text.size();
  const auto [rest, failed] = std::from_chars(text.data(), end, percent);
  const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  if (failed != std::errc() || (!unit.empty() && unit != "%" && unit != " %") || !(percent >= 0 && percent < 100))
    refuse_bench_use("option --tolerance", format("'{}' is no share", text), "write it as --tolerance 2%");
  return percent;
}

int compare_reports(const BenchArguments& a, Session& session) {
  const double percent = a.tolerance.empty() ? 100 : percent_of(a.tolerance);
  const measure::Report first = measure::read_best_report(a.a), second = measure::read_best_report(a.b);
  std::string text = measure::compare_markdown(first, second);
  nlohmann::json result = parse_json(measure::compare_json(first, second));
  std::vector<measure::SlowerFigure> slower;
  if (!a.tolerance.empty()) {
    slower = measure::slower_figures(first, second, percent / 100);
    text += format("\n## slower in b by more than {:g} %\n\n", percent);
    for (const measure::SlowerFigure& f : slower)
      text += format("- {}: {}, {}\n", f.group, f.name,
                     f.speed > 0 ? format("{:.4g} times a's speed", f.speed) : std::string("wrong or not measured"));
    if (slower.empty()) text += "nothing\n";
    result["slower"] = nlohmann::json::array();
    for (const measure::SlowerFigure& f : slower)
      result["slower"].push_back({{"group", f.group}, {"name", f.name}, {"speed", f.speed}});
  }
  if (!a.output.empty()) write_file(std::filesystem::path(a.output) / "compare.md", text, session.common().force);
  session.print(text);
  session.result(result);
  if (!slower.empty())
    session.warning(format("{} figures are slower by more than {:g} %, the first is {}: {}", slower.size(), percent,
                           slower.front().group, slower.front().name));
  return slower.empty() ? verdict(first.correct() && second.correct(), session) : int{exit_comparison_failed};
}

int run_bench_command(BenchArguments& a, Session& session) {
  const bool compares = a.action == "compare";
  if (compares && (a.a.empty() || a.b.empty()))
    refuse_bench_use("bench compare", "two reports are needed", "lepus bench compare a/bench.json b/bench.json");
  const auto only_for = [&](std::initializer_list<const char*> options, std::initializer_list<const char*> actions) {
    if (std::ranges::any_of(actions, [&](const char* action) { return a.action == action; })) return;
    for (const char* option : options)
      if (a.given.contains(option))
        refuse_bench_use(format("option {}", option), format("bench {} does not use it", a.action), "leave it out");
  };
  only_for({"--tolerance"}, {"compare"});
  only_for({"--repeats"}, {"ladder", "papers"});
  only_for({"--views", "--no-ablation"}, {"ladder"});
  only_for({"--scale", "--precision"}, {"papers"});
  only_for({"--quick", "--only", "--size", "--backend", "--device"}, {"suite", "ladder", "papers"});
  if (!compares && !a.a.empty())
    refuse_bench_use("bench " + a.action, format("'{}' is one word too many", a.a), "only compare takes files");
  if (session.common().memory_bytes > 0)
    refuse_bench_use("option --memory", "bench keeps no limit: its problems have sizes of their own",
                     "--quick or --size makes them smaller");
  if (a.repeats < 1 || a.repeats > 1000)
    refuse_bench_use("option --repeats", format("{} runs are not possible", a.repeats), "give 1 to 1000");
  if (a.device < 0 || a.device > 255)
    refuse_bench_use("option --device", format("there is no device {}", a.device), "count from 0");
  std::vector<OutputLock> locks;
  if (!a.output.empty()) {
    const std::filesystem::path folder = a.output;
    if (std::filesystem::exists(folder) && !std::filesystem::is_directory(folder))
      refuse_bench_use("option --output", format("'{}' is not a folder", a.output), "name a folder");
    std::vector<std::string> names{"bench.json", "bench.md", "bench.svg"};
    if (compares) names = {"compare.md"};
    if (a.action == "ladder") names.emplace_back("ladder.md");
    locks.emplace_back(folder / names.front(), OutputLock::Folder::is_made);
    for (const std::string& name : names)
      locks.push_back(reserve_output(folder / name, session.common().force, *session.call().progress));
  }
  if (compares) return compare_reports(a, session);
  if (a.action == "ladder") return run_ladder_steps(a, session);
  return a.action == "papers" ? run_papers_again(a, session) : run_suite(a, session);
}

}  // namespace

std::unique_ptr<Command> bench_command() {
  auto arguments = std::make_shared<BenchArguments>();
  auto command = described_bench(*arguments);
  command->run = [arguments](Session& session) { return run_bench_command(*arguments, session); };
  return command;
}

}  // namespace lepus::app
