// SPDX-License-Identifier: Apache-2.0
// Frames, volumes and what else io reads. The readers take files, so the bytes go into one in memory.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "bench/rabbitct/format.h"
#include "bench/rabbitct/result.h"
#include "core/journal.h"
#include "fuzz_folder.h"
#include "fuzz_targets.h"
#include "io/frames.h"
#include "io/labelled_image.h"
#include "io/number_file.h"
#include "io/ome_text.h"
#include "io/stl_file.h"
#include "io/volume_file.h"
#include "io/zeiss_file.h"
#include <lepus/error.h>

namespace lepus::fuzz {

namespace {

constexpr std::int64_t maximum_pixels = 1 << 14;
constexpr std::int64_t maximum_frames = 2;  // more would go the same ways again

template <class Read>
void read_or_refuse(const Read& read) {
  try {
    read();
  } catch (const Error&) {
  }
}

void read_volume(const fs::path& file) {
  read_or_refuse([&] {
    const auto reader = open_volume(file);
    (void)reader->provenance();
    (void)reader->unit();
    const std::int64_t slice = reader->grid().nx * reader->grid().ny;
    if (slice > maximum_pixels) return;
    std::vector<float> voxels(static_cast<std::size_t>(slice));
    for (std::int64_t z = 0; z < std::min<std::int64_t>(reader->grid().nz, maximum_frames); ++z)
      reader->read(z, z + 1, voxels.data());
  });
}

void read_frames(const FrameFiles& files) {
  read_or_refuse([&] {
    const auto source = open_frames(files);
    if (source->rows() * source->columns() > maximum_pixels) return;
    std::vector<float> pixels(static_cast<std::size_t>(source->rows() * source->columns()));
    for (std::int64_t f = 0; f < std::min<std::int64_t>(source->frames(), maximum_frames); ++f) {
      (void)source->name(f);
      source->read(f, source->rows() / 2, source->rows(), pixels.data());
    }
  });
}

void frames(const char* name, std::string_view bytes) {
  read_frames({{folder().write(name, bytes)}, "", {}, FrameOrder::frames});
}

void volume(const char* name, std::string_view bytes) { read_volume(folder().write(name, bytes)); }

void volume_and_frames(const char* name, std::string_view bytes, const char* dataset = "") {
  const fs::path file = folder().write(name, bytes);
  read_volume(file);
  read_frames({{file}, dataset, {}, FrameOrder::frames});
}

void zeiss(const std::uint8_t* data, std::size_t size) {
  const fs::path file = folder().write("a.txrm", text_of(data, size));
  read_volume(file);
  for (const char* set : {"ImageData", "ReferenceData"}) read_frames({{file}, set, {}, FrameOrder::frames});
  read_or_refuse([&] {
    const ZeissFile header(file);
    for (const OleStream& stream : header.ole().streams()) (void)header.shown_value(stream);
  });
}

// .xim, .hnd or .hnc by the first byte.
void varian(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return;
  const char* const names[] = {"a.xim", "a.hnd", "a.hnc"};
  frames(names[data[0] % 3], text_of(data + 1, size - 1));
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
  FrameFiles files{{folder().write("a.sin", text_of(data + 1, size - 1))}, "", {}, FrameOrder::sinograms};
  files.labelled = layout;
  read_frames(files);
}

// layout.json, a zero byte, a slice. Where the first is empty there is none, and the slice has lepus' own layout.
void labelled_slices(const std::uint8_t* data, std::size_t size) {
  std::string_view slice = text_of(data, size);
  const std::string_view layout = take_part(slice, '\0');
  const fs::path file = folder().write("slices/a0.vol", slice);
  if (layout.empty())
    folder().remove("slices/layout.json");
  else
    folder().write("slices/layout.json", layout);
  read_volume(file.parent_path());
}

void raw_sidecar(const std::uint8_t* data, std::size_t size) {
  static const fs::path file = folder().write("a.raw", std::string(4096, 'x'));
  folder().write("a.raw.json", text_of(data, size));
  read_volume(file);
  read_frames({{file}, "", {}, FrameOrder::sinograms});
}

// Three files in one: .zattrs, .zarray and the first chunk, with a zero byte after each of the first two. Where .zattrs
// is empty there is none, and the array stands alone.
void zarr(const std::uint8_t* data, std::size_t size) {
  std::string_view chunk = text_of(data, size);
  const std::string_view attributes = take_part(chunk, '\0'), array = take_part(chunk, '\0');
  const bool group = !attributes.empty();
  const fs::path place = folder().write("a.zarr/.zgroup", "").parent_path();
  if (group)
    folder().write("a.zarr/.zattrs", attributes);
  else
    folder().remove("a.zarr/.zattrs");
  folder().write(group ? "a.zarr/0/.zarray" : "a.zarr/.zarray", array);
  folder().write(group ? "a.zarr/0/0.0.0" : "a.zarr/0.0.0", chunk);
  read_volume(place);
}

void ome(const std::uint8_t* data, std::size_t size) {
  const std::string description(text_of(data, size));
  read_or_refuse([&] {
    if (is_ome(description)) (void)ome_voxel_mm(description, 3, "a.tif");
  });
}

void numbers(const std::uint8_t* data, std::size_t size) {
  const fs::path file = folder().write("a.txt", text_of(data, size));
  read_or_refuse([&] {
    for (const double angle_deg : read_number_file(file).values) check_angle_deg(angle_deg, "a.txt");
  });
}

void stl(const std::uint8_t* data, std::size_t size) {
  const fs::path file = folder().write("a.stl", text_of(data, size));
  read_or_refuse([&] { (void)read_stl(file); });
}

// What was read must be what a journal that goes on from it says, whatever the bytes were.
void journal(const std::uint8_t* data, std::size_t size) {
  static const fs::path file = folder().open_to_all() / "a.journal";
  Folder::write_on_disk(file, text_of(data, size));
  read_or_refuse([&] {
    const JournalContents read = read_journal(file);
    { Journal goes_on(file, read); }
    if (read_journal(file).records != read.records) std::abort();
  });
}

// A data file and a result file start differently, and a fuzzer can turn one into the other.
void rabbitct(const std::uint8_t* data, std::size_t size) {
  const fs::path file = folder().write("a.rct", text_of(data, size));
  read_or_refuse([&] {
    const rabbitct::DataFile read(file);
    const rabbitct::Header& h = read.header();
    if (h.columns * h.rows > maximum_pixels) return;
    std::vector<float> pixels(static_cast<std::size_t>(h.columns * h.rows));
    for (std::int64_t view = 0; view < std::min<std::int64_t>(h.views, maximum_frames); ++view) {
      (void)read.matrix(view);
      read.read_view(view, pixels.data());
    }
    std::vector<std::uint16_t> slice(128 * 128);
    read.read_reference(128, 127, 128, slice.data());
  });
  read_or_refuse([&] { (void)rabbitct::read_result(file); });
}

constexpr Target all[] = {
    {"mha", [](auto* data, auto size) { volume("a.mha", text_of(data, size)); }},
    {"nrrd", [](auto* data, auto size) { volume("a.nrrd", text_of(data, size)); }},
    {"tiff", [](auto* data, auto size) { volume_and_frames("a.tif", text_of(data, size)); }},
    {"ome", ome},
    {"hdf5", [](auto* data, auto size) { volume_and_frames("a.h5", text_of(data, size)); }},
    {"dicom", [](auto* data, auto size) { volume_and_frames("a.dcm", text_of(data, size)); }},
    {"numpy", [](auto* data, auto size) { volume_and_frames("a.npy", text_of(data, size), "a"); }},
    {"matlab", [](auto* data, auto size) { volume_and_frames("a.mat", text_of(data, size), "a"); }},
    {"fits", [](auto* data, auto size) { volume_and_frames("a.fits", text_of(data, size)); }},
    // VFF and ISQ are known by their first bytes, REK by its name alone.
    {"scanner_volume", [](auto* data, auto size) { volume("a.rek", text_of(data, size)); }},
    {"raw_sidecar", raw_sidecar},
    {"zarr", zarr},
    {"labelled_slices", labelled_slices},
    {"stl", stl},
    {"numbers", numbers},
    {"zeiss", zeiss},
    {"varian", varian},
    {"his", [](auto* data, auto size) { frames("a.his", text_of(data, size)); }},
    {"edf", [](auto* data, auto size) { frames("a.edf", text_of(data, size)); }},
    {"sinogram", sinogram},
    {"journal", journal},
    {"rabbitct", rabbitct},
};

}  // namespace

std::span<const Target> targets() { return all; }

}  // namespace lepus::fuzz
