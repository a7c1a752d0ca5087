// SPDX-License-Identifier: Apache-2.0
// lepus analyze: what is in a volume: porosity, blobs, thickness, as numbers, tables, volumes and a page.
#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/resume_options.h"
#include "core/format.h"
#include <lepus/analyze.h>

namespace lepus::app {
namespace {

struct AnalyzeArguments {
  std::string volume, output, against, nominal, mask;
  AnalyzeOptions options;  // all but the files
  bool no_labels = false;
  ResumeOptions resume;
};

AnalyzeOptions options_of(const AnalyzeArguments& a, const Session& session) {
  AnalyzeOptions options = a.options;
  options.volume = a.volume;
  options.output = a.output;
  options.against = a.against;
  options.nominal = a.nominal;
  options.mask = a.mask;
  options.labels = !a.no_labels;
  options.resume = a.resume.resume;
  options.restart = a.resume.restart;
  options.call = session.call();
  return options;
}

int run_analyze(const AnalyzeArguments& a, Session& session) {
  const AnalyzeReport report = analyze(options_of(a, session));
  std::string text;
  for (const auto& [name, what] : report.summary) text += format("{:<10} {}\n", name, what);
  session.print(text);
  nlohmann::json json = nlohmann::json::parse(report.json);
  if (!report.page.empty()) {
    session.report(format("wrote      {}", report.page.string()));
    json["output"] = a.output;
  }
  session.result(json);
  return exit_ok;
}

}  // namespace

std::unique_ptr<Command> analyze_command() {
  auto arguments = std::make_shared<AnalyzeArguments>();
  auto command = std::make_unique<Command>();
  command->name = "analyze";
  command->summary = "porosity, blobs and thickness of a volume, as a report";
  command->description =
      "Parts the values by a threshold, and measures what is dark (pores) or bright (inclusions): how much of the\n"
      "region it fills, every connected blob of it, how thick it is. The folder gets a page (index.html), all numbers\n"
      "(analysis.json), every blob (blobs.csv), the blobs' labels (labels.mha) and a porosity map (porosity.mha).\n"
      "The volume need not fit into memory, and the result does not depend on how it is cut.\n"
      "Where a run ends early, what it has finished stays beside the folder, and the same command goes on from there\n"
      "(docs/restart.md).\n\n"
      "--threshold: otsu; multi-otsu:3 (classes); a number, or several with commas; local:RADIUS,OFFSET (in voxels "
      "and\n"
      "values); hysteresis:LOW,HIGH. A threshold belongs to the darker side. docs/analysis.md has the formulas.";
  command->examples = {
      {"lepus analyze demo/truth.mha --threshold otsu --porosity --blobs --phase bright -o demo/report",
       "A report on what is bright; open demo/report/index.html"},
      {"lepus analyze demo/truth.mha --phase bright --radius 10 --json", "Numbers only, of a cylinder"}};
  command->writes = true;
  OptionTable& table = command->options;
  AnalyzeArguments& a = *arguments;
  AnalyzeOptions& o = a.options;
  table.positional("VOLUME", a.volume, "a volume in any format that lepus reads").must().file();
  table.value("-o,--output", "FOLDER", a.output, "the folder to write").otherwise("only print the numbers").folder();
  table.group("What is measured");
  table.flag("--porosity", o.porosity, "the share of the phase: in all, open and closed, along z, in cells");
  table.flag("--blobs", o.blobs, "every connected blob of the phase; where nothing is chosen: porosity and blobs");
  table.flag("--thickness", o.thickness, "local thickness of the phase and of the walls between (takes long)");
  table.flag("--noise", o.noise,
             "standard deviation, power spectrum and contrast-to-noise, where the sample is flattest");
  table.value("--noise-box", "X0,X1,Y0,Y1,Z0,Z1", o.noise_box_mm, "the same in this box, in millimetres");
  table.flag("--resolution", o.resolution, "edge and MTF of the largest bright thing, a cylinder that stands along z");
  table.value("--cylinder", "X,Y,RADIUS", o.cylinder_mm, "the same of this cylinder, to a few voxels, in millimetres");
  table.value("--against", "FILE", a.against, "how far it is from this volume of the same grid").file();
  table.flag("--register", o.register_them, "of any grid: turned and shifted onto the first one before");
  table.value("--nominal", "STL", a.nominal, "how far the surface of what is bright lies from this one").file();
  table.flag("--align", o.align, "turned and shifted onto it before, by least squares");
  table.value("--tolerance", "MM", o.tolerance_mm, "the share of the surface that lies within this")
      .otherwise("not said");
  table.group("The phase");
  table.value("--threshold", "HOW", o.threshold,
              "otsu, multi-otsu:N, numbers, local:RADIUS,OFFSET, hysteresis:LOW,HIGH");
  table.value("--phase", "CLASS", o.phase, "dark, bright, or the number of a class, counted from 0, the darkest");
  table.value("--bins", "N", o.bins, "bins of the histogram, where values are no small integers");
  table.value("--clean", "STEP", o.clean, "open:R, close:R, erode:R, dilate:R (balls), open-box:R ..., fill-holes");
  table
      .value("--backend", "NAME", o.compute.backend,
             "what runs --clean with balls: a GPU where there is one, else the CPU")
      .one_of({"auto", "cpu", "cuda"});
  table.group("Where");
  table.value("--box", "X0,X1,Y0,Y1,Z0,Z1", o.box_mm, "within this box, in millimetres");
  table.value("--radius", "MM", o.radius_mm, "within this distance from the rotation axis");
  table.value("--mask", "FILE", a.mask, "where this volume of the same grid is not zero").file();
  table.flag("--remove-air", o.remove_air, "without what is dark and connected with a side of the volume");
  table.flag("--remove-container", o.remove_container,
             "without the container, the material that reaches furthest to the sides, and the air in it");
  table.value("--seal", "R", o.seal, "pores whose openings are narrower than 2 R voxels are no air");
  table.group("Blobs");
  table.value("--connectivity", "N", o.connectivity, "neighbours of a voxel: faces, and edges, and corners")
      .one_of({"6", "18", "26"});
  table.value("--part", "DEPTH", o.part,
              "part blobs that touch, where the neck is this much narrower (radius, in voxels)");
  table.value("--minimum-voxels", "N", o.minimum_voxels, "leave smaller blobs out");
  table.value("--maximum-voxels", "N", o.maximum_voxels, "leave larger blobs out").otherwise("none");
  table.flag("--closed", o.closed, "leave blobs out that touch the border of the region: count closed pores alone");
  table.value("--sort", "KEY", o.sort, "order of the blobs")
      .one_of({"volume", "diameter", "surface", "sphericity", "mean", "label"});
  table.group("Output");
  table.value("--cell", "VOXELS", o.cell, "edge of a cell of the porosity map")
      .otherwise("a sixteenth of the longest side");
  table.flag("--no-labels", a.no_labels, "write no volume of labels");
  table.value("--save", "NAME", o.save, "write this volume, too: phase, distance, thickness, registered");
  a.resume.describe(table);
  command->run = [arguments](Session& session) { return run_analyze(*arguments, session); };
  return command;
}

}  // namespace lepus::app
