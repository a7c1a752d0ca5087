// SPDX-License-Identifier: Apache-2.0
// lepus rabbitct: the field's common benchmark of backprojection. run: time and score a data file; make: write one from
// a simulated sweep; info: what a data or result file holds.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <nlohmann/json.hpp>

#include "bench/program/options.h"
#include "app/command.h"
#include "core/call_context.h"
#include "core/format.h"
#include "core/output_file.h"
#include "bench/rabbitct/make.h"
#include "bench/rabbitct/run.h"

namespace lepus::app {
namespace {

[[noreturn]] void refuse_rabbit_option(const std::string& option, const std::string& what, const std::string& hint) {
  throw Error(ErrorKind::usage, {.what = what, .where = "option " + option, .why = {}, .hint = hint});
}

std::string described_views(const rabbitct::Header& h) {
  return format("{} views of {} x {} pixels, version {}", h.views, h.columns, h.rows, h.version);
}

std::string score_table(const rabbitct::RunReport& r) {
  if (!r.score) return "not scored\n";
  const rabbitct::Score& s = *r.score;
  std::string text =
      format("score      RMSE {:.4f} HU, MSE {:.6g} HU^2, largest error {:g} HU, PSNR {:.2f} dB ({} voxels)\n",
             s.root_mean_squared_error(), s.mean_squared_error(), s.largest, s.psnr_db(), s.voxels);
  if (r.unrounded)
    text +=
        format("unrounded  RMSE {:.5f} HU, largest error {:.4g} HU ({} voxels computed again in double precision)\n",
               r.unrounded->root_mean_squared_error(), r.unrounded->largest, r.unrounded->voxels);
  text += "errors     ";
  for (std::size_t i = 0; i < s.histogram.size(); ++i)
    text += format("{}{}: {}", i == 0 ? "" : ", ", i == 10 ? ">= 10 HU" : format("{} HU", i), s.histogram[i]);
  return text + "\n";
}

nlohmann::json run_json(const RabbitArguments& a, const rabbitct::RunReport& r) {
  nlohmann::json object{{"file", a.file},
                        {"version", r.header.version},
                        {"size", r.size},
                        {"views", r.header.views},
                        {"columns", r.header.columns},
                        {"rows", r.header.rows},
                        {"backend", r.backend},
                        {"device", r.device},
                        {"kernel", r.kernel},
                        {"protocol", a.protocol},
                        {"seconds", r.seconds},
                        {"prepare_seconds", r.prepare_seconds},
                        {"last_view_seconds", r.last_view_seconds},
                        {"mean_view_seconds", r.seconds / static_cast<double>(r.header.views)},
                        {"view_microseconds", r.microseconds},
                        {"gups", r.gups()}};
  if (r.backend == "cuda" || r.backend == "opencl") object["precision"] = a.precision;
  if (r.score)
    object["score"] = {
        {"voxels", r.score->voxels},
        {"mse_hu2", r.score->mean_squared_error()},
        {"rmse_hu", r.score->root_mean_squared_error()},
        {"largest_hu", r.score->largest},
        // JSON knows no infinity: null stands for a volume without an error.
        {"psnr_db", std::isfinite(r.score->psnr_db()) ? nlohmann::json(r.score->psnr_db()) : nlohmann::json()},
        {"histogram", r.score->histogram}};
  if (r.unrounded)
    object["unrounded"] = {{"voxels", r.unrounded->voxels},
                           {"rmse_hu", r.unrounded->root_mean_squared_error()},
                           {"largest_hu", r.unrounded->largest}};
  return object;
}

// Options of another action, or that this one does not use as it was asked for.
void refuse_without_use(const RabbitArguments& a, const OptionTable& table) {
  for (const Option& option : table.options())
    if (a.given.contains(option.name) && option.group.find(a.action) == std::string::npos)
      refuse_rabbit_option(option.name, format("rabbitct {} does not use it", a.action), "leave it out");
  const auto refuse = [&](const char* name, bool without_use, const char* why) {
    if (a.action == "run" && without_use && a.given.contains(name)) refuse_rabbit_option(name, why, "leave it out");
  };
  refuse("--repeats", a.protocol != "whole", "only --protocol whole is repeated");
  refuse("--check-slices", a.no_score, "--no-score computes nothing again");
  refuse("--output", a.no_score, "a result file has the score, and --no-score makes none");
  refuse("--file-version", a.output.empty(), "no result file is written");
}

int run_rabbit(RabbitArguments& a, Session& session) {
  rabbitct::RunOptions& o = a.run;
  o.precision = a.precision == "exact" ? Precision::exact : a.precision == "fast" ? Precision::fast : Precision::half;
  o.protocol = a.protocol == "views"   ? rabbitct::Protocol::views
               : a.protocol == "whole" ? rabbitct::Protocol::whole
                                       : rabbitct::Protocol::blocks;
  if (o.block < 0 || o.block > 4096)
    refuse_rabbit_option("--block", format("{} views are not possible", o.block), "give 1 to 4096");
  if (o.check_slices < 0) refuse_rabbit_option("--check-slices", "it is negative", "give 0 or more");
  if (a.repeats < 1 || a.repeats > 1000)
    refuse_rabbit_option("--repeats", format("{} runs are not possible", a.repeats), "give 1 to 1000");
  if (a.device < 0 || a.device > 255)
    refuse_rabbit_option("--device", format("there is no device {}", a.device), "count from 0");
  o.device = static_cast<int>(a.device);
  o.repeats = static_cast<int>(a.repeats);
  o.score = !a.no_score;
  const OutputLock lock = reserve_output(a.output, session.common().force, *session.call().progress);
  CallContext working(session.call());
  o.memory_bytes = working.memory_bytes();
  const rabbitct::DataFile file(a.file);
  const rabbitct::RunReport r = rabbitct::run(file, o, working.context());
  if (!a.output.empty()) {
    rabbitct::write_result(a.output, r.result(static_cast<int>(a.version)), session.common().force);
    session.note("wrote " + a.output);
  }
  std::string text = format("data       {}, {}\nvolume     {}^3\ncomputed   {}, {}\n", a.file,
                            described_views(r.header), r.size, r.device, r.kernel);
  text += format("time       {:.4f} s, {:.3f} ms per view, {:.2f} GUPS ({})\n", r.seconds,
                 1e3 * r.seconds / static_cast<double>(r.header.views), r.gups(),
                 a.protocol == "whole"   ? format("all views at once, best of {}", a.repeats)
                 : a.protocol == "views" ? std::string("view by view")
                                         : std::string("views in blocks"));
  if (a.protocol != "whole") text += format("ready      {:.2f} ms after the last view\n", 1e3 * r.last_view_seconds);
  session.print(text + score_table(r));
  session.result(run_json(a, r));
  return exit_ok;
}

int make_rabbit(RabbitArguments& a, Session& session) {
  rabbitct::MakeOptions& o = a.make;
  if (!a.sizes.empty()) {
    o.sizes.clear();
    for (const double size : a.sizes) {
      if (size != std::floor(size))
        refuse_rabbit_option("--sizes", format("{} is not a whole number", size), "write it as --sizes 128,256");
      o.sizes.push_back(static_cast<std::int64_t>(size));
    }
  }
  if (a.seed < 0) refuse_rabbit_option("--seed", "it is negative", "give 0 or more");
  o.version = static_cast<int>(a.version);
  o.seed = static_cast<std::uint64_t>(a.seed);
  o.force = session.common().force;
  CallContext working(session.call());
  o.memory_bytes = working.memory_bytes();
  const rabbitct::MakeReport r = rabbitct::make(a.file, o, working.context());
  for (const std::string& warning : r.warnings) session.warning(warning);
  std::string text = format("wrote      {}, {}\n", a.file, described_views(r.header));
  nlohmann::json references = nlohmann::json::array();
  for (std::size_t i = 0; i < r.slices.size(); ++i) {
    text += format("reference  {}^3, {} slices computed\n", rabbitct::sizes[i], r.slices[i]);
    references.push_back({{"size", rabbitct::sizes[i]}, {"slices", r.slices[i]}});
  }
  session.print(text);
  session.result({{"file", a.file},
                  {"version", r.header.version},
                  {"views", r.header.views},
                  {"columns", r.header.columns},
                  {"rows", r.header.rows},
                  {"references", references}});
  return exit_ok;
}

int describe_result(const RabbitArguments& a, Session& session) {
  const rabbitct::Result r = rabbitct::read_result(a.file);
  const double seconds =
      1e-6 * static_cast<double>(std::accumulate(r.microseconds.begin(), r.microseconds.end(), std::uint64_t{0}));
  // Every voxel that was scored is in the histogram.
  const bool scored = std::ranges::any_of(r.histogram, [](std::uint32_t voxels) { return voxels > 0; });
  session.print(format(
      "result     {}, version {}\nvolume     {}^3, {} views\ntime       {:.4f} s, {:.3f} ms per view\n{}\n", a.file,
      r.version, r.size, r.microseconds.size(), seconds, 1e3 * seconds / static_cast<double>(r.microseconds.size()),
      scored ? format("score      RMSE {:.4f} HU, MSE {:.6g} HU^2, largest error {:g} HU",
                      std::sqrt(r.mean_squared_error), r.mean_squared_error, r.largest_error)
             : "not scored"));
  session.result({{"file", a.file},
                  {"kind", "result"},
                  {"version", r.version},
                  {"size", r.size},
                  {"views", r.microseconds.size()},
                  {"seconds", seconds},
                  {"scored", scored},
                  {"mse_hu2", scored ? nlohmann::json(r.mean_squared_error) : nlohmann::json()},
                  {"largest_hu", scored ? nlohmann::json(r.largest_error) : nlohmann::json()},
                  {"histogram", r.histogram}});
  return exit_ok;
}

int describe_rabbit(const RabbitArguments& a, Session& session) {
  if (rabbitct::is_result(a.file)) return describe_result(a, session);
  const rabbitct::DataFile file(a.file);
  const rabbitct::Header& h = file.header();
  session.print(format("data       {}, {}\nHU         {:g} * value + {:g}\nreferences {}\n", a.file, described_views(h),
                       h.hu_scale[0], h.hu_scale[1], rabbitct::name_of_sizes(file.last_size())));
  nlohmann::json sizes = nlohmann::json::array();
  for (const std::int64_t size : rabbitct::sizes)
    if (size <= file.last_size()) sizes.push_back(size);
  session.result({{"file", a.file},
                  {"kind", "data"},
                  {"version", h.version},
                  {"views", h.views},
                  {"columns", h.columns},
                  {"rows", h.rows},
                  {"hu_scale", h.hu_scale},
                  {"references", sizes}});
  return exit_ok;
}

}  // namespace

std::unique_ptr<Command> rabbitct_command() {
  auto arguments = std::make_shared<RabbitArguments>();
  auto command = described_rabbitct(*arguments);
  command->run = [arguments, &table = command->options](Session& session) {
    RabbitArguments& a = *arguments;
    refuse_without_use(a, table);
    if (a.version != 1 && a.version != 2)
      refuse_rabbit_option("--file-version", format("there is no version {}", a.version), "give 1 or 2");
    if (a.action == "make") return make_rabbit(a, session);
    return a.action == "info" ? describe_rabbit(a, session) : run_rabbit(a, session);
  };
  return command;
}

}  // namespace lepus::app
