// SPDX-License-Identifier: Apache-2.0
// Attenuation of a few materials between 10 and 500 keV, and simple X-ray spectra. Mass attenuation coefficients are
// the figures of NIST's tables (Hubbell and Seltzer, NISTIR 5632), interpolated log-log; no absorption edge of these
// materials lies in that range.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <lepus/simulate.h>

namespace lepus {

inline constexpr std::size_t material_slots = 8;    // slot 0: no material, a plain value in 1/mm
inline constexpr double default_energy_kev = 60.0;  // where materials are read in a scan of one energy

std::int32_t material_slot(
    std::string_view name);               // of material_names(), 1 ...; throws Error(input) with the nearest name
double density_g_cm3(std::int32_t slot);  // the usual density, where a phantom gives none
double attenuation(std::int32_t slot, double energy_kev);  // (1/mm) per (g/cm^3)

struct SpectrumBin {
  double energy_kev = 0;
  double weight = 0;  // share of the photons that the detector would count without an object; all sum to 1
};
using Spectrum = std::vector<SpectrumBin>;

// A tungsten tube at a voltage of `peak_kv` (30 to 450) behind a filter of aluminium and copper: Kramers'
// bremsstrahlung (kVp/E - 1) and, above 70 kV, the K lines at 58.6 and 67.7 keV with a tenth of the photons.
Spectrum tungsten_spectrum(double peak_kv, double aluminium_mm = 2.5, double copper_mm = 0);

// A text file: energy in keV and weight on each line, # for comments. Throws Error(input) naming file and line.
Spectrum read_spectrum(const std::filesystem::path& file);

// The energy at which a thin layer of water weakens as it does in the spectrum.
double effective_energy_kev(const Spectrum& spectrum);

}  // namespace lepus
