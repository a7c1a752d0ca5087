// SPDX-License-Identifier: Apache-2.0
// Headers of scanners: the bytes become a header in a folder that has the frames it may name, so that the reader goes
// on to the geometry; the scan file that comes out must be one that lepus can read. Scan files and geometry files, too.
#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "core/format.h"
#include "fuzz_folder.h"
#include "fuzz_targets.h"
#include "geometry/exchange.h"
#include "import/import_scan.h"
#include "io/dicom_file.h"
#include "io/edf_file.h"
#include "io/his_file.h"
#include "io/varian_file.h"
#include "scan/scan.h"
#include <lepus/error.h>

namespace lepus::fuzz {
namespace {

constexpr std::int64_t columns = 4, rows = 3;
constexpr auto counts = [] {
  std::array<std::uint16_t, columns * rows> all{};
  all.fill(1000);
  return all;
}();
const std::string_view count_bytes(reinterpret_cast<const char*>(counts.data()), sizeof counts);

// Four frames, once in the life of the process. Most readers name frames and never open them.
bool add_frames(const std::string& prefix, const char* ending, const std::string& bytes = {}) {
  for (int i = 0; i < 4; ++i) folder().write(format("{}{:04}{}", prefix, i, ending), bytes);
  return true;
}

void import_header(const Scanner& scanner, const fs::path& header) {
  try {
    for (const fs::path& found : scanner.headers({header})) {
      const ImportedScan scan = scanner.read(found, {});
      const ScanDocument document(scan_file_text(scan, header.parent_path()), header.parent_path() / "scan.toml");
      (void)document.folder();
    }
  } catch (const Error&) {
  }
}

void import_header(const Scanner& scanner, const char* name, const std::uint8_t* data, std::size_t size) {
  import_header(scanner, folder().write(name, text_of(data, size)));
}

// A header, a zero byte, and a second file that may lie beside it.
void import_two(const Scanner& scanner, const char* name, const char* beside, const std::uint8_t* data,
                std::size_t size) {
  std::string_view second = text_of(data, size);
  const std::string_view header = take_part(second, '\0');
  if (second.empty())
    folder().remove(beside);
  else
    folder().write(beside, second);
  import_header(scanner, folder().write(name, header));
}

void nikon(const std::uint8_t* data, std::size_t size) {
  static const bool ready = add_frames("nikon/scan_", ".tif");
  if (ready) import_two(nikon_scanner(), "nikon/scan.xtekct", "nikon/_ctdata.txt", data, size);
}

void skyscan(const std::uint8_t* data, std::size_t size) {
  static const bool ready = add_frames("skyscan/scan", ".tif");
  if (ready) import_two(skyscan_scanner(), "skyscan/scan.log", "skyscan/scan_TS.csv", data, size);
}

void phoenix(const std::uint8_t* data, std::size_t size) {
  static const bool ready = add_frames("phoenix/scan_", ".tif");
  if (ready) import_header(phoenix_scanner(), "phoenix/scan.pca", data, size);
}

void yxlon(const std::uint8_t* data, std::size_t size) {
  static const bool ready = add_frames("yxlon/Projections/Proj_", ".raw");
  if (ready) import_header(yxlon_scanner(), "yxlon/ScanParameter.xml", data, size);
}

void diondo(const std::uint8_t* data, std::size_t size) {
  static const bool ready = add_frames("diondo/Projection/_0000,00_", ".raw");
  if (ready) import_header(diondo_scanner(), "diondo/scan.xml", data, size);
}

void northstar(const std::uint8_t* data, std::size_t size) {
  static const bool ready = add_frames("northstar/Radiographs/scan_", ".tif");
  if (ready) import_header(northstar_scanner(), "northstar/scan.nsipro", data, size);
}

void rtk(const std::uint8_t* data, std::size_t size) {
  static const fs::path stack =
      folder().write("rtk/projections.mha",
                     format("ObjectType = Image\nNDims = 3\nDimSize = {} {} 4\nElementSpacing = 2 2 1\nOffset = -3 -2 "
                            "0\nElementType = MET_USHORT\nElementDataFile = LOCAL\n{}",
                            columns, rows, std::string(8 * columns * rows, 'x')));
  import_header(rtk_scanner(), "rtk/geometry.xml", data, size);
}

// ProjectionInfo.xml of an OBI, or (after an "s") Scan.xml of a TrueBeam. Its frames say the rest.
void varian(const std::uint8_t* data, std::size_t size) {
  static const std::vector<std::int32_t> pixels(columns * rows, 1000);
  static const std::string image =
      xim_bytes(pixels.data(), columns, rows, {{"KVSourceRtn", 12.5}, {"KVNormChamber", 1234}});
  static const bool ready = add_frames("obi/Proj_", ".xim", image) &&
                            add_frames("truebeam/Acquisitions/1/Proj_", ".xim", image) &&
                            add_frames("truebeam/Calibrations/AIR-Half/Current/FilterBowtie", ".xim", image);
  if (!ready || size == 0) return;
  if (data[0] == 's')
    import_header(varian_scanner(), "truebeam/Scan.xml", data + 1, size - 1);
  else
    import_header(varian_scanner(), "obi/ProjectionInfo.xml", data, size);
}

void elekta(const std::uint8_t* data, std::size_t size) {
  static const bool ready = add_frames("elekta/", ".his", his_bytes(columns, rows, counts.data()));
  if (ready) import_header(elekta_scanner(), "elekta/_Frames.xml", data, size);
}

void edf(const std::uint8_t* data, std::size_t size) {
  static const bool ready =
      add_frames("edf/scan", ".edf", edf_header(columns, rows, PixelType::u16, {}) + std::string(count_bytes));
  if (ready) import_header(edf_scanner(), "edf/scan.info", data, size);
}

// The header is the geometry file, too: both readers see it. Its pixels are those of the header in the corpus.
void xrad(const std::uint8_t* data, std::size_t size) {
  static const fs::path pixels = folder().write("xrad/scan.img", std::string(96, 'x'));
  import_header(xrad_scanner(), "xrad/scan.header", data, size);
  try {
    (void)parse_geometry(std::string(text_of(data, size)), "scan.header", "xrad");
  } catch (const Error&) {
  }
}

// A DICOM projection whose calibration is to come.
std::string iba_projection(const char* version) {
  DicomWriter data;
  data.text(0x00080070, "LO", "IBA").text(0x00181020, "LO", version).text(0x30020011, "DS", "1\\1");
  data.number(0x00280010, rows).number(0x00280011, columns).number(0x00280100, 16).text(0x300A011E, "DS", "100");
  return dicom_start(data, "1.2.3", "1.2.4", sizeof counts) + std::string(count_bytes);
}

// Which file the bytes are says the first of them: d a DICOM projection, c and f the calibrations that may lie beside
// one, r the room setup beside an image as XML; else they are that image.
void iba(const std::uint8_t* data, std::size_t size) {
  static const std::string image =
      "<image name=\"p\" pixelFormat=\"Type_uint16\" byteOrder=\"LSB\" rawFile=\"p.raw\"><size x=\"4\" y=\"3\"/>"
      "<spacing x=\"1\" y=\"1\"/></image>";
  static const std::string room =
      "<RoomSetup><Axis axis=\"CBCT\"><Distances sid=\"500\" sdd=\"900\"/></Axis></RoomSetup>";
  static const fs::path pixels = folder().write("iba/p.raw", count_bytes),
                        first = folder().write("iba_model/1.dcm", iba_projection("IMAGX:1.6")),
                        second = folder().write("iba_flexmap/1.dcm", iba_projection("adaPTinsight: 2"));
  if (size == 0) return;
  const std::string_view rest = text_of(data + 1, size - 1);
  if (data[0] == 'd') return import_header(iba_scanner(), folder().write("iba_dicom/1.dcm", rest));
  if (data[0] == 'c' || data[0] == 'f') {
    folder().write(data[0] == 'c' ? "iba_model/c.xml" : "iba_flexmap/c.xml", rest);
    return import_header(iba_scanner(), data[0] == 'c' ? first : second);
  }
  const bool is_room = data[0] == 'r';
  folder().write("iba/room.xml", is_room ? rest : room);
  import_header(iba_scanner(), folder().write("iba/p.xml", is_room ? image : text_of(data, size)));
}

void hdf5(const std::uint8_t* data, std::size_t size) {
  const fs::path file = folder().write("hdf5/scan.h5", text_of(data, size));
  import_header(nxtomo_scanner(), file);
  import_header(dxchange_scanner(), file);
}

// The first byte chooses the program whose geometry it is.
void geometry_file(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return;
  static const std::vector<std::string> formats = geometry_formats();
  GeometryFileOptions options;
  options.columns = columns;
  options.rows = rows;
  options.pixel_width_mm = options.pixel_height_mm = 0.5;
  try {
    (void)parse_geometry(std::string(text_of(data + 1, size - 1)), "geometry", formats[data[0] % formats.size()],
                         options);
  } catch (const Error&) {
  }
}

// Beside it lie frames.raw, four frames of 4 x 3 pixels of 16 bits, and two sinograms s0.sin and s1.sin.
void scan_file(const std::uint8_t* data, std::size_t size) {
  static const fs::path frames = folder().write("scan/frames.raw", std::string(8 * columns * rows, 'x'));
  static const bool ready = [] {
    for (const char* row : {"0", "1"})
      folder().write(format("scan/s{}.sin", row), format("columns 4\nviews 2\nrow {}\n1 2 3 4\n5 6 7 8\nend 1\n", row));
    return true;
  }();
  if (!ready) return;
  try {
    (void)read_scan_text(std::string(text_of(data, size)), frames.parent_path() / "scan.toml");
  } catch (const Error&) {
  }
}

constexpr Target all[] = {
    {"nikon_header", nikon},
    {"skyscan_header", skyscan},
    {"phoenix_header", phoenix},
    {"yxlon_header", yxlon},
    {"diondo_header", diondo},
    {"northstar_header", northstar},
    {"rtk_header", rtk},
    {"zeiss_header", [](auto* data, auto size) { import_header(zeiss_scanner(), "zeiss/scan.txrm", data, size); }},
    {"hdf5_header", hdf5},
    {"varian_header", varian},
    {"elekta_header", elekta},
    {"edf_header", edf},
    {"xrad_header", xrad},
    {"iba_header", iba},
    {"sinogram_header",
     [](auto* data, auto size) { import_header(sinograms_scanner(), "sinograms/s_0000.sin", data, size); }},
    {"geometry_file", geometry_file},
    {"scan_file", scan_file},
};

}  // namespace

std::span<const Target> targets() { return all; }

}  // namespace lepus::fuzz
