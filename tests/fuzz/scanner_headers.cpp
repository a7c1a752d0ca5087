// SPDX-License-Identifier: Apache-2.0
// Headers of scanners: the bytes become a header in a folder that has the frames it may name, so that the reader goes
// on to the geometry; the scan file that comes out must be one that lepus can read.
#include <filesystem>
#include <string>

#include "core/format.h"
#include "fuzz_folder.h"
#include "fuzz_targets.h"
#include "geometry/exchange.h"
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

// The header is the geometry file, too: both readers see it. Its pixels are those of the header in the corpus.
void xrad_header(const std::uint8_t* data, std::size_t size) {
  folder().write("xrad/scan.img", std::string(96, 'x').data(), 96);
  read_header(xrad_scanner(), "scan.header", "unused", ".tif", data, size);
  try {
    (void)parse_geometry(std::string(reinterpret_cast<const char*>(data), size), "scan.header", "xrad");
  } catch (const Error&) {
  }
}

// The room setup is another file of the same kind: the bytes are one or the other by their first.
void iba_header(const std::uint8_t* data, std::size_t size) {
  const std::string image =
      "<image name=\"p\" pixelFormat=\"Type_uint16\" byteOrder=\"LSB\" rawFile=\"p.raw\"><size x=\"4\" y=\"3\"/>"
      "<spacing x=\"1\" y=\"1\"/></image>";
  const std::string room = "<RoomSetup><Axis axis=\"CBCT\"><Distances sid=\"500\" sdd=\"900\"/></Axis></RoomSetup>";
  if (size == 0) return;
  folder().write("iba/p.raw", std::string(24, 'x').data(), 24);
  if (data[0] == 'r') {
    folder().write("iba/p.xml", image.data(), image.size());
    read_header(iba_scanner(), "room.xml", "unused", ".tif", data + 1, size - 1);
    return;
  }
  folder().write("iba/room.xml", room.data(), room.size());
  read_header(iba_scanner(), "p.xml", "unused", ".tif", data, size);
}

}  // namespace lepus::fuzz
