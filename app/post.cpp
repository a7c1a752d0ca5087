// SPDX-License-Identifier: Apache-2.0
// lepus post: a chain of steps on a finished volume.
#include <lepus/post.h>

#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/output_options.h"
#include "app/resume_options.h"
#include "core/format.h"
#include <lepus/memory.h>
#include <lepus/scan_keys.h>

namespace lepus::app {
namespace {

struct PostArguments {
  std::string input, output, backend = "auto", device_memory;
  int device = 0;
  std::vector<std::string> steps;
  ResumeOptions resume;
  OutputOptions stored;
};

// A paragraph for every kind, from the table.
std::string steps_text() {
  std::string text;
  for (const CorrectionKind& kind : post_kinds()) {
    text += format("\n\n{}: {} With", kind.name, kind.meaning);
    for (const ScanKey& key : kind.parameters) {
      std::string standard(key.default_toml);
      std::erase(standard, '"');
      text += format(" {}={}", key.name, standard.empty() ? "..." : standard);
    }
  }
  return text;
}

PostOptions options_from(const PostArguments& a, const Session& session) {
  PostOptions options;
  options.input = a.input;
  options.output = a.output;
  options.steps = a.steps;
  options.stored = a.stored.values();
  options.compute.backend = a.backend;
  if (a.device < 0) refuse_option("--device", format("there is no GPU {}", a.device), "count from 0");
  options.compute.devices = format("{}", a.device);
  if (!a.device_memory.empty()) options.compute.device_memory_bytes = parse_bytes(a.device_memory);
  options.resume = a.resume.resume;
  options.restart = a.resume.restart;
  options.call = session.call();
  return options;
}

int run_post(const PostArguments& a, Session& session) {
  const PostReport report = post_process(options_from(a, session));
  std::string text;
  for (const std::string& step : report.steps) text += format("step      {}\n", step);
  session.report(text + format("wrote     {}: {} x {} x {} voxels, {}{}\ntime      {:.2f} s", a.output, report.grid.nx,
                               report.grid.ny, report.grid.nz, report.pixel_type,
                               report.unit.empty() ? "" : ", " + report.unit, report.seconds),
                 format("plan      {} slabs of {} slices\nkernel    filters on {}\n", report.slabs, report.slab_slices,
                        report.device));
  session.result({{"from", a.input},
                  {"to", a.output},
                  {"size", {report.grid.nx, report.grid.ny, report.grid.nz}},
                  {"pixel_type", report.pixel_type},
                  {"unit", report.unit},
                  {"steps", report.steps},
                  {"device", report.device},
                  {"slabs", report.slabs},
                  {"slab_slices", report.slab_slices},
                  {"seconds", report.seconds}});
  return exit_ok;
}

}  // namespace

std::unique_ptr<Command> post_command() {
  auto arguments = std::make_shared<PostArguments>();
  auto command = std::make_unique<Command>();
  command->name = "post";
  command->summary = "filter, mask, crop or rescale a finished volume";
  command->description =
      "Runs the steps of --do in their order, slab by slab, and writes the volume that comes out; neither volume "
      "needs\n"
      "to fit into memory. Where a run ends early, what it has finished stays beside the output, and the same command\n"
      "goes on from there to the same bits (docs/restart.md). A step is a kind and its parameters; docs/post.md "
      "explains each. The kinds and their "
      "defaults:" +
      steps_text();
  command->examples = {
      {"lepus post demo/truth.mha -o demo/small.tif --do \"median radius=2\" --do \"rescale low=0.1 high=99.9\"",
       "Less noise, and 16 bits a voxel"},
      {"lepus post demo/truth.mha -o demo/hu.mha --do ring-mask --do \"hu water=0.02\"",
       "Hounsfield units inside the largest circle"}};
  command->writes = true;
  OptionTable& table = command->options;
  PostArguments& a = *arguments;
  table.positional("VOLUME", a.input, "a volume in any format that lepus reads").must().file();
  table.value("-o,--output", "FILE", a.output, "the volume to write: .mha .mhd .nrrd .tif .h5 .raw .zarr")
      .must()
      .file();
  table.value("--do", "STEP", a.steps, "a step: a kind and its parameters as key=value, in quotes; again for each")
      .must();
  a.stored.describe(table);
  table.value("--backend", "NAME", a.backend, "what runs the filters: a GPU where there is one, else the CPU")
      .one_of({"auto", "cpu", "cuda"});
  table.value("--device", "N", a.device, "which GPU");
  table.value("--device-memory", "SIZE", a.device_memory, "limit for the GPU, for example 8GiB")
      .otherwise("90 % of what is free");
  a.resume.describe(table);
  command->run = [arguments](Session& session) { return run_post(*arguments, session); };
  return command;
}

}  // namespace lepus::app
