// SPDX-License-Identifier: Apache-2.0
// Where frames come from: TIFF files and stacks, raw files, HDF5 datasets, as frames or as sinograms. Every reader
// hands out rows [row0, row1) of one frame, so that a sweep reads only the band it needs. Thread-safe; errors name the
// file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lepus {

enum class PixelType { u8, i8, u16, i16, u32, i32, f32, f64, f16 };  // kernels know them by their numbers
std::int64_t bytes_per_pixel(PixelType);
const char* name_of(PixelType);  // "uint16", as NumPy says it

// One detector row is `columns` pixels, u fastest. Values are converted to host byte order.
class FrameSource {
public:
  virtual ~FrameSource() = default;
  virtual std::int64_t columns() const = 0;
  virtual std::int64_t rows() const = 0;
  virtual std::int64_t frames() const = 0;
  virtual PixelType pixel_type() const = 0;
  virtual std::string name(std::int64_t frame) const = 0;  // "frames/0017.tif" or "scan.h5:/exchange/data[17]"
  // Fills (row1-row0)*columns pixels of pixel_type().
  virtual void read_native(std::int64_t frame, std::int64_t row0, std::int64_t row1, void* out) const = 0;
  // Where frames lie in memory already: row `row0` of a frame, the rows after it following; null where they do not.
  virtual const void* in_memory(std::int64_t /*frame*/, std::int64_t /*row0*/) const { return nullptr; }
  // The same as float grey levels.
  void read(std::int64_t frame, std::int64_t row0, std::int64_t row1, float* out) const;
};

struct RawLayout {
  std::int64_t columns = 0, rows = 0, frames_per_file = 1;
  PixelType type = PixelType::u16;
  std::int64_t header_bytes = 0;
  bool big_endian = false;
};

// Files of laboratory systems: one image each, its pixels as numbers in text or in binary, between a header and a tail
// of "name value" lines. io/labelled_image.h reads them.
enum class LabelType { integer, number, text };
struct LabelRule {
  std::string name;
  LabelType type = LabelType::text;
  bool required = false;
};
struct LabelledLayout {
  std::vector<LabelRule> header, tail;  // the lines there may be, in any order
  std::string header_end;               // the line after the header; "": the header ends at the first line not listed
  bool text_pixels = true;              // numbers separated by blanks and new lines
  PixelType type = PixelType::f32;
  bool big_endian = false;
  // The lines of the header that say how many pixels a line of the image has, how many lines there are, and (where it
  // is not "") the number of the image, which goes up by one from file to file.
  std::string columns_from = "columns", lines_from = "views", number_from = {};
};

// What the images of the files are, and how each lies in its file; names for the six orders of the axes.
enum class FrameOrder {
  frames,            // view, row, column: one image per view, rows x columns
  sinograms,         // row, view, column: one image per detector row, views x columns
  frames_turned,     // view, column, row
  sinograms_turned,  // row, column, view
  columns,           // column, row, view: one image per detector column, rows x views
  columns_turned     // column, view, row
};

struct FrameFiles {
  std::vector<std::filesystem::path> files;  // in order; every page or frame of each counts
  std::string dataset;                       // HDF5 only; "" is /exchange/data (DXchange)
  std::optional<RawLayout> raw;              // for files without a header
  FrameOrder order = FrameOrder::frames;
  std::vector<std::int64_t> images = {};        // which of the views in the files; empty: all
  std::optional<LabelledLayout> labelled = {};  // for files with header and tail of "name value" lines
};

// Opens the files and checks that all have one size and type (by their headers). Throws Error(input) naming the file.
std::unique_ptr<FrameSource> open_frames(const FrameFiles& files);

// Every step-th frame of [first, last] and every step-th row, as a source of its own.
struct FrameSelection {
  std::vector<std::int64_t> frames;  // indices into the source
  std::int64_t first_row = 0, row_step = 1, rows = 0;
};
std::unique_ptr<FrameSource> select_frames(std::unique_ptr<FrameSource> source, FrameSelection selection);

bool has_wildcard(const std::string& name);  // * ? or [

// "frames/*.tif", "frames/img_%04d.tif" is not special, a plain name, or a folder (its TIFF files); sorted so that 2
// < 10. What exists is taken by its name, with whatever stars and brackets it has.
std::vector<std::filesystem::path> expand_pattern(const std::filesystem::path& folder, const std::string& pattern);

// What a scanner would write: frames appended one after another. finish() renames into place; without it nothing stays.
class FrameWriter {
public:
  virtual ~FrameWriter() = default;
  virtual void write(const void* pixels) = 0;  // one frame of the type given at creation
  virtual void finish() = 0;
};
struct FrameWriterOptions {
  std::int64_t columns = 0, rows = 0, frames = 0;
  PixelType type = PixelType::u16;
  bool force = false;   // overwrite
  std::string dataset;  // HDF5 only
};
// By the ending of `path`: a folder with "%04d" in the name of its files ("frames/%04d.tif": a file per frame), .tif
// (one stack, BigTIFF where needed), .h5, .raw.
std::unique_ptr<FrameWriter> create_frames(const std::filesystem::path& path, const FrameWriterOptions& options);

}  // namespace lepus
