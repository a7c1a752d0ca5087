// SPDX-License-Identifier: Apache-2.0
// Arrays of other programs' files as frames and volumes: read in place where they lie plainly, else from a scratch file
// into which they are unpacked once.
#include "io/stored_array.h"

#include <algorithm>

#include "core/format.h"
#include "core/memory.h"
#include "core/scratch_file.h"
#include "io/header_text.h"
#include "io/inflate.h"
#include "io/pixels.h"
#include "io/stack.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

namespace {

struct ImageStack {
  std::int64_t images = 1, rows = 0, columns = 0;
};

std::string words_of_shape(const StoredArray& array) {
  std::string text;
  for (const std::int64_t size : array.shape) text += (text.empty() ? "" : " x ") + std::to_string(size);
  return text.empty() ? "a single value" : text;
}

// Sizes of one before the last three axes say nothing.
std::size_t axes_of(const StoredArray& array) {
  std::size_t axes = array.shape.size();
  for (const std::int64_t size : array.shape) {
    if (axes <= 3 || size != 1) break;
    --axes;
  }
  return axes;
}

std::string label_of(const fs::path& file, const StoredArray& array) {
  return array.name.empty() ? file.string() : file.string() + ":" + array.name;
}

[[noreturn]] void throw_no_images(const fs::path& file, const StoredArray& array, const std::string& why) {
  throw Error(ErrorKind::input, {.what = "array is no stack of images",
                                 .where = label_of(file, array),
                                 .why = why,
                                 .hint = "lepus reads arrays of numbers with two or three axes"});
}

ImageStack images_of(const fs::path& file, const StoredArray& array) {
  if (!array.problem.empty()) throw_no_images(file, array, array.problem);
  const std::size_t axes = axes_of(array);
  if (axes != 2 && axes != 3) throw_no_images(file, array, format("it has {} axes: {}", axes, words_of_shape(array)));
  const std::int64_t* last = array.shape.data() + array.shape.size();
  const ImageStack stack{axes == 3 ? last[-3] : 1, last[-2], last[-1]};
  if (!checked_product(stack.images, stack.rows, stack.columns, bytes_per_pixel(array.type)))
    throw_no_images(file, array, format("it is {}", words_of_shape(array)));
  return stack;
}

// A packed array after it was unpacked.
class UnpackedFrames final : public FrameSource {
public:
  UnpackedFrames(const fs::path& file, const StoredArray& array, const ImageStack& stack)
      : stack_(stack),
        type_(array.type),
        big_endian_(array.big_endian),
        alone_(axes_of(array) == 2),
        label_(label_of(file, array)),
        scratch_(fs::temp_directory_path(), bytes(),
                 {"an array that is packed in its file", "set TMPDIR to a folder on a larger disk"}) {
    const InputFile packed(file);
    Inflater inflater(packed, array.packed->offset, array.packed->bytes, array.packed->zlib);
    Buffer<char> part(std::int64_t{1} << 20);
    const auto next = [&](std::int64_t wanted) {
      const std::int64_t count = std::min<std::int64_t>(wanted, part.size());
      if (inflater.read(part.data(), count) != count)
        throw Error(ErrorKind::input, {.what = "packed array is too short",
                                       .where = label_,
                                       .why = format("{} bytes were expected after unpacking", array.offset + bytes()),
                                       .hint = "the file is damaged: copy it again or write it anew"});
      return count;
    };
    for (std::int64_t at = 0; at < array.offset;) at += next(array.offset - at);
    for (std::int64_t at = 0; at < bytes();) {
      const std::int64_t count = next(bytes() - at);
      scratch_.write(at, part.data(), count);
      at += count;
    }
  }

  std::int64_t columns() const override { return stack_.columns; }
  std::int64_t rows() const override { return stack_.rows; }
  std::int64_t frames() const override { return stack_.images; }
  PixelType pixel_type() const override { return type_; }
  std::string name(std::int64_t frame) const override { return image_name(label_, frame, alone_); }
  void read_native(std::int64_t frame, std::int64_t row0, std::int64_t row1, void* out) const override {
    check_band(*this, frame, row0, row1);
    const std::int64_t size = bytes_per_pixel(type_), count = (row1 - row0) * stack_.columns;
    scratch_.read((frame * stack_.rows + row0) * stack_.columns * size, out, count * size);
    if (big_endian_) swap_bytes(out, count, size);
  }

private:
  std::int64_t bytes() const { return stack_.images * stack_.rows * stack_.columns * bytes_per_pixel(type_); }

  ImageStack stack_;
  PixelType type_;
  bool big_endian_, alone_;
  std::string label_;
  ScratchFile scratch_;
};

struct FileArray {
  fs::path file;
  StoredArray array;
};

// Whether both can be read by one source: images of one kind, one after another.
bool alike(const FileArray& a, const FileArray& b) {
  const ImageStack one = images_of(a.file, a.array), other = images_of(b.file, b.array);
  const auto apart = [](const StoredArray& x) { return x.packed || (x.first_index_fastest && axes_of(x) == 3); };
  return one.rows == other.rows && one.columns == other.columns && a.array.type == b.array.type &&
         a.array.number == b.array.number && a.array.scale == b.array.scale &&
         a.array.big_endian == b.array.big_endian && a.array.first_index_fastest == b.array.first_index_fastest &&
         !apart(a.array) && !apart(b.array);
}

std::unique_ptr<FrameSource> open_plain(const std::vector<FileArray>& all) {
  const FileArray& first = all.front();
  const ImageStack shape = images_of(first.file, first.array);
  PlainImages plain{.files = {},
                    .runs = {},
                    .columns = shape.columns,
                    .rows = shape.rows,
                    .type = first.array.type,
                    .big_endian = first.array.big_endian};
  for (const auto& [file, array] : all) {
    const ImageStack stack = images_of(file, array);
    const std::int64_t bytes = stack.images * stack.rows * stack.columns * bytes_per_pixel(array.type);
    if (const std::int64_t size = InputFile(file).size(); array.offset < 0 || bytes > size - array.offset)
      throw Error(ErrorKind::input,
                  {.what = "array is cut off",
                   .where = label_of(file, array),
                   .why = format("expected {} bytes from byte {} on, the file has {}", bytes, array.offset, size),
                   .hint = "copy the file again or write it anew"});
    plain.runs.push_back({.file = plain.files.size(),
                          .offset = array.offset,
                          .count = stack.images,
                          .label = label_of(file, array),
                          .alone = axes_of(array) == 2});
    plain.files.push_back(file);
  }
  return plain_frames(std::move(plain));
}

// Of arrays that are alike, or of a single one.
std::unique_ptr<FrameSource> open_arrays(const std::vector<FileArray>& all) {
  const auto& [file, array] = all.front();
  std::unique_ptr<FrameSource> source;
  if (array.packed)
    source = std::make_unique<UnpackedFrames>(file, array, images_of(file, array));
  else
    source = open_plain(all);
  source = converted_frames(std::move(source), array.number, array.scale);
  if (!array.first_index_fastest) return source;
  return in_order_of_views(std::move(source), axes_of(array) == 2 ? FrameOrder::frames_turned : FrameOrder::columns);
}

FileArray find_array(const fs::path& file, const std::string& name) {
  return {file, choose_array(read_array_file(file, kind_of_file(file)), name, file)};
}

}  // namespace

bool has_named_arrays(FileKind kind) {
  return kind == FileKind::npz || kind == FileKind::matlab || kind == FileKind::fits;
}

ArrayFile read_array_file(const fs::path& file, FileKind kind) {
  if (kind == FileKind::npy) return read_npy(file);
  if (kind == FileKind::npz) return read_npz(file);
  if (kind == FileKind::matlab) return read_matlab(file);
  if (kind == FileKind::fits) return read_fits(file);
  if (kind == FileKind::vff) return read_vff(file);
  if (kind == FileKind::isq) return read_isq(file);
  if (kind == FileKind::rek) return read_rek(file);
  throw Error(ErrorKind::internal, {.what = "no file of arrays",
                                    .where = file.string(),
                                    .why = format("it is {}", words_of(kind)),
                                    .hint = "report this"});
}

const StoredArray& choose_array(const ArrayFile& file, const std::string& name, const fs::path& path) {
  if (name.empty() && file.arrays.size() == 1) return file.arrays.front();
  std::string listed, wanted = name.starts_with('/') ? name.substr(1) : name;
  std::vector<const StoredArray*> stacks, images;
  for (const StoredArray& array : file.arrays) {
    if (!wanted.empty() && array.name == wanted) return array;
    listed += format("{}{} ({})", listed.empty() ? "" : ", ", array.name, words_of_shape(array));
    if (!array.problem.empty()) continue;
    const std::size_t axes = axes_of(array);
    if (axes == 3) stacks.push_back(&array);
    // MATLAB's vectors and single values are arrays of two axes, too.
    if (axes == 2 && std::min(array.shape[0], array.shape[1]) > 1) images.push_back(&array);
  }
  if (wanted.empty() && stacks.size() == 1) return *stacks.front();
  if (wanted.empty() && stacks.empty() && images.size() == 1) return *images.front();
  throw Error(ErrorKind::input,
              {.what = wanted.empty() ? "which of the arrays?" : format("there is no array '{}'", wanted),
               .where = path.string(),
               .why = listed.empty() ? "the file holds no array of numbers" : "the file holds " + listed,
               .hint = "name one: as FILE:NAME a volume, by the key `dataset` of the scan file frames"});
}

std::vector<StoredImages> list_array_images(const fs::path& file, FileKind kind) {
  std::vector<StoredImages> all;
  for (const StoredArray& array : read_array_file(file, kind).arrays) {
    const std::size_t axes = axes_of(array);
    if (array.problem.empty() && (axes < 2 || axes > 3)) continue;
    StoredImages listed{.dataset = array.name, .type = array.type, .problem = array.problem};
    if (array.problem.empty()) {
      const ImageStack stack = images_of(file, array);
      listed.images = stack.images;
      listed.rows = stack.rows;
      listed.columns = stack.columns;
    }
    all.push_back(std::move(listed));
  }
  return all;
}

std::vector<double> read_numbers(const fs::path& file, const StoredArray& array, std::int64_t limit) {
  std::int64_t count = 1;
  for (const std::int64_t size : array.shape) count = size == 0 ? 0 : checked_product(count, size).value_or(limit + 1);
  if (!array.problem.empty() || count > limit || count < 1)
    throw Error(ErrorKind::input, {.what = "array is no list of numbers",
                                   .where = label_of(file, array),
                                   .why = array.problem.empty() ? words_of_shape(array) : array.problem,
                                   .hint = format("it takes 1 to {} numbers", limit)});
  StoredArray line = array;
  line.shape = {1, count};
  line.first_index_fastest = false;
  const auto source = open_arrays({{file, line}});
  std::vector<double> numbers(static_cast<std::size_t>(count));
  if (source->pixel_type() == PixelType::f64) {
    source->read_native(0, 0, 1, numbers.data());
    return numbers;
  }
  std::vector<float> values(numbers.size());
  source->read(0, 0, 1, values.data());
  std::copy(values.begin(), values.end(), numbers.begin());
  return numbers;
}

std::unique_ptr<FrameSource> open_array_frames(const std::vector<fs::path>& files, const std::string& name) {
  std::vector<FileArray> all;
  all.reserve(files.size());
  for (const fs::path& file : files) all.push_back(find_array(file, name));
  if (std::all_of(all.begin() + 1, all.end(), [&](const FileArray& one) { return alike(all.front(), one); }))
    return open_arrays(all);
  std::vector<std::unique_ptr<FrameSource>> parts;
  parts.reserve(all.size());
  for (const FileArray& one : all) parts.push_back(open_arrays({one}));
  return joined_frames(std::move(parts));
}

std::unique_ptr<VolumeReader> open_array_volume(const fs::path& file, const std::string& name) {
  const ArrayFile arrays = read_array_file(file, kind_of_file(file));
  StoredArray array = choose_array(arrays, name, file);
  ValueScale scale;  // stays the volume's, so that whoever asks is told what is stored
  if (array.number == StoredNumber::scaled) {
    scale = array.scale;
    array.number = StoredNumber::pixel;
  }
  auto source = open_arrays({{file, array}});
  const VolumeGrid grid{.nx = source->columns(),
                        .ny = source->rows(),
                        .nz = source->frames(),
                        .origin_mm = arrays.origin_mm,
                        .step_mm = arrays.step_mm};
  check_grid(grid, source->pixel_type(), file);
  return volume_of_frames(
      std::move(source),
      {.grid = grid, .format = arrays.format, .unit = arrays.unit, .provenance = arrays.provenance, .scale = scale});
}

}  // namespace lepus
