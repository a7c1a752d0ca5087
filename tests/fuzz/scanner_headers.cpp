// SPDX-License-Identifier: Apache-2.0
// Headers of scanners: the bytes become a header in a folder that has the frames it may name, so that the reader goes
// on to the geometry; the scan file that comes out must be one that lepus can read.
#include <filesystem>
#include <string>

#include "core/format.h"
#include "fuzz_folder.h"
#include "fuzz_targets.h"
#include "import/import_scan.h"
#include <lepus/error.h>

namespace lepus::fuzz {
namespace {

// Frames are named, never opened, while a header is read.
void add_frames(const std::string& prefix, const char* ending) {
  for (int i = 0; i < 4; ++i) {
    const std::string name = format("{}{:04}{}", prefix, i, ending);
    folder().write(name, "", 0);
  }
}

void read_header(const Scanner& scanner, const std::string& name, const std::string& frames, const char* ending,
                 const std::uint8_t* data, std::size_t size) {
  add_frames(std::string(scanner.name()) + "/" + frames, ending);
  const fs::path header = folder().write(std::string(scanner.name()) + "/" + name, data, size);
  try {
    (void)scanner.headers({header});
    const ImportedScan scan = scanner.read(header);
    const ScanDocument document(scan_file_text(scan, header.parent_path()), header.parent_path() / "scan.toml");
    (void)document.folder();
  } catch (const Error&) {
  }
}

}  // namespace

void nikon_header(const std::uint8_t* data, std::size_t size) {
  read_header(nikon_scanner(), "scan.xtekct", "scan_", ".tif", data, size);
}
void skyscan_header(const std::uint8_t* data, std::size_t size) {
  read_header(skyscan_scanner(), "scan.log", "scan", ".tif", data, size);
}
void phoenix_header(const std::uint8_t* data, std::size_t size) {
  read_header(phoenix_scanner(), "scan.pca", "scan_", ".tif", data, size);
}
void yxlon_header(const std::uint8_t* data, std::size_t size) {
  read_header(yxlon_scanner(), "ScanParameter.xml", "Projections/Proj_", ".raw", data, size);
}
void diondo_header(const std::uint8_t* data, std::size_t size) {
  read_header(diondo_scanner(), "scan.xml", "Projection/_0000,00_", ".raw", data, size);
}
void northstar_header(const std::uint8_t* data, std::size_t size) {
  read_header(northstar_scanner(), "scan.nsipro", "Radiographs/scan_", ".tif", data, size);
}

}  // namespace lepus::fuzz
