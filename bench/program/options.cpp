// SPDX-License-Identifier: Apache-2.0
#include "bench/program/options.h"

#include "bench/suite/names.h"

namespace lepus::app {
namespace {

template <class Names>
std::string listed(const Names& names) {
  std::string text;
  for (const char* name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

void add_rabbit_options(OptionTable& table, RabbitArguments& a) {
  table.positional("ACTION", a.action, "what to do with the file").must().one_of({"run", "make", "info"});
  table.positional("FILE", a.file, "a data file of RabbitCT (.rct); info: or a result file (.rctd)").must().file();
  table.group("run");
  table.value("--size", "N", a.run.size, "edge of the volume in voxels: 128, 256, 512 or 1024");
  table
      .value("--backend", "NAME", a.run.backend,
             "what computes: auto (a GPU where there is one, else the CPU), cpu, cuda, opencl or reference")
      .one_of({"auto", "cpu", "cuda", "opencl", "reference"});
  table.value("--device", "N", a.device, "which GPU");
  table
      .value("--precision", "NAME", a.precision,
             "of a GPU: exact (fp32), fast (fp32, the texture unit interpolates) or half (fp16, the same)")
      .one_of({"exact", "fast", "half"});
  table
      .value("--protocol", "HOW", a.protocol,
             "views: each is summed when it comes; blocks: kept until the kernel likes them; whole: all lie in memory "
             "first")
      .one_of({"views", "blocks", "whole"});
  table.value("--block", "N", a.run.block, "views that are summed at once").otherwise("what the kernel likes");
  table.value("--repeats", "N", a.repeats, "with --protocol whole: how often; the best counts");
  table.value("--check-slices", "N", a.run.check_slices,
              "slices computed again in double precision, for the unrounded error");
  table.flag("--no-score", a.no_score, "measure time alone");
  table.value("-o,--output", "RCTD", a.output, "write a result file of RabbitCT").file();
  table.group("make");
  table.value("--width", "N", a.make.columns, "columns of a view");
  table.value("--height", "N", a.make.rows, "rows of a view");
  table.value("--views", "N", a.make.views, "number of views");
  table.value("--arc", "DEG", a.make.arc_deg, "arc that they cover");
  table.value("--jitter", "TIMES", a.make.jitter, "irregularity of the sweep, 1 is usual");
  table.value("--sizes", "N[,N...]", a.sizes, "reference volumes").otherwise("128,256");
  table.value("--reference-slices", "N", a.make.reference_slices, "slices of each reference that are computed")
      .otherwise("all up to 256, 32 of 512, 8 of 1024");
  table.value("--phantom", "NAME", a.make.phantom.name, "a phantom that lepus knows, or a file ending in .toml or .pd")
      .file();
  table.value("--seed", "N", a.seed, "of all random numbers");
  table.group("run and make");
  table.value("--file-version", "N", a.version, "version of the file that is written, 1 or 2");
  table.noted(a.given);
}

}  // namespace

std::unique_ptr<Command> described_bench(BenchArguments& a) {
  auto command = std::make_unique<Command>();
  command->name = "bench";
  command->summary = "how fast this machine is, and how near its own limits every part of lepus runs";
  command->description =
      "Measures this machine (memory, SIMD, disk; a GPU's link, memory, texture units) and then every part of lepus:\n"
      "backprojection, filter, projector, corrections, files, the whole way. Each result is checked before its time\n"
      "counts; a wrong one makes the exit code 8. 'ladder' runs the classic steps of RabbitCT's backprojection, and\n"
      "'papers' the headline problems of the literature, each with its published time beside ours. 'compare' lays two\n"
      "reports side by side; with --tolerance the exit code is 8, too, where something is slower in the second.";
  command->examples = {{"lepus bench --quick", "Whether everything is right here; a few seconds, small problems"},
                       {"lepus bench --only backprojection,fdk --size 64 --output here",
                        "Two parts at one size; here/bench.json, .md and .svg"},
                       {"lepus bench --quick --only io --output a && lepus bench compare a/bench.json a/bench.json",
                        "Two machines side by side (here: one with itself)"},
                       {"lepus bench --quick --only filter --output a && lepus bench compare a a --tolerance 2%",
                        "Whether anything is more than 2 % slower in b's reports (here: a's own)"}};
  command->writes = true;
  OptionTable& table = command->options;
  table.positional("ACTION", a.action, "what to do").one_of({"suite", "ladder", "papers", "compare"});
  table.positional("A", a.a, "compare: a report, the .json file; or a folder of several: the best of each figure")
      .file();
  table.positional("B", a.b, "compare: another one, whose speed is given over A's").file();
  table.group("What is measured");
  table.flag("--quick", a.quick, "small problems, a few seconds: whether it is right, not how fast it is");
  table.value("--size", "N[,N...]", a.sizes, "edges of the volume in voxels")
      .otherwise("256 on a CPU; 256,512,1024 on a GPU");
  table.value("--only", "PART[,PART...]", a.only,
              "some of: " + listed(bench::part_names) + "; ladder: steps with this in their name; papers: one of " +
                  listed(bench::paper_names));
  table
      .value("--backend", "NAME", a.backend,
             "what is measured: cpu, cuda, opencl; auto: the CPU and every GPU (ladder, papers: one of them)")
      .one_of({"auto", "cpu", "cuda", "opencl"});
  table.value("--device", "N", a.device, "which GPU");
  table.group("ladder and papers");
  table.value("--repeats", "N", a.repeats, "how often each is run; the best counts");
  table.value("--views", "N", a.views, "ladder: number of views").otherwise("496 on a GPU, 32 on a CPU");
  table.flag("--no-ablation", a.no_ablation, "ladder: without the kernels that have parts taken out, and the sweep");
  table.value("--scale", "SHARE", a.scale, "papers: of every length of the problems")
      .otherwise("1 on a GPU, 1/4 on a CPU");
  table.value("--precision", "NAME", a.precision, "papers: of a GPU").one_of({"exact", "fast", "half"});
  table.group("compare");
  table.value("--tolerance", "PERCENT", a.tolerance, "fail where a figure of B is slower than A's by more than this")
      .otherwise("nothing fails that is right");
  table.group("Output");
  table
      .value("-o,--output", "FOLDER", a.output,
             "write bench.json, bench.md and bench.svg (compare: compare.md) into it")
      .folder();
  table.noted(a.given);
  return command;
}

std::unique_ptr<Command> described_rabbitct(RabbitArguments& a) {
  auto command = std::make_unique<Command>();
  command->name = "rabbitct";
  command->summary = "RabbitCT, the common benchmark of backprojection: time, score, make a data file";
  command->description =
      "RabbitCT gives filtered views of a C-arm with their matrices, one after another, and scores the volume against\n"
      "its reference in Hounsfield units. 'run' times a data file as RabbitCT's own runner does, host to host, and\n"
      "scores it; 'make' writes a data file of the same form from a simulated sweep; 'info' says what is in a file.";
  command->examples = {
      {"lepus rabbitct make small.rct --width 64 --height 48 --views 16 --sizes 128 --reference-slices 4",
       "A small data file"},
      {"lepus rabbitct make a.rct --width 64 --height 48 --views 8 --sizes 128 && lepus rabbitct run a.rct --size 128",
       "Make one, time it and score it"}};
  command->writes = true;
  add_rabbit_options(command->options, a);
  return command;
}

}  // namespace lepus::app
