// SPDX-License-Identifier: Apache-2.0
#include "api/analyze_options.h"

#include <algorithm>
#include <cmath>

#include "api/refuse_option.h"
#include "core/check_numbers.h"
#include "core/format.h"
#include "core/json.h"
#include "io/input_identity.h"
#include <lepus/version.h>

namespace lepus {
namespace {

using OrderedJson = nlohmann::ordered_json;

void add_quality_options(const AnalyzeOptions& a, analysis::AnalysisOptions& o) {
  if (a.noise || !a.noise_box_mm.empty()) {
    o.noise.emplace();
    if (!a.noise_box_mm.empty()) o.noise->box_mm = box_of_option(a.noise_box_mm, "--noise-box");
  }
  if (a.resolution || !a.cylinder_mm.empty()) {
    o.resolution.emplace();
    const auto& c = a.cylinder_mm;
    const bool numbers = std::ranges::all_of(c, [](double x) { return std::isfinite(x); });
    if (!c.empty() && (c.size() != 3 || !numbers || !(c[2] > 0)))
      refuse_option("--cylinder", "a cylinder needs three numbers, the last above zero",
                    "write it as --cylinder x,y,radius, in millimetres");
    if (!c.empty()) o.resolution->cylinder = {c[0], c[1], c[2]};
  }
  if (a.register_them && a.against.empty())
    refuse_option("--register", "there is nothing to register with", "give the other volume with --against");
  if (!a.against.empty()) {
    o.against.emplace();
    o.against->registered = a.register_them;
  }
  if (a.tolerance_mm) check_finite(*a.tolerance_mm, "option --tolerance");
  if (a.tolerance_mm && (a.nominal.empty() || !(*a.tolerance_mm > 0)))
    refuse_option("--tolerance", a.nominal.empty() ? "there is no nominal surface" : "the tolerance must be above zero",
                  "give --nominal part.stl --tolerance 0.05, in millimetres");
  if (a.align && a.nominal.empty())
    refuse_option("--align", "there is nothing to align with", "give the nominal surface with --nominal part.stl");
  if (!a.nominal.empty()) {
    o.nominal.emplace();
    o.nominal->align = a.align;
    o.nominal->tolerance_mm = a.tolerance_mm;
  }
}

void add_blob_options(const AnalyzeOptions& a, analysis::AnalysisOptions& o) {
  if (a.part) check_finite(*a.part, "option --part");
  if (a.part && !(*a.part > 0)) refuse_option("--part", "the depth must be above zero", "give it in voxels, such as 1");
  o.part_depth = a.part;
  if (a.minimum_voxels < 1 || a.maximum_voxels < 0 || (a.maximum_voxels > 0 && a.maximum_voxels < a.minimum_voxels))
    refuse_option("--maximum-voxels", "no blob has such a size",
                  "give --minimum-voxels of 1 or more and a --maximum-voxels that is not below it");
  o.minimum_voxels = a.minimum_voxels;
  o.maximum_voxels = a.maximum_voxels;
  if (a.closed && a.part)
    refuse_option("--part", "of blobs that are parted it is not known which are open", "leave out --part or --closed");
  o.closed_only = a.closed;
  std::vector<analysis::Blob> none;
  analysis::sort_blobs(none, a.sort);  // throws now what it would throw after the work
  o.sort = a.sort;
}

}  // namespace

analysis::AnalysisOptions analysis_options_of(const AnalyzeOptions& a) {
  analysis::AnalysisOptions o;
  o.threshold = analysis::parse_threshold(a.threshold);
  o.phase = analysis::parse_phase(a.phase);
  for (const std::string& step : a.clean) o.clean.push_back(analysis::parse_morphology(step));
  if (a.connectivity != 6 && a.connectivity != 18 && a.connectivity != 26)
    refuse_option("--connectivity", format("a voxel has no {} neighbours", a.connectivity), "give 6, 18 or 26");
  o.connectivity = static_cast<analysis::Connectivity>(a.connectivity);
  add_quality_options(a, o);
  const bool some = a.porosity || a.blobs || a.thickness || o.noise || o.resolution || o.against || o.nominal;
  o.porosity = a.porosity || !some;
  o.blobs = a.blobs || !some;
  o.thickness = a.thickness;
  o.sample = {.remove_air = a.remove_air, .remove_container = a.remove_container, .seal = a.seal.value_or(0)};
  if (a.seal && !(*a.seal >= 0 && *a.seal <= 1000))
    refuse_option("--seal", "the radius must be 0 to 1000 voxels", "give a radius in voxels");
  if (a.seal && !a.remove_air && !a.remove_container)
    refuse_option("--seal", "there is nothing to seal off", "give --remove-air, too");
  add_blob_options(a, o);
  constexpr std::int64_t largest_cell = 1 << 20;
  if (a.cell > largest_cell)
    refuse_option("--cell", format("no volume has {} voxels along a side", a.cell), "give a smaller edge");
  if (a.cell < 0) refuse_option("--cell", "a cell needs at least one voxel", "give its edge in voxels");
  o.cell = a.cell;
  if (a.bins < 2 || a.bins > 1 << 20) refuse_option("--bins", "there may be 2 to 1048576 bins", "leave it out");
  o.bins = a.bins;
  if (a.radius_mm) check_finite(*a.radius_mm, "option --radius");
  if (a.radius_mm && !(*a.radius_mm > 0))
    refuse_option("--radius", "the radius must be above zero", "give it in millimetres");
  o.region.mask.radius_mm = a.radius_mm;
  if (!a.box_mm.empty()) o.region.mask.box_mm = box_of_option(a.box_mm, "--box");
  return o;
}

std::string analysis_provenance(const VolumeReader& volume, const AnalyzeOptions& a) {
  OrderedJson object = ordered_json_or_discarded(volume.provenance());
  if (!object.is_object()) object = OrderedJson::object();
  object["analyze"].push_back({{"by", format("lepus {}", version)},
                               {"from", a.volume.string()},
                               {"threshold", a.threshold},
                               {"phase", a.phase},
                               {"box_mm", a.box_mm},
                               {"radius_mm", a.radius_mm ? OrderedJson(*a.radius_mm) : OrderedJson()},
                               {"mask", a.mask.string()},
                               {"against", a.against.string()},
                               {"register", a.register_them},
                               {"nominal", a.nominal.string()},
                               {"align", a.align},
                               {"remove_air", a.remove_air},
                               {"remove_container", a.remove_container},
                               {"seal", a.seal.value_or(0)},
                               {"clean", a.clean},
                               {"connectivity", a.connectivity},
                               {"part", a.part ? OrderedJson(*a.part) : OrderedJson()},
                               {"minimum_voxels", a.minimum_voxels},
                               {"maximum_voxels", a.maximum_voxels},
                               {"closed", a.closed}});
  return ascii_json_text(object);
}

JournalHeader analysis_journal_header(const AnalyzeOptions& a) {
  JournalHeader header{"analyze", {volume_fact(a.volume)}};
  const auto add = [&](const std::string& name, const OrderedJson& value) {
    header.facts.push_back({name, json_text(value)});
  };
  for (const auto& [name, file] : {std::pair{"--mask", a.mask}, std::pair{"--against", a.against}})
    header.facts.push_back({name, file.empty() ? "not given" : volume_fact(file).value});
  header.facts.push_back({"--nominal", a.nominal.empty() ? "not given" : identity_of_files({a.nominal}, "").checksum});
  const auto given = [](const auto& value) { return value ? OrderedJson(*value) : OrderedJson("not given"); };
  add("--threshold", a.threshold);
  add("--phase", a.phase);
  add("--sort", a.sort);
  add("--box", a.box_mm);
  add("--noise-box", a.noise_box_mm);
  add("--cylinder", a.cylinder_mm);
  add("--radius", given(a.radius_mm));
  add("--seal", given(a.seal));
  add("--part", given(a.part));
  add("--tolerance", given(a.tolerance_mm));
  add("--clean", a.clean);
  add("--save", a.save);
  add("--connectivity", a.connectivity);
  add("--minimum-voxels", a.minimum_voxels);
  add("--maximum-voxels", a.maximum_voxels);
  add("--cell", a.cell);
  add("--bins", a.bins);
  add("what is measured", {a.porosity, a.blobs, a.thickness, a.noise, a.resolution});
  add("the options", {a.remove_air, a.remove_container, a.closed, !a.labels, a.register_them, a.align});
  return header;
}

}  // namespace lepus
