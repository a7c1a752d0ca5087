// SPDX-License-Identifier: Apache-2.0
// A simulated scan in the files of a scanner instead of lepus' own: its frames and its header, as the import reads them
// (src/import). scanner_writers.cpp has the table.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/frames.h"
#include "simulate/simulate.h"

namespace lepus {

enum class ImageSet { flats, darks, views };

// All that a header can say.
struct ScannerScan {
  const SimulationOptions& options;  // after `prepare`
  const VolumeGrid& grid;
  const std::vector<ViewPerturbation>& known;  // what the views deviate by, as far as it is known; empty, or for each
  std::int64_t columns = 0, rows = 0;          // as recorded
  PixelType type = PixelType::u16;
  std::filesystem::path folder;  // to write into
};

class ScannerFiles {
public:
  virtual ~ScannerFiles() = default;
  // Where images of a set go; called once for each set that has any, flats and darks before the views.
  virtual std::unique_ptr<FrameWriter> open(ImageSet set, std::int64_t frames) = 0;
  virtual void finish() = 0;  // the header, after all images
};

template <class Files>
std::unique_ptr<ScannerFiles> make_files(const ScannerScan& scan) {
  return std::make_unique<Files>(scan);
}

struct ScannerWriter {
  std::string_view name;  // of Scanner::name()
  // Turns the options into those of a scan that this scanner could take: its mirrored frames, no flats where it
  // corrects them itself. Throws Error(unsupported) naming what its header cannot say.
  void (*prepare)(SimulationOptions& options);
  std::unique_ptr<ScannerFiles> (*make)(const ScannerScan& scan);
};

const std::vector<ScannerWriter>& scanner_writers();
// Throws Error(usage) with the nearest name.
const ScannerWriter& scanner_writer(const std::string& name);

// Throws Error(unsupported) unless `possible`: "a Nikon header cannot say this (detector tilt)".
void require_scanner_says(bool possible, std::string_view scanner, const std::string& what);
// What none of the circular scanners' headers hold: arcs, helices, jitter that is known.
void require_circular_orbit(const SimulationOptions& options, std::string_view scanner);
// What no header of a circular scanner holds: arcs, fans, helices, deviations of single views, line integrals, a
// detector that is tilted out of its plane.
void require_circular_cone(const SimulationOptions& options, std::string_view scanner);
// The scanner divides by its flats itself: open beam at the open level, no offset.
void correct_in_scanner(SimulationOptions& options);
// Of headers without a list of angles: the step in degrees. Error(unsupported) where the steps differ.
double equal_step_deg(const SimulationOptions& options, std::string_view scanner);
// The scanner turns the other way.
void turn_clockwise(SimulationOptions& options);

// One file for each frame, named by its index from 0: TIFF, or .raw, which is pixels and nothing else.
std::unique_ptr<FrameWriter> file_series(const ScannerScan& scan, std::int64_t frames,
                                         std::function<std::filesystem::path(std::int64_t)> name);

ScannerWriter nikon_writer();
ScannerWriter skyscan_writer();
ScannerWriter phoenix_writer();
ScannerWriter yxlon_writer();
ScannerWriter diondo_writer();
ScannerWriter northstar_writer();
ScannerWriter rtk_writer();
ScannerWriter zeiss_writer();
ScannerWriter nxtomo_writer();
ScannerWriter dxchange_writer();
ScannerWriter varian_writer();
ScannerWriter elekta_writer();
ScannerWriter edf_writer();
ScannerWriter xrad_writer();
ScannerWriter iba_writer();
ScannerWriter iba_dicom_writer();
ScannerWriter iba_flexmap_writer();
ScannerWriter sinograms_writer();
ScannerWriter sinograms_text_writer();

}  // namespace lepus
