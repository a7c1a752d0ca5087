// SPDX-License-Identifier: Apache-2.0
// Tables of mass attenuation and the spectra made from them.
#include "simulate/materials.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include "core/format.h"
#include "core/input_file.h"
#include "core/text.h"
#include <lepus/error.h>

namespace lepus {
namespace {

constexpr std::size_t table_points = 14;
constexpr std::array<double, table_points> energies_kev{10, 15, 20, 30, 40, 50, 60, 80, 100, 150, 200, 300, 400, 500};

struct Material {
  const char* name;
  double density_g_cm3;
  std::array<double, table_points> cm2_per_g;
};

constexpr std::array<Material, material_slots - 1> materials{{
    {"water",
     1.0,
     {5.329, 1.673, 0.8096, 0.3756, 0.2683, 0.2269, 0.2059, 0.1837, 0.1707, 0.1505, 0.1370, 0.1186, 0.1061, 0.09687}},
    {"bone",
     1.92,
     {28.51, 9.032, 4.001, 1.331, 0.6655, 0.4242, 0.3148, 0.2229, 0.1855, 0.1480, 0.1309, 0.1113, 0.09908, 0.09022}},
    {"aluminium",
     2.699,
     {26.23, 7.955, 3.441, 1.128, 0.5685, 0.3681, 0.2778, 0.2018, 0.1704, 0.1378, 0.1223, 0.1042, 0.09276, 0.08445}},
    {"iron",
     7.874,
     {170.6, 57.08, 25.68, 8.176, 3.629, 1.958, 1.205, 0.5952, 0.3717, 0.1964, 0.1460, 0.1099, 0.09400, 0.08414}},
    {"titanium",
     4.54,
     {110.7, 35.87, 15.85, 4.972, 2.214, 1.213, 0.7661, 0.4052, 0.2721, 0.1649, 0.1314, 0.1043, 0.09081, 0.08191}},
    {"copper",
     8.96,
     {215.9, 74.05, 33.79, 10.92, 4.862, 2.613, 1.593, 0.7630, 0.4584, 0.2217, 0.1559, 0.1119, 0.09413, 0.08362}},
    {"acrylic",
     1.19,
     {3.357, 1.101, 0.5714, 0.3032, 0.2350, 0.2074, 0.1924, 0.1751, 0.1641, 0.1456, 0.1328, 0.1152, 0.1031, 0.09410}},
}};

constexpr std::int32_t water = 1, aluminium = 3, copper = 6;

const Material& material(std::int32_t slot) { return materials.at(static_cast<std::size_t>(slot - 1)); }

Spectrum normalised(Spectrum spectrum) {
  double sum = 0;
  for (const SpectrumBin& bin : spectrum) sum += bin.weight;
  for (SpectrumBin& bin : spectrum) bin.weight /= sum;
  return spectrum;
}

}  // namespace

std::vector<std::string> material_names() {
  std::vector<std::string> names;
  names.reserve(std::size(materials));
  for (const Material& m : materials) names.emplace_back(m.name);
  return names;
}

std::int32_t material_slot(std::string_view name) {
  for (std::size_t i = 0; i < materials.size(); ++i)
    if (name == materials[i].name) return static_cast<std::int32_t>(i + 1);
  const std::string nearest = nearest_name(name, material_names());
  std::string all;
  for (const std::string& n : material_names()) all += (all.empty() ? "" : ", ") + n;
  throw Error(ErrorKind::input, {.what = format("unknown material \"{}\"", name),
                                 .where = {},
                                 .why = "lepus knows " + all,
                                 .hint = nearest.empty() ? "use one of these, or give value_per_mm instead"
                                                         : format("did you mean \"{}\"?", nearest)});
}

double density_g_cm3(std::int32_t slot) { return material(slot).density_g_cm3; }

double attenuation(std::int32_t slot, double energy_kev) {
  if (!(energy_kev >= energies_kev.front() && energy_kev <= energies_kev.back()))
    throw Error(ErrorKind::usage, {.what = format("no attenuation of {} at {} keV", material(slot).name, energy_kev),
                                   .where = "spectrum",
                                   .why = "the tables cover 10 to 500 keV",
                                   .hint = "choose energies within that range"});
  const auto above = std::upper_bound(energies_kev.begin() + 1, energies_kev.end() - 1, energy_kev);
  const auto i = static_cast<std::size_t>(above - energies_kev.begin() - 1);
  const auto& table = material(slot).cm2_per_g;
  const double share = std::log(energy_kev / energies_kev[i]) / std::log(energies_kev[i + 1] / energies_kev[i]);
  return 0.1 * table[i] * std::pow(table[i + 1] / table[i], share);  // 1/cm to 1/mm
}

Spectrum tungsten_spectrum(double peak_kv, double aluminium_mm, double copper_mm) {
  if (!(peak_kv >= 30 && peak_kv <= 450) || !(aluminium_mm >= 0) || !(copper_mm >= 0))
    throw Error(ErrorKind::usage,
                {.what = "no spectrum for these settings",
                 .where = "tube",
                 .why = format("{} kV, {} mm aluminium, {} mm copper", peak_kv, aluminium_mm, copper_mm),
                 .hint = "give 30 to 450 kV and filters that are not negative"});
  const auto through_filter = [&](double energy) {
    return std::exp(-attenuation(aluminium, energy) * density_g_cm3(aluminium) * aluminium_mm -
                    attenuation(copper, energy) * density_g_cm3(copper) * copper_mm);
  };
  const double first = 12, step = std::max(2.0, (peak_kv - first) / 48);
  Spectrum spectrum;
  double sum = 0;
  for (double energy = first; energy < peak_kv; energy += step) {
    const double weight = (peak_kv / energy - 1) * through_filter(energy);
    spectrum.push_back({energy, weight});
    sum += weight;
  }
  if (peak_kv > 70) {
    // The lines are made in the anode as the continuum is, and pass the same filter; a tenth of what then arrives.
    spectrum.push_back({58.6, 0.078 * sum});
    spectrum.push_back({67.7, 0.022 * sum});
    std::sort(spectrum.begin(), spectrum.end(), [](auto a, auto b) { return a.energy_kev < b.energy_kev; });
  }
  return normalised(std::move(spectrum));
}

Spectrum read_spectrum(const std::filesystem::path& file) {
  std::istringstream in(read_text_file(file, largest_scan_file));
  Spectrum spectrum;
  std::string line;
  double sum = 0;
  for (int number = 1; std::getline(in, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    double energy = 0, weight = 0;
    if (!(words >> std::ws) || words.eof()) continue;
    std::string rest;
    if (!(words >> energy >> weight) || (words >> rest) || !(energy >= 10 && energy <= 500) || !(weight >= 0))
      throw Error(ErrorKind::input,
                  {.what = "not a line of a spectrum",
                   .where = format("{}:{}", file.string(), number),
                   .why = "expected an energy between 10 and 500 keV and a weight that is not negative",
                   .hint = "write lines like: 60 0.25"});
    spectrum.push_back({energy, weight});
    sum += weight;
  }
  if (!(sum > 0))
    throw Error(ErrorKind::input, {.what = "spectrum is empty",
                                   .where = file.string(),
                                   .why = "no line with a weight above zero",
                                   .hint = "write lines like: 60 0.25"});
  return normalised(std::move(spectrum));
}

double effective_energy_kev(const Spectrum& spectrum) {
  double mean = 0;
  for (const SpectrumBin& bin : spectrum) mean += bin.weight * attenuation(water, bin.energy_kev);
  double low = energies_kev.front(), high = energies_kev.back();  // water falls monotonically: bisect
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (attenuation(water, middle) > mean ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace lepus
