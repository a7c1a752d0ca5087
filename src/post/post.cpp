// SPDX-License-Identifier: Apache-2.0
// The chain: steps are made and checked, the output is opened, then the volume streams through them.
#include "post/post.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "core/format.h"
#include "core/json.h"
#include "core/memory.h"
#include "io/output_values.h"
#include "io/scratch_volume.h"
#include "post/filter_device.h"
#include "post/output.h"
#include "post/percentiles.h"
#include "post/sweep.h"
#include <lepus/error.h>
#include <lepus/version.h>

namespace lepus {
namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;
using namespace post;

// Steps that are ready, and the volume that goes into the first of them.
class Chain {
public:
  Chain(const VolumeReader& volume, const VolumeFacts& facts, Output& output, fs::path folder,
        const SweepLimits& limits, bool any_value, Context& context)
      : volume_(&volume),
        before_(facts),
        now_(facts),
        output_(output),
        folder_(std::move(folder)),
        limits_(limits),
        any_value_(any_value),
        context_(context) {}

  void add(std::unique_ptr<Step> step) {
    ++added_;
    std::optional<std::vector<double>> found;
    if (step->needs_percentiles())
      step->prepare([&](const std::vector<double>& percents) {
        if (auto known = output_.measured(added_)) return *known;
        found = percentiles(percents);
        return *found;
      });
    if (found) output_.keep_measured(added_, *found);  // not where the step refused them
    now_ = step->after(now_);
    ready_.push_back(std::move(step));
  }

  Sweep write() {
    Sweep sweep(*volume_, before_, ready_, limits_, context_.threads.size());
    sweep.run("writing", any_value_, {}, sink_of(output_.writer()), output_.missing(), context_);
    return sweep;
  }

  std::vector<std::string> summaries() const {
    std::vector<std::string> all = written_;
    for (const auto& step : ready_) all.push_back(step->summary());
    return all;
  }

private:
  static Sweep::Sink sink_of(VolumeWriter& writer) {
    return [&writer](post::SliceRange slices, const float* values) { writer.write(slices.first, slices.last, values); };
  }

  std::vector<double> percentiles(const std::vector<double>& percents) {
    const int threads = context_.threads.size();
    PercentileFinder finder(percents, threads);
    const auto count = [&](post::SliceRange slices, const float* values) {
      finder.add(values, slices.size() * now_.grid.nx * now_.grid.ny, context_.threads);
    };
    const bool keep = std::any_of(ready_.begin(), ready_.end(), [](const auto& step) { return step->is_costly(); });
    std::unique_ptr<ScratchVolume> made;
    if (keep) made = std::make_unique<ScratchVolume>(folder_, now_.grid, now_.unit);
    const Sweep first(*volume_, before_, ready_, limits_, threads);
    first.run(keep ? "filtering" : "measuring", any_value_, count, keep ? sink_of(*made) : Sweep::Sink(),
              first.all_slices(), context_);
    if (keep) {
      written_ = summaries();
      ready_.clear();
      volume_ = made.get();
      scratch_ = std::move(made);
      before_ = now_;
      any_value_ = false;
    }
    finder.start_second_pass();
    const Sweep second(*volume_, before_, ready_, limits_, threads);
    second.run("measuring", any_value_, count, {}, second.all_slices(), context_);
    return finder.percentiles();
  }

  const VolumeReader* volume_;
  VolumeFacts before_, now_;  // before the first of ready_, and after the last
  Output& output_;
  fs::path folder_;  // for what is kept between two steps
  std::size_t added_ = 0;
  SweepLimits limits_;
  bool any_value_;
  Context& context_;
  Steps ready_;
  std::unique_ptr<ScratchVolume> scratch_;
  std::vector<std::string> written_;  // what the steps before the scratch volume did
};

// Null: the host filters.
std::unique_ptr<FilterDevice> device_for(const PostSettings& options, bool filters, ThreadPool& threads) {
  if (options.backend != "auto" && options.backend != "cpu" && options.backend != "cuda")
    throw Error(ErrorKind::usage, {.what = format("there is no backend '{}' for filters", options.backend),
                                   .where = "post-processing",
                                   .why = {},
                                   .hint = "use auto, cpu or cuda"});
  if (options.backend == "cpu" || (options.backend == "auto" && !filters)) return nullptr;
  auto devices = open_devices({.backend = options.backend, .devices = options.devices}, threads);
  return devices.front()->info().host ? nullptr : std::make_unique<FilterDevice>(std::move(devices.front()));
}

std::vector<PostSpec> expanded(const std::vector<PostSpec>& chain) {
  std::vector<PostSpec> specs;
  for (const PostSpec& spec : chain)
    for (PostSpec& part : post::expanded(spec)) specs.push_back(std::move(part));
  return specs;
}

// facts: of the volume before the steps; when it returns, of the one after them.
Steps make_steps(const std::vector<PostSpec>& specs, VolumeFacts& facts, FilterDevice* device) {
  Steps steps;
  for (const PostSpec& spec : specs) {
    steps.push_back(make_step(spec, facts, device));
    facts = steps.back()->after(facts);
  }
  return steps;
}

Json to_json(const PostSpec& spec) {
  Json json{{"kind", spec.step.kind}};
  for (const auto& parameter : spec.step.parameters)
    std::visit([&](const auto& value) { json[parameter.first] = value; }, parameter.second);
  return json;
}

// What must be the same for an unfinished run to go on to the same bits.
JournalFact fact_of(const std::vector<PostSpec>& chain) {
  std::string lines;
  for (const PostSpec& spec : chain)
    lines += format("--do {} = {}\n", &spec - chain.data() + 1, json_text(to_json(spec)));
  return {"the steps", lines};
}

// Integers that the steps made are stored as they are.
VolumeWriterOptions writer_options(const VolumeFacts& facts, const PostSettings& options, std::int64_t provenance,
                                   int threads) {
  VolumeWriterOptions writing{.force = options.force,
                              .unit = facts.unit,
                              .provenance_room = provenance,
                              .type = facts.type,
                              .threads = threads};
  if (facts.type == PixelType::f32) set_output_values(writing, options.stored);
  return writing;
}

std::string provenance_of(const VolumeReader& volume, const std::vector<PostSpec>& chain, const PostSettings& options,
                          const PostReport& report) {
  Json object = ordered_json_or_discarded(volume.provenance());
  if (!object.is_object()) object = Json::object();
  Json note{{"by", format("lepus {}", version)},
            {"from", options.input},
            {"format", volume.format()},
            {"pixel_type", volume.pixel_type()},
            {"device", report.device},
            {"unit", report.unit},
            {"steps", Json::array()},
            {"did", report.steps}};
  for (const PostSpec& spec : chain) note["steps"].push_back(to_json(spec));
  object["post"].push_back(note);
  return ascii_json_text(object);
}

}  // namespace

void check_steps(const std::vector<PostSpec>& chain, const VolumeGrid& grid, const std::string& unit) {
  VolumeFacts facts{grid, unit, PixelType::f32};
  (void)make_steps(expanded(chain), facts, nullptr);
}

void check_output_values(const std::vector<PostSpec>& chain, const OutputValues& values) {
  const auto rescale =
      std::find_if(chain.begin(), chain.end(), [](const PostSpec& spec) { return spec.step.kind == "rescale"; });
  if (rescale == chain.end() || values.type == VoxelType::float32) return;
  refuse_step(*rescale, "rescale and --output-type", "both choose what is stored of a voxel", "leave one of them out");
}

PostReport post_process(const VolumeReader& volume, const fs::path& output, const std::vector<PostSpec>& chain,
                        const PostSettings& options, Context& context) {
  const auto start = std::chrono::steady_clock::now();
  if (chain.empty())
    throw Error(ErrorKind::usage, {.what = "the chain has no step",
                                   .where = "post-processing",
                                   .why = {},
                                   .hint = "name at least one, such as --do \"median radius=2\""});
  check_output_values(chain, options.stored);
  const std::vector<PostSpec> specs = expanded(chain);
  const bool filters =
      std::any_of(specs.begin(), specs.end(), [](const PostSpec& spec) { return is_filter(spec.step.kind); });
  const std::unique_ptr<FilterDevice> device = device_for(options, filters, context.threads);

  const VolumeFacts before{volume.grid(), volume.unit(), PixelType::f32};
  VolumeFacts facts = before;
  Steps steps = make_steps(specs, facts, device.get());
  SweepLimits limits;
  limits.memory_bytes = (options.memory_bytes > 0 ? options.memory_bytes : available_memory_bytes() / 10 * 6) -
                        PercentileFinder::memory_bytes(context.threads.size());
  limits.slab_slices = options.slab_slices;
  if (device)
    limits.device_bytes = options.device_memory_bytes > 0 ? options.device_memory_bytes : device->free_bytes() / 10 * 9;
  const auto locks = reserve_volume(output, options.force, context.progress);
  const std::int64_t space = 2 * static_cast<std::int64_t>(volume.provenance().size()) + (64 << 10);
  const VolumeWriterOptions writing = writer_options(facts, options, space, context.threads.size());
  PostReport report;
  report.grid = facts.grid;
  report.pixel_type = name_of(writing.type);
  report.unit = facts.unit;
  report.device = device && filters ? device->name() : "cpu";
  std::optional<Output> out;
  if (options.same_run) {
    ResumableRun run;
    run.header = *options.same_run;
    run.header.facts.push_back(fact_of(chain));
    run.header.facts.push_back({"what runs the filters", report.device});
    run.restart = options.restart;
    out.emplace(output, facts.grid, writing, run, context.progress);
  } else {
    out.emplace(output, facts.grid, writing);
  }
  limits.memory_bytes -= out->writer().memory_bytes();
  try {
    { const Sweep whole_chain(volume, before, steps, limits, context.threads.size()); }  // it fits, or no work starts
    Chain ready(volume, before, *out, fs::absolute(output).parent_path(), limits, specs.front().step.kind == "finite",
                context);
    for (auto& step : steps) ready.add(std::move(step));
    const Sweep last = ready.write();
    context.cancel.check();
    report.steps = ready.summaries();
    report.slabs = last.slabs();
    report.slab_slices = last.slab_slices();
    report.provenance = provenance_of(volume, chain, options, report);
    out->writer().finish(report.provenance);
  } catch (const std::exception& exception) {
    throw out->ended_by(as_error(exception));
  }
  warn_of_cut_off(out->writer(), facts.grid, context.progress);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

}  // namespace lepus
