// SPDX-License-Identifier: Apache-2.0
// The readers take files, so the bytes go into one in memory (/dev/shm where there is such a folder).
#include "fuzz_targets.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/journal.h"
#include "fuzz_folder.h"
#include "io/frames.h"
#include "io/labelled_image.h"
#include "io/stl_file.h"
#include "io/volume_file.h"
#include "io/zeiss_file.h"
#include "bench/rabbitct/format.h"
#include "bench/rabbitct/result.h"
#include <lepus/error.h>

namespace lepus::fuzz {

namespace {

constexpr std::int64_t most_pixels = 1 << 20;

void read_volume(const fs::path& file) {
  try {
    const auto reader = open_volume(file);
    (void)reader->provenance();
    (void)reader->unit();
    const std::int64_t slice = reader->grid().nx * reader->grid().ny;
    if (slice > most_pixels) return;
    std::vector<float> voxels(static_cast<std::size_t>(slice));
    for (std::int64_t z = 0; z < std::min<std::int64_t>(reader->grid().nz, 8); ++z)
      reader->read(z, z + 1, voxels.data());
  } catch (const Error&) {
  }
}

void read_frames(const FrameFiles& files) {
  try {
    const auto source = open_frames(files);
    if (source->rows() * source->columns() > most_pixels) return;
    std::vector<float> pixels(static_cast<std::size_t>(source->rows() * source->columns()));
    for (std::int64_t f = 0; f < std::min<std::int64_t>(source->frames(), 8); ++f) {
      (void)source->name(f);
      source->read(f, source->rows() / 2, source->rows(), pixels.data());
    }
  } catch (const Error&) {
  }
}

}  // namespace

void mha(const std::uint8_t* data, std::size_t size) { read_volume(folder().write("a.mha", data, size)); }

void nrrd(const std::uint8_t* data, std::size_t size) { read_volume(folder().write("a.nrrd", data, size)); }

void stl(const std::uint8_t* data, std::size_t size) {
  try {
    (void)read_stl(folder().write("a.stl", data, size));
  } catch (const Error&) {
  }
}

void tiff(const std::uint8_t* data, std::size_t size) {
  const fs::path file = folder().write("a.tif", data, size);
  read_volume(file);
  read_frames({{file}, "", {}, FrameOrder::frames});
}

void hdf5(const std::uint8_t* data, std::size_t size) {
  const fs::path file = folder().write("a.h5", data, size);
  read_volume(file);
  read_frames({{file}, "", {}, FrameOrder::frames});
}

void zeiss(const std::uint8_t* data, std::size_t size) {
  const fs::path file = folder().write("a.txrm", data, size);
  read_volume(file);
  for (const char* set : {"ImageData", "ReferenceData"}) read_frames({{file}, set, {}, FrameOrder::frames});
  try {
    const ZeissFile header(file);
    for (const OleStream& stream : header.ole().streams()) (void)header.shown_value(stream);
  } catch (const Error&) {
  }
}

void varian(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return;
  const char* const names[] = {"a.xim", "a.hnd", "a.hnc"};
  const char* const name = names[data[0] % 3];
  read_frames({{folder().write(name, data + 1, size - 1)}, "", {}, FrameOrder::frames});
}

void his(const std::uint8_t* data, std::size_t size) {
  read_frames({{folder().write("a.his", data, size)}, "", {}, FrameOrder::frames});
}

void edf(const std::uint8_t* data, std::size_t size) {
  read_frames({{folder().write("a.edf", data, size)}, "", {}, FrameOrder::frames});
}

void dicom(const std::uint8_t* data, std::size_t size) {
  const fs::path file = folder().write("a.dcm", data, size);
  read_volume(file);
  read_frames({{file}, "", {}, FrameOrder::frames});
}

void arrays(const std::uint8_t* data, std::size_t size) {
  const fs::path file = folder().write("a.array", data, size);
  read_volume(file);
  read_frames({{file}, "a", {}, FrameOrder::frames});
}

// Text or binary pixels, with or without a line that ends the header, by the first byte.
void sinogram(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return;
  LabelledLayout layout;
  for (const char* words : {"columns integer required", "views integer required", "row integer", "sample text"})
    layout.header.push_back(parse_label_rule(words));
  layout.tail = {parse_label_rule("end integer required"), parse_label_rule("current number")};
  layout.text_pixels = data[0] % 2 == 0;
  layout.type = data[0] % 8 < 4 ? PixelType::u16 : PixelType::f32;
  if (data[0] % 4 < 2) layout.header_end = "data";
  FrameFiles files{{folder().write("a.sin", data + 1, size - 1)}, "", {}, FrameOrder::sinograms};
  files.labelled = layout;
  read_frames(files);
}

void raw_sidecar(const std::uint8_t* data, std::size_t size) {
  const std::string pixels(4096, 'x');
  const fs::path file = folder().write("a.raw", pixels.data(), pixels.size());
  folder().write("a.raw.json", data, size);
  read_volume(file);
  read_frames({{file}, "", {}, FrameOrder::sinograms});
}

// Three files in one: .zattrs, .zarray and the first chunk, with a zero byte after each of the first two. Where .zattrs
// is empty there is none, and the array stands alone.
void zarr(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const auto next = [&] {
    const std::string_view text = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(std::min(text.size() + 1, rest.size()));
    return text;
  };
  const std::string_view attributes = next(), array = next();
  const bool group = !attributes.empty();
  const fs::path place = folder().write("a.zarr/.zgroup", "", 0).parent_path();
  const auto write = [](const std::string& name, std::string_view text) {
    return folder().write("a.zarr/" + name, text.data(), text.size());
  };
  fs::remove(place / ".zattrs");
  if (group) write(".zattrs", attributes);
  write(group ? "0/.zarray" : ".zarray", array);
  write(group ? "0/0.0.0" : "0.0.0", rest);
  read_volume(place);
}

// What was read must be what a journal that goes on from it says, whatever the bytes were.
void journal(const std::uint8_t* data, std::size_t size) {
  const fs::path file = folder().write("a.journal", data, size);
  try {
    const JournalContents read = read_journal(file);
    { Journal goes_on(file, read); }
    if (read_journal(file).records != read.records) std::abort();
  } catch (const Error&) {
  }
}

// A data file and a result file start differently, and a fuzzer can turn one into the other.
void rabbitct(const std::uint8_t* data, std::size_t size) {
  const fs::path file = folder().write("a.rct", data, size);
  try {
    const rabbitct::DataFile read(file);
    const rabbitct::Header& h = read.header();
    if (h.columns * h.rows > most_pixels) return;
    std::vector<float> pixels(static_cast<std::size_t>(h.columns * h.rows));
    for (std::int64_t view = 0; view < std::min<std::int64_t>(h.views, 8); ++view) {
      (void)read.matrix(view);
      read.read_view(view, pixels.data());
    }
    std::vector<std::uint16_t> slice(128 * 128);
    read.read_reference(128, 127, 128, slice.data());
  } catch (const Error&) {
  }
  try {
    (void)rabbitct::read_result(file);
  } catch (const Error&) {
  }
}

}  // namespace lepus::fuzz
