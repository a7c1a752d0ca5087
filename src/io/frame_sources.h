// SPDX-License-Identifier: Apache-2.0
// The frame readers behind open_frames, one per format, and the class that serves every format whose pixels lie
// uncompressed in the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "io/file.h"
#include "io/file_kind.h"
#include "io/frames.h"
#include "io/volume_file.h"

namespace lepus {

// Images that lie in files row after row: raw files, uncompressed TIFF and contiguous HDF5 datasets.
struct PlainImages {
  struct Run {  // images one after another in one file
    std::size_t file = 0;
    std::int64_t offset = 0;  // of the first pixel, in bytes
    std::int64_t count = 1;   // images
    std::string label;        // "scan.h5:/exchange/data"; empty: the name of the file
    bool alone = false;       // one image in its file: the label is its name
  };
  std::vector<std::filesystem::path> files;
  std::vector<Run> runs;
  std::int64_t columns = 0, rows = 0;
  PixelType type = PixelType::u16;
  bool big_endian = false;
};
std::unique_ptr<FrameSource> plain_frames(PlainImages images);

// What such a source is, too: `count` pixels from one of a row on, also of the rows that follow, as float grey levels.
class RunReader {
public:
  virtual ~RunReader() = default;
  virtual void read_run(std::int64_t frame, std::int64_t row, std::int64_t column, std::int64_t count,
                        ReadPattern pattern, float* out) const = 0;
};

// Fills `count` pixels of host byte order from `offset`.
void read_pixels(const InputFile& file, std::int64_t offset, std::int64_t count, PixelType type, bool big_endian,
                 void* out, ReadPattern pattern = ReadPattern::sequential);

// Images as they are stored, and the scale that their files note for the numbers: one for all of them.
struct StoredFrames {
  std::unique_ptr<FrameSource> images;
  ValueScale scale = {};
};
// Throws Error(unsupported) unless both are the same.
void check_same_scale(const ValueScale& here, const ValueScale& first, const std::filesystem::path& file);

enum class TrailingBytes { refuse, ignore };
std::unique_ptr<FrameSource> open_raw_frames(const std::vector<std::filesystem::path>& files, const RawLayout& layout,
                                             TrailingBytes trailing = TrailingBytes::refuse);
std::unique_ptr<FrameSource> open_labelled_frames(const std::vector<std::filesystem::path>& files,
                                                  const LabelledLayout& layout);
StoredFrames open_tiff_frames(const std::vector<std::filesystem::path>& files);
StoredFrames open_hdf5_frames(const std::vector<std::filesystem::path>& files, const std::string& dataset);
// dataset: "" or "ImageData" for the views, "ReferenceData" for the flats.
std::unique_ptr<FrameSource> open_zeiss_frames(const std::vector<std::filesystem::path>& files,
                                               const std::string& dataset);
std::unique_ptr<FrameSource> open_varian_frames(const std::vector<std::filesystem::path>& files);
std::unique_ptr<FrameSource> open_his_frames(const std::vector<std::filesystem::path>& files);
std::unique_ptr<FrameSource> open_edf_frames(const std::vector<std::filesystem::path>& files);

// Images of (views x columns), one per detector row -> images of (detector rows x columns), one per view.
// Views are read in blocks, of which the last stay in memory: threads that walk the views together stay in one or two.
struct BlockLimits {
  std::int64_t bytes = std::int64_t{8} << 20;  // of a block
  std::size_t kept = 4;
};
// A part of a turned image costs as much as the whole one, so that fewer and larger blocks are worth their memory.
inline constexpr BlockLimits turned_blocks{.bytes = std::int64_t{128} << 20, .kept = 2};
std::unique_ptr<FrameSource> frames_from_sinograms(std::unique_ptr<FrameSource> sinograms, BlockLimits limits = {});

// Images of (rows x columns) -> the same images as (columns x rows).
std::unique_ptr<FrameSource> turned_images(std::unique_ptr<FrameSource> images);

// What open_frames does for FrameOrder: images as they are stored -> one per view, rows x columns.
std::unique_ptr<FrameSource> in_order_of_views(std::unique_ptr<FrameSource> stored, FrameOrder order);

// Files one after another, all of one size and type; else Error(input).
std::unique_ptr<FrameSource> joined_frames(std::vector<std::unique_ptr<FrameSource>> parts);

// Numbers that are no pixel type are read as the next larger one: 64-bit integers as float64. Scaled ones become
// float32; a flipped sign turns signed into unsigned integers and back. `stored` has words of their size.
enum class StoredNumber { pixel, int64, uint64, sign_flipped, scaled };
std::unique_ptr<FrameSource> converted_frames(std::unique_ptr<FrameSource> stored, StoredNumber number,
                                              ValueScale scale = {});

// "stack.tif[3]"
std::string image_name(const std::string& file, std::int64_t index, bool alone);
// Throws Error(internal) unless 0 <= row0 <= row1 <= rows of an existing frame.
void check_band(const FrameSource& source, std::int64_t frame, std::int64_t row0, std::int64_t row1);

// Throws Error(input): `file` does not agree with the first one.
[[noreturn]] void throw_other_size(const std::string& where, const std::string& expected, const std::string& found,
                                   const std::string& first);

}  // namespace lepus
