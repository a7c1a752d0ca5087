// SPDX-License-Identifier: Apache-2.0
// lepus bench: how near this machine's limits every part of lepus runs. compare: two such reports side by side.
#include <cmath>

#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "bench/papers.h"
#include "bench/suite.h"
#include "core/format.h"
#include "io/file.h"
#include "ladder/ladder.h"
#include "measure/report.h"

namespace lepus::app {
namespace {

struct BenchArguments {
  std::string action = "suite", a, b, only, output;
  std::vector<double> sizes;
  std::string backend = "auto", precision = "fast";
  std::int64_t device = 0, views = 0, repeats = 3;
  double scale = 0;
  bool quick = false, no_ablation = false;
};

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

// Where title, version, date and machine are not yet told, as of now and here.
void complete(measure::Report& report, const BenchArguments& a, Session& session) {
  const measure::Report now =
      bench::new_report("lepus bench " + a.action, session.context().threads.size(), static_cast<int>(a.device));
  if (report.title.empty()) report.title = now.title;
  report.version = now.version;
  report.date = now.date;
  report.machine = now.machine;
}

// A figure whose result was wrong fails the command, also where it only compares.
int verdict(bool correct, Session& session) {
  if (!correct) session.context().progress.warning("a result is wrong: its time counts for nothing");
  return correct ? exit_ok : exit_comparison_failed;
}

int hand_over(measure::Report& report, const BenchArguments& a, Session& session) {
  report.command = command_line(a, session);
  if (!a.output.empty()) {
    measure::write_report(report, a.output, "bench");
    session.note(format("wrote {0}/bench.json, {0}/bench.md and {0}/bench.svg", a.output));
  }
  session.print(measure::to_markdown(report));
  session.result(nlohmann::json::parse(measure::to_json(report)));
  return verdict(report.correct(), session);
}

int run_suite(const BenchArguments& a, Session& session) {
  bench::BenchOptions o;
  o.quick = a.quick;
  o.sizes = whole_sizes(a.sizes);
  o.only = words_of(a.only);
  o.backend = a.backend;
  o.device = static_cast<int>(a.device);
  measure::Report report = bench::run_bench(o, session.context());
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
  // Its own tables and plots beside the common report, after each group: a run that is stopped leaves what it found.
  if (!a.output.empty())
    o.so_far = [&](measure::Report found) {
      complete(found, a, session);
      found.command = command_line(a, session);
      ladder::write_ladder(found, a.output);
      measure::write_report(found, a.output, "bench");
    };
  measure::Report report = ladder::run_ladder(o, session.context());
  complete(report, a, session);
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
  measure::Report report = bench::run_papers(o, session.context());
  complete(report, a, session);
  return hand_over(report, a, session);
}

int compare_reports(const BenchArguments& a, Session& session) {
  const measure::Report first = measure::read_report(a.a), second = measure::read_report(a.b);
  const std::string text = measure::compare_markdown(first, second);
  if (!a.output.empty()) {
    std::filesystem::create_directories(a.output);
    PartialFile file(std::filesystem::path(a.output) / "compare.md", session.common().force,
                     static_cast<std::int64_t>(text.size()));
    file.append(text);
    file.commit();
  }
  session.print(text);
  session.result(nlohmann::json::parse(measure::compare_json(first, second)));
  return verdict(first.correct() && second.correct(), session);
}

int run_bench_command(BenchArguments& a, Session& session) {
  const bool compares = a.action == "compare";
  if (compares && (a.a.empty() || a.b.empty()))
    refuse_bench_use("bench compare", "two reports are needed", "lepus bench compare a/bench.json b/bench.json");
  if (!compares && !a.a.empty())
    refuse_bench_use("bench " + a.action, format("'{}' is one word too many", a.a), "only compare takes files");
  if (a.repeats < 1 || a.repeats > 1000)
    refuse_bench_use("option --repeats", format("{} runs are not possible", a.repeats), "give 1 to 1000");
  if (a.device < 0 || a.device > 255)
    refuse_bench_use("option --device", format("there is no device {}", a.device), "count from 0");
  if (!a.output.empty() && std::filesystem::exists(a.output)) {
    if (!std::filesystem::is_directory(a.output))
      refuse_bench_use("option --output", format("'{}' is not a folder", a.output), "name a folder");
    for (const char* name : {"bench.json", "bench.md", "bench.svg", "compare.md"})
      if (compares == (std::string(name) == "compare.md"))
        check_target(std::filesystem::path(a.output) / name, session.common().force);
    if (a.action == "ladder") check_target(std::filesystem::path(a.output) / "ladder.md", session.common().force);
  }
  if (compares) return compare_reports(a, session);
  if (a.action == "ladder") return run_ladder_steps(a, session);
  return a.action == "papers" ? run_papers_again(a, session) : run_suite(a, session);
}

}  // namespace

std::unique_ptr<Command> bench_command() {
  auto arguments = std::make_shared<BenchArguments>();
  auto command = std::make_unique<Command>();
  command->name = "bench";
  command->summary = "how fast this machine is, and how near its own limits every part of lepus runs";
  command->description =
      "Measures this machine (memory, SIMD, disk; a GPU's link, memory, texture units) and then every part of lepus:\n"
      "backprojection, filter, projector, corrections, files, the whole way. Each result is checked before its time\n"
      "counts; a wrong one makes the exit code 8. 'ladder' runs the classic steps of RabbitCT's backprojection, and\n"
      "'papers' the headline problems of the literature, each with its published time beside ours. 'compare' lays two\n"
      "reports side by side.";
  command->examples = {{"lepus bench --quick", "Whether everything is right here; a few seconds, small problems"},
                       {"lepus bench --only backprojection,fdk --size 64 --output here",
                        "Two parts at one size; here/bench.json, .md and .svg"},
                       {"lepus bench --quick --only io --output a && lepus bench compare a/bench.json a/bench.json",
                        "Two machines side by side (here: one with itself)"}};
  command->writes = true;
  OptionTable& table = command->options;
  BenchArguments& a = *arguments;
  table.positional("ACTION", a.action, "what to do").one_of({"suite", "ladder", "papers", "compare"});
  table.positional("A", a.a, "compare: a report, the .json file").file();
  table.positional("B", a.b, "compare: another one, whose speed is given over A's").file();
  std::string parts;
  for (const bench::Part& part : bench::bench_parts()) parts += (parts.empty() ? "" : ", ") + part.name;
  std::string papers;
  for (const std::string& name : bench::paper_names()) papers += (papers.empty() ? "" : ", ") + name;
  table.group("What is measured");
  table.flag("--quick", a.quick, "small problems, a few seconds: whether it is right, not how fast it is");
  table.value("--size", "N[,N...]", a.sizes, "edges of the volume in voxels")
      .otherwise("256 on a CPU; 256,512,1024 on a GPU");
  table.value("--only", "PART[,PART...]", a.only,
              "some of: " + parts + "; ladder: steps with this in their name; papers: one of " + papers);
  table.value("--backend", "NAME", a.backend, "what is measured: cpu, cuda, or auto (both where there is a GPU)")
      .one_of({"auto", "cpu", "cuda"});
  table.value("--device", "N", a.device, "which GPU");
  table.group("ladder and papers");
  table.value("--repeats", "N", a.repeats, "how often each is run; the best counts");
  table.value("--views", "N", a.views, "ladder: number of views").otherwise("496 on a GPU, 32 on a CPU");
  table.flag("--no-ablation", a.no_ablation, "ladder: without the kernels that have parts taken out, and the sweep");
  table.value("--scale", "SHARE", a.scale, "papers: of every length of the problems")
      .otherwise("1 on a GPU, 1/4 on a CPU");
  table.value("--precision", "NAME", a.precision, "papers: of a GPU").one_of({"exact", "fast", "half"});
  table.group("Output");
  table
      .value("-o,--output", "FOLDER", a.output,
             "write bench.json, bench.md and bench.svg (compare: compare.md) into it")
      .folder();
  command->run = [arguments](Session& session) { return run_bench_command(*arguments, session); };
  return command;
}

}  // namespace lepus::app
