// SPDX-License-Identifier: Apache-2.0
// lepus preview: one slice with all corrections of the scan file, without any, and without each of them.
#include <lepus/preview.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/commands.h"
#include "app/compute_options.h"
#include "core/format.h"

namespace lepus::app {
namespace {

struct PreviewArguments {
  std::string scan_file, output = "preview.html";
  std::optional<double> slice;
  std::optional<std::int64_t> index;
  ComputeOptions compute;
};

PreviewOptions options_of(const PreviewArguments& a, const Session& session) {
  PreviewOptions o;
  o.page = a.output;
  o.place = a.slice;
  o.index = a.index;
  o.compute = a.compute.compute();
  o.call = session.call();
  return o;
}

std::string table_of(const std::vector<PreviewVersion>& versions) {
  std::size_t width = 7;
  for (const PreviewVersion& v : versions) width = std::max(width, v.name.size());
  std::string text = format("{:<{}}  {:>11} {:>11} {:>11} {:>9}\n", "version", width, "rings 1/mm", "noise 1/mm",
                            "gradient", "time s");
  for (const PreviewVersion& v : versions)
    text += format("{:<{}}  {:>11.3e} {:>11.3e} {:>11.3e} {:>9.2f}\n", v.name, width, v.rings_per_mm, v.noise_per_mm,
                   v.gradient_energy, v.seconds);
  return text;
}

int run_preview(const PreviewArguments& a, Session& session) {
  const PreviewReport report = preview(a.scan_file, options_of(a, session));
  const std::string page = report.page.string(), picture = report.picture.string();
  session.report(table_of(report.versions) + format("wrote {} and {}", page, picture));
  nlohmann::json object{
      {"page", page}, {"picture", picture}, {"method", "fdk"}, {"slice", report.slice}, {"z_mm", report.z_mm}};
  for (const PreviewVersion& v : report.versions)
    object["versions"].push_back({{"name", v.name},
                                  {"rings_per_mm", v.rings_per_mm},
                                  {"noise_per_mm", v.noise_per_mm},
                                  {"gradient_energy", v.gradient_energy},
                                  {"seconds", v.seconds},
                                  {"corrections", v.corrections}});
  session.result(object);
  return exit_ok;
}

}  // namespace

std::unique_ptr<Command> preview_command() {
  auto arguments = std::make_shared<PreviewArguments>();
  auto command = std::make_unique<Command>();
  command->name = "preview";
  command->summary = "one slice with and without each correction, side by side";
  command->description =
      "Reconstructs one slice of a scan by FDK, whatever its [method], reading only the detector rows that it needs:\n"
      "without corrections, with all of\n"
      "the scan file's [[correct]] sections, and without each of them; and lays the slices, their differences and "
      "their\n"
      "numbers (rings, noise, sharpness, time) side by side, as an HTML page that needs no other file and as a PNG.";
  command->examples = {{"lepus preview demo/scan.toml --slice 0.5 -o demo/preview.html",
                        "The middle slice; writes demo/preview.html and demo/preview.png"}};
  command->writes = true;
  OptionTable& table = command->options;
  PreviewArguments& a = *arguments;
  table.positional("SCAN", a.scan_file, "the scan file (TOML)").must().file();
  table.value("-o,--output", "HTML", a.output, "the page to write; the picture gets the same name with .png").file();
  table.group("Slice");
  table.value("--slice", "PLACE", a.slice, "which slice, from 0 (first) to 1 (last)").otherwise("0.5");
  table.value("--index", "N", a.index, "which slice, by its number, counted from 0");
  table.group("Computing");
  a.compute.describe(table);
  command->run = [arguments](Session& session) { return run_preview(*arguments, session); };
  return command;
}

}  // namespace lepus::app
