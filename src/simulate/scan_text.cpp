// SPDX-License-Identifier: Apache-2.0
#include "simulate/scan_text.h"

#include <cmath>

#include "core/format.h"
#include "core/json.h"
#include <lepus/version.h>

namespace lepus {
namespace {

using json = nlohmann::ordered_json;

std::string number(double x) {  // the shortest text that reads back to the same double, as a TOML float
  std::string text = format("{}", x);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

json point(Vec3 p) { return {p.x, p.y, p.z}; }

void add_raw(std::string& t, const ScanText& s, std::int64_t frames) {
  t += format("\n[frames.raw]\ncolumns = {}\nrows = {}\nframes_per_file = {}\ntype = \"{}\"\n",
              recorded_columns(s.geometry), recorded_rows(s.geometry), frames,
              s.options.content == SimulatedContent::counts ? "uint16" : "float32");
}

}  // namespace

bool has_equal_steps(const std::vector<double>& a) {
  if (a.size() < 2 || !(a[1] > a[0])) return false;
  const double step = (a.back() - a.front()) / static_cast<double>(a.size() - 1);
  for (std::size_t i = 0; i < a.size(); ++i)
    if (std::abs(a[0] + static_cast<double>(i) * step - a[i]) > 1e-13) return false;
  return true;
}

std::string scan_toml(const ScanText& s) {
  const SimulationOptions& o = s.options;
  const CircularScan& c = o.scan;
  const bool counts = o.content == SimulatedContent::counts;
  const char* ending = s.raw ? ".raw" : "/*.tif";
  std::string t =
      format("# A scan that lepus {} simulated: {}, {} views. truth.json knows what this file does not.\n\n", version,
             s.phantom.phantom.name(), s.geometry.views());
  t += format("[frames]\nfiles = \"frames{}\"\ncontent = \"{}\"\n", ending, counts ? "counts" : "line-integrals");
  if (counts && o.flats > 0) t += format("flats = \"flats{}\"\n", ending);
  if (counts && o.darks > 0) t += format("darks = \"darks{}\"\n", ending);
  if (counts && o.detector.bits < 16) t += format("saturation_level = {}\n", (1 << o.detector.bits) - 1);
  if (s.raw) add_raw(t, s, s.geometry.views());
  if (counts && o.flats == 0) {
    t += "\n[intensity]  # there are no flats\nfrom = \"value\"\n";
    const double offset = o.detector.offset_level + o.detector.dark_current;
    t += format("value = {}  # ", number(o.detector.open_level + (o.darks > 0 ? 0 : offset)));
    t += o.darks > 0 || offset == 0
             ? "open beam above the darks\n"
             : format("open beam; {} of it are there without beam, too, and stay in every pixel: there are no darks\n",
                      number(offset));
  }

  t += format("\n[geometry]\nbeam = \"{}\"\ndetector = \"{}\"\n",
              c.beam == Beam::cone  ? "cone"
              : c.beam == Beam::fan ? "fan"
                                    : "parallel",
              c.arc ? "arc" : "flat");
  if (c.beam != Beam::parallel)
    t += format("source_axis_mm = {}\nsource_detector_mm = {}\n", number(c.source_axis_mm),
                number(c.source_detector_mm));
  t += format("columns = {}\nrows = {}\npixel_width_mm = {}\npixel_height_mm = {}\n", c.columns, c.rows,
              number(c.pixel_width_mm), number(c.pixel_height_mm));
  const auto unless_zero = [&](const char* key, double value, const char* comment) {
    if (value != 0) t += format("{} = {}  # {}\n", key, number(value), comment);
  };
  unless_zero("detector_shift_u_mm", c.detector_shift_u_mm,
              "of the detector's middle from the central ray, to the right");
  unless_zero("detector_shift_v_mm", c.detector_shift_v_mm, "downwards");
  unless_zero("axis_offset_mm", c.axis_offset_mm, "of the rotation axis from the central ray, to the right");
  unless_zero("in_plane_deg", degrees(c.in_plane_rad), "about the detector's normal");
  unless_zero("pitch_deg", degrees(c.pitch_rad), "about its rows");
  unless_zero("yaw_deg", degrees(c.yaw_rad), "about its columns");
  unless_zero("pitch_mm", o.helix_pitch_mm, "along the axis in every turn");
  if (c.mirror_columns) t += "mirror_columns = true\n";
  if (c.mirror_rows) t += "mirror_rows = true\n";
  if (s.equal_steps) {
    const double step = (c.angles_rad.back() - c.angles_rad.front()) / static_cast<double>(c.angles_rad.size() - 1);
    const double arc = degrees(step) * static_cast<double>(c.angles_rad.size()), rounded = std::round(arc * 1e6) / 1e6;
    t += format("first_angle_deg = {}\n", number(degrees(c.angles_rad.front())));
    t += std::abs(arc - rounded) < 1e-10 ? format("arc_deg = {}", number(rounded))
                                         : format("angle_step_deg = {}", number(degrees(step)));
    t += "  # counter-clockwise seen from +z\n";
  } else {
    t += "angles_file = \"angles.txt\"  # degrees, counter-clockwise seen from +z\n";
  }
  if (s.perturbations_file) t += "perturbations_file = \"jitter.csv\"\n";

  const VolumeGrid& g = s.grid;
  const auto centre = [](std::int64_t n, double origin, double step) {
    const double at = origin + 0.5 * static_cast<double>(n - 1) * step;
    return std::abs(at) < 1e-9 * std::abs(step) ? 0.0 : at;
  };
  t += format("\n[volume]\nsize = [{}, {}, {}]\nvoxel_mm = [{}, {}, {}]\n", g.nx, g.ny, g.nz,
              number(std::abs(g.step_mm.x)), number(std::abs(g.step_mm.y)), number(std::abs(g.step_mm.z)));
  t += format("centre_mm = [{}, {}, {}]\n", number(centre(g.nx, g.origin_mm.x, g.step_mm.x)),
              number(centre(g.ny, g.origin_mm.y, g.step_mm.y)), number(centre(g.nz, g.origin_mm.z, g.step_mm.z)));
  if (g.step_mm.x < 0 || g.step_mm.y < 0 || g.step_mm.z < 0)
    t += format("mirror = [{}, {}, {}]\n", g.step_mm.x < 0, g.step_mm.y < 0, g.step_mm.z < 0);
  t += "\n[output]\nfile = \"volume.mha\"\n";
  return t;
}

std::string angles_text(const std::vector<double>& angles_rad) {
  std::string t;
  for (const double a : angles_rad) t += number(degrees(a)) + "\n";
  return t;
}

std::string perturbations_csv(const std::vector<ViewPerturbation>& perturbations) {
  std::string t;
  for (const ViewPerturbation& p : perturbations)
    t += format("{}, {}, {}, {}, {}, {}, {}, {}, {}, {}\n", number(p.source_mm.x), number(p.source_mm.y),
                number(p.source_mm.z), number(p.detector_mm.x), number(p.detector_mm.y), number(p.detector_mm.z),
                number(degrees(p.in_plane_rad)), number(degrees(p.pitch_rad)), number(degrees(p.yaw_rad)),
                number(degrees(p.angle_rad)));
  return t;
}

std::string truth_provenance(const std::string& phantom, int samples_per_axis) {
  return json_text(
      json{{"made_by", format("lepus {}", version)}, {"phantom", phantom}, {"samples_per_axis", samples_per_axis}});
}

std::string truth_json(const ScanText& s, const SimulationReport& report) {
  const SimulationOptions& o = s.options;
  json j;
  j["made_by"] = format("lepus {}", version);
  j["seed"] = o.detector.seed;
  json& phantom = j["phantom"];
  phantom["name"] = s.phantom.phantom.name();
  phantom["shapes"] = s.phantom.phantom.shapes().size();
  phantom["combine"] = s.phantom.phantom.combine() == Combine::add ? "add" : "replace";
  if (s.phantom.porosity) {
    phantom["porosity"] = *s.phantom.porosity;
    phantom["porosity_standard_error"] = s.phantom.porosity_uncertainty;
  }
  if (!s.phantom.centres_mm.empty()) {
    json places = json::array();
    for (std::size_t i = 0; i < s.phantom.centres_mm.size(); ++i)
      places.push_back({{"centre_mm", point(s.phantom.centres_mm[i])}, {"radius_mm", s.phantom.radii_mm[i]}});
    phantom["spheres"] = std::move(places);
  }
  if (s.energy_kev > 0) j["truth_energy_kev"] = s.energy_kev;
  if (o.write_truth) j["truth_volume"] = o.truth_file;
  j["hidden_shift_px"] = o.hidden_shift_px;
  j["largest_line_integral"] = report.largest_line_integral;
  j["rays_per_pixel"] = o.rays.subpixels * o.rays.subpixels * (o.rays.spot_diameter_mm > 0 ? o.rays.spot_samples : 1);
  j["spot_diameter_mm"] = o.rays.spot_diameter_mm;
  if (s.detector) {
    const SimulatedDetector& d = o.detector;
    j["detector"] = {{"photons", d.photons},
                     {"open_level", d.open_level},
                     {"offset_level", d.offset_level},
                     {"gain_spread", d.gain_spread},
                     {"offset_spread", d.offset_spread},
                     {"dark_current", d.dark_current},
                     {"electronic_noise", d.electronic_noise},
                     {"bits", d.bits},
                     {"saturated_pixels", report.saturated_pixels}};
    const auto places = [&](const std::vector<std::int64_t>& pixels) {
      json list = json::array();
      const std::int64_t columns = recorded_columns(s.geometry);
      for (const std::int64_t p : pixels) list.push_back({{"column", p % columns}, {"row", p / columns}});
      return list;
    };
    j["hot_pixels"] = places(s.detector->hot_pixels());
    j["dead_pixels"] = places(s.detector->dead_pixels());
    j["dead_columns"] = s.detector->dead_columns();
    if (d.beam_drift != 0 || d.beam_flicker != 0) j["beam"] = s.beam;
  }
  if (!s.jitter.empty()) {
    json list = json::array();
    for (const ViewPerturbation& p : s.jitter)
      list.push_back({{"source_mm", point(p.source_mm)},
                      {"detector_mm", point(p.detector_mm)},
                      {"in_plane_deg", degrees(p.in_plane_rad)},
                      {"angle_deg", degrees(p.angle_rad)}});
    j["jitter"] = std::move(list);
    j["jitter_known"] = o.jitter.known;
  }
  return json_text(j, 2) + "\n";
}

}  // namespace lepus
