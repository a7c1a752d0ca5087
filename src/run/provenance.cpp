// SPDX-License-Identifier: Apache-2.0
#include "run/provenance.h"

#include <ctime>

#include <nlohmann/json.hpp>

#include "core/format.h"
#include "core/memory.h"
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

Json to_json(const Plan& plan) {
  return {{"kind", name_of(plan.kind)},           {"slabs", plan.slabs.size()},
          {"slab_slices", plan.slab_slices},      {"slab_buffers", plan.slab_buffers},
          {"views_at_a_time", plan.wedge_views},  {"rows_per_band", plan.row_stride},
          {"rows_read", plan.rows_read},          {"rows_needed", plan.rows_needed},
          {"memory_bytes", plan.memory_bytes()},  {"memory_limit_bytes", plan.memory_limit},
          {"bands_bytes", plan.bands_bytes},      {"slabs_bytes", plan.slabs_bytes},
          {"read_ahead_bytes", plan.queue_bytes}, {"fixed_bytes", plan.fixed_bytes},
          {"voxel_updates", plan.updates},        {"expected_seconds", plan.seconds}};
}

// What the host does, and beside it what the device does where there is one.
Json plan_of(const Fdk& fdk) {
  Json plan = to_json(fdk.plan());
  if (const DevicePlan* device = fdk.device_plan())
    plan["on_device"] = {{"kind", device->resident ? "resident views" : "streamed views"},
                         {"memory_bytes", device->memory_bytes()},
                         {"memory_limit_bytes", device->memory_limit},
                         {"store_bytes", device->store_bytes},
                         {"wedge_bytes", device->wedge_bytes},
                         {"slabs_bytes", device->slabs_bytes},
                         {"views_held", device->held_views},
                         {"rows_held", device->held_rows}};
  return plan;
}

Json to_json(const VolumeGrid& grid) {
  return {{"size", {grid.nx, grid.ny, grid.nz}},
          {"voxel_mm", {grid.step_mm.x, grid.step_mm.y, grid.step_mm.z}},
          {"origin_mm", {grid.origin_mm.x, grid.origin_mm.y, grid.origin_mm.z}}};
}

}  // namespace

std::string provenance(const Scan& scan, const PrePass& pre, const Fdk& fdk, const RowAudit& audit,
                       const ReconstructReport& report) {
  Json inputs{{"frames", {{"views", pre.frames->frames()}, {"checksum", audit.checksum()}}}};
  if (!pre.flats_checksum.empty()) inputs["flats"] = {{"checksum", pre.flats_checksum}};
  if (!pre.darks_checksum.empty()) inputs["darks"] = {{"checksum", pre.darks_checksum}};
  Json corrections = Json::array();
  for (const CorrectionReport& c : pre.chain->reports()) {
    Json entry{
        {"kind", c.kind}, {"on", c.stage == Stage::grey_levels ? "grey-levels" : "line-integrals"}, {"found", c.found}};
    if (!pre.only_dead_pixels)
      entry.update({{"rms_change", c.rms_change}, {"rings_before", c.rings_before}, {"rings_after", c.rings_after}});
    corrections.push_back(std::move(entry));
  }
  const Json all{{"lepus", version},
                 {"finished", utc_now()},
                 {"unit", "1/mm"},
                 {"volume", to_json(scan.grid)},
                 {"coverage", name_of(fdk.weights().coverage())},
                 {"backend", fdk.backend()},
                 {"device", fdk.device()},
                 {"kernel", report.kernel},
                 {"intensity", pre.intensity},
                 {"inputs", inputs},
                 {"corrections", corrections},
                 {"pixels_not_finite", audit.not_finite()},
                 {"pixels_saturated", audit.saturated()},
                 {"pixels_at_dark", audit.at_dark().pixels},
                 {"counts", pre.counts.views > 0 ? Json::parse(pre.counts.json()) : Json()},
                 {"seconds", report.seconds},
                 {"peak_memory_bytes", report.peak_memory_bytes},
                 {"plan", plan_of(fdk)},
                 {"warnings", report.warnings},
                 {"scan", scan.resolved}};
  return all.dump();
}

std::string plan_json(const Scan& scan, const Fdk& fdk, const CountFigures& counts) {
  return Json{{"volume", to_json(scan.grid)},
              {"views", scan.geometry.views()},
              {"coverage", name_of(fdk.weights().coverage())},
              {"arc_deg", degrees(fdk.weights().arc_rad())},
              {"field_of_view_mm", fdk.field_of_view_mm()},
              {"disk_bytes", scan.grid.voxels() * static_cast<std::int64_t>(sizeof(float))},
              {"backend", fdk.backend()},
              {"device", fdk.device()},
              {"kernel", fdk.kernel()},
              {"plan", plan_of(fdk)},
              {"counts", Json::parse(counts.json())}}
      .dump(2);
}

std::string plan_text(const Scan& scan, const Fdk& fdk, const CountFigures& counts) {
  const VolumeGrid& grid = scan.grid;
  std::string text = format("volume    {}x{}x{} voxels of {:.6g}x{:.6g}x{:.6g} mm, {} on disk\n", grid.nx, grid.ny,
                            grid.nz, grid.step_mm.x, grid.step_mm.y, grid.step_mm.z,
                            format_bytes(grid.voxels() * static_cast<std::int64_t>(sizeof(float))));
  text += format("scan      {} views over {:.6g} degrees: {}; field of view {:.6g} mm across\n", scan.geometry.views(),
                 degrees(fdk.weights().arc_rad()), name_of(fdk.weights().coverage()), 2 * fdk.field_of_view_mm());
  text += format("counts    {}\n", counts.text());
  text += fdk.plan_description();
  text += format("\nkernel    {} on {}\ntime      {}{}", fdk.kernel(), fdk.device(), expected_time(fdk.plan().seconds),
                 scan.corrections.empty() ? "" : ", and what the corrections take");
  return text;
}

}  // namespace lepus
