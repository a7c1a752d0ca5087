// SPDX-License-Identifier: Apache-2.0
#include "run/provenance.h"

#include <ctime>

#include "core/format.h"
#include "core/json.h"
#include "core/memory.h"
#include "filter/weights.h"
#include <lepus/text.h>
#include <lepus/version.h>

namespace lepus {
namespace {

using Json = nlohmann::ordered_json;

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  return format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday, utc.tm_hour,
                utc.tm_min, utc.tm_sec);
}

const char* name_of(Coverage coverage) {
  switch (coverage) {
    case Coverage::full:
      return "full turn";
    case Coverage::over_full:
      return "more than a full turn";
    case Coverage::short_scan:
      return "short scan";
    case Coverage::half_fan:
      return "half-fan (displaced detector)";
    case Coverage::parallel_half_turn:
      return "half a turn of parallel beams";
    case Coverage::limited:
      return "limited angle";
  }
  return "unknown";
}

// In the host's memory, and beside it in the device's where there is one.
Json to_json(const Plan& plan) {
  Json json{{"kind", name_of(plan.kind)},          {"slabs", plan.slabs.size()},
            {"slab_slices", plan.slab_slices},     {"slab_buffers", plan.slab_buffers},
            {"views_at_a_time", plan.wedge_views}, {"rows_per_band", plan.held_rows},
            {"rows_read", plan.rows_read},         {"rows_needed", plan.rows_needed},
            {"memory_bytes", plan.host.total()},   {"memory_limit_bytes", plan.host.limit},
            {"bands_bytes", plan.host.views},      {"slabs_bytes", plan.host.slabs},
            {"read_ahead_bytes", plan.host.rows},  {"fixed_bytes", plan.host.fixed},
            {"voxel_updates", plan.updates},       {"expected_seconds", plan.seconds}};
  if (!plan.on_host())
    json["on_device"] = {{"kind", name_of(plan.kind)},
                         {"memory_bytes", plan.device.total()},
                         {"memory_limit_bytes", plan.device.limit},
                         {"store_bytes", plan.device.views},
                         {"wedge_bytes", plan.device.rows},
                         {"slabs_bytes", plan.device.slabs},
                         {"views_held", plan.held_views},
                         {"rows_held", plan.held_rows}};
  return json;
}

Json to_json(const VolumeGrid& grid) {
  return {{"size", {grid.nx, grid.ny, grid.nz}},
          {"voxel_mm", {grid.step_mm.x, grid.step_mm.y, grid.step_mm.z}},
          {"origin_mm", {grid.origin_mm.x, grid.origin_mm.y, grid.origin_mm.z}}};
}

}  // namespace

std::string provenance(const Scan& scan, const PrePass& pre, const Fdk* fdk, const RowAudit& audit,
                       const ReconstructReport& report) {
  Json inputs{{"frames", {{"views", pre.frames->frames()}, {"checksum", audit.checksum()}}}};
  if (!pre.flats_checksum.empty()) inputs["flats"] = {{"checksum", pre.flats_checksum}};
  if (!pre.darks_checksum.empty()) inputs["darks"] = {{"checksum", pre.darks_checksum}};
  Json corrections = Json::array();
  for (const CorrectionReport& c : pre.chain->reports()) {
    Json entry{
        {"kind", c.kind}, {"on", c.stage == Stage::grey_levels ? "grey-levels" : "line-integrals"}, {"found", c.found}};
    if (c.seen)
      entry.update({{"rms_change", c.rms_change}, {"rings_before", c.rings_before}, {"rings_after", c.rings_after}});
    corrections.push_back(std::move(entry));
  }
  Json all{{"lepus", version},
           {"finished", utc_now()},
           {"unit", "1/mm"},
           {"volume", to_json(scan.grid)},
           {"coverage", name_of(FdkWeights(scan.geometry).coverage())},
           {"backend", report.backend},
           {"device", report.device},
           {"kernel", report.kernel},
           {"intensity", pre.intensity},
           {"inputs", inputs},
           {"corrections", corrections},
           {"pixels_not_finite", audit.not_finite()},
           {"pixels_saturated", audit.saturated()},
           {"pixels_at_dark", audit.at_dark().pixels},
           {"counts", pre.counts.views > 0 ? parse_ordered_json(pre.counts.json()) : Json()},
           {"seconds", report.seconds},
           {"peak_memory_bytes", report.peak_memory_bytes},
           {"warnings", report.warnings},
           {"scan", scan.resolved}};
  if (fdk) {
    all["field_of_view_mm"] = fdk->field_of_view_mm();
    all["plan"] = to_json(fdk->plan());
  }
  return json_text(all);
}

std::string scan_json(const Scan& scan, const FdkWeights& weights, double field_of_view_mm,
                      const CountFigures& counts) {
  return json_text(Json{{"volume", to_json(scan.grid)},
                        {"views", scan.geometry.views()},
                        {"coverage", name_of(weights.coverage())},
                        {"arc_deg", degrees(weights.arc_rad())},
                        {"field_of_view_mm", field_of_view_mm},
                        {"disk_bytes", scan.grid.voxels() * static_cast<std::int64_t>(sizeof(float))},
                        {"counts", parse_ordered_json(counts.json())}});
}

std::string scan_text(const Scan& scan, const FdkWeights& weights, double field_of_view_mm,
                      const CountFigures& counts) {
  const VolumeGrid& grid = scan.grid;
  std::string text = format("volume    {}x{}x{} voxels of {:.6g}x{:.6g}x{:.6g} mm, {} on disk\n", grid.nx, grid.ny,
                            grid.nz, grid.step_mm.x, grid.step_mm.y, grid.step_mm.z,
                            format_bytes(grid.voxels() * static_cast<std::int64_t>(sizeof(float))));
  text += format("scan      {} views over {:.6g} degrees: {}; field of view {:.6g} mm across\n", scan.geometry.views(),
                 degrees(weights.arc_rad()), name_of(weights.coverage()), 2 * field_of_view_mm);
  return text + format("counts    {}\n", counts.text());
}

std::string plan_json(const Scan& scan, const Fdk& fdk, const CountFigures& counts) {
  Json all = parse_ordered_json(scan_json(scan, fdk.weights(), fdk.field_of_view_mm(), counts));
  all["backend"] = fdk.backend();
  all["device"] = fdk.device();
  all["kernel"] = fdk.kernel();
  all["plan"] = to_json(fdk.plan());
  return json_text(all, 2);
}

std::string plan_text(const Scan& scan, const Fdk& fdk, const CountFigures& counts) {
  return scan_text(scan, fdk.weights(), fdk.field_of_view_mm(), counts) + describe(fdk.plan()) +
         format("\nkernel    {} on {}\ntime      {}{}", fdk.kernel(), fdk.device(), expected_time(fdk.plan().seconds),
                scan.corrections.empty() ? "" : ", and what the corrections take");
}

}  // namespace lepus
