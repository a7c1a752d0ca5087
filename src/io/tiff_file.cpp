// SPDX-License-Identifier: Apache-2.0
// Directories and decoding through libtiff. Sizes in a directory are claims: they are held against the file's size
// before anything is allocated.
#include "io/tiff_file.h"

#include "io/file.h"

#ifndef LEPUS_HAVE_TIFF

namespace lepus {

TiffContents read_tiff_directories(const std::filesystem::path& path) {
  throw_missing_library("TIFF", "libtiff-dev", path.string());
}
void decode_tiff_rows(const std::filesystem::path& path, const TiffPage&, std::int64_t, std::int64_t, void*) {
  throw_missing_library("TIFF", "libtiff-dev", path.string());
}

}  // namespace lepus

#else

#include <algorithm>
#include <charconv>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <mutex>

#include <tiffio.h>

#include "core/format.h"
#include "core/memory.h"
#include "io/pixels.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

namespace {

// No codec packs real frames tighter than this; a directory that claims more is corrupt.
constexpr std::int64_t largest_compression = 1 << 16;

std::string formatted(const char* text, std::va_list arguments) {
  char buffer[500];
  std::vsnprintf(buffer, sizeof buffer, text, arguments);
  return buffer;
}

#if TIFFLIB_VERSION < 20221213
// Before 4.5 handlers are global; a thread only ever works with one file at a time.
thread_local std::string* current_message = nullptr;
void keep_message(const char*, const char* text, std::va_list arguments) {
  if (current_message) *current_message = formatted(text, arguments);
}
#else
int keep_message(TIFF*, void* message, const char*, const char* text, std::va_list arguments) {
  *static_cast<std::string*>(message) = formatted(text, arguments);
  return 1;  // handled: libtiff prints nothing
}
int keep_nothing(TIFF*, void*, const char*, const char*, std::va_list) { return 1; }
#endif

class Tiff {
public:
  explicit Tiff(const fs::path& path) : path_(path), file_size_(InputFile(path).size()) {
    // m: no memory mapping (a file that shrinks must not kill us); D: strip tables only when they are asked for.
    const char* mode = "rmD";
#if TIFFLIB_VERSION < 20221213
    static std::once_flag once;
    std::call_once(once, [] {
      TIFFSetErrorHandler(keep_message);
      TIFFSetWarningHandler(nullptr);
    });
    current_message = &message_;
    tiff_ = TIFFOpen(path.c_str(), mode);
#else
    TIFFOpenOptions* options = TIFFOpenOptionsAlloc();
    TIFFOpenOptionsSetErrorHandlerExtR(options, keep_message, &message_);
    TIFFOpenOptionsSetWarningHandlerExtR(options, keep_nothing, nullptr);
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, static_cast<tmsize_t>(file_size_ * 16 + (std::int64_t{64} << 20)));
    tiff_ = TIFFOpenExt(path.c_str(), mode, options);
    TIFFOpenOptionsFree(options);
#endif
    if (!tiff_) fail("not a readable TIFF file");
  }
  ~Tiff() {
    if (tiff_) TIFFClose(tiff_);
#if TIFFLIB_VERSION < 20221213
    current_message = nullptr;
#endif
  }
  Tiff(const Tiff&) = delete;
  Tiff& operator=(const Tiff&) = delete;

  TIFF* get() const { return tiff_; }
  std::int64_t file_size() const { return file_size_; }

  [[noreturn]] void fail(const std::string& what, const std::string& why = {}, std::int64_t page = -1) const {
    check_disk();
    throw Error(ErrorKind::input, {.what = what,
                                   .where = page < 0 ? path_.string() : format("{}[{}]", path_.string(), page),
                                   .why = why.empty() ? message_ : why,
                                   .hint = "copy or write the file again, or leave it out"});
  }
  [[noreturn]] void unsupported(const std::string& what, const std::string& why, std::int64_t page) const {
    throw Error(ErrorKind::unsupported, {.what = what,
                                         .where = page < 0 ? path_.string() : format("{}[{}]", path_.string(), page),
                                         .why = why,
                                         .hint = "convert it to an uncompressed grey image"});
  }

private:
  // libtiff takes a disk that cannot be read for a damaged file: Error(input) where it is the disk.
  void check_disk() const {
    constexpr std::int64_t looked_at = std::int64_t{16} << 20, piece = std::int64_t{1} << 20;
    const InputFile file(path_);
    std::vector<char> bytes(static_cast<std::size_t>(std::min(piece, file.size())));
    for (std::int64_t at = 0; at < std::min(looked_at, file.size()); at += piece)
      file.read(at, bytes.data(), std::min(piece, file.size() - at));
  }

  fs::path path_;
  std::int64_t file_size_;
  std::string message_;
  TIFF* tiff_ = nullptr;
};

template <class T>
T field(TIFF* tiff, std::uint32_t tag, T fallback) {
  T value = fallback;
  return TIFFGetFieldDefaulted(tiff, tag, &value) ? value : fallback;
}

PixelType pixel_type_of(const Tiff& tiff, std::int64_t page) {
  const auto bits = field<std::uint16_t>(tiff.get(), TIFFTAG_BITSPERSAMPLE, 1);
  const auto kind = field<std::uint16_t>(tiff.get(), TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
  const auto samples = field<std::uint16_t>(tiff.get(), TIFFTAG_SAMPLESPERPIXEL, 1);
  if (samples != 1) tiff.unsupported("not a grey image", format("{} values per pixel", samples), page);
  const auto photometric = field<std::uint16_t>(tiff.get(), TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
  if (photometric != PHOTOMETRIC_MINISBLACK && photometric != PHOTOMETRIC_MINISWHITE)
    tiff.unsupported("not a grey image",
                     photometric == PHOTOMETRIC_PALETTE
                         ? std::string("its pixels are numbers of colours in a palette, not grey levels")
                         : format("its pixels are of another kind (photometric interpretation {})", photometric),
                     page);
  const bool is_signed = kind == SAMPLEFORMAT_INT;
  if (kind == SAMPLEFORMAT_UINT || kind == SAMPLEFORMAT_VOID || is_signed) {
    if (bits == 8) return is_signed ? PixelType::i8 : PixelType::u8;
    if (bits == 16) return is_signed ? PixelType::i16 : PixelType::u16;
    if (bits == 32) return is_signed ? PixelType::i32 : PixelType::u32;
  }
  if (kind == SAMPLEFORMAT_IEEEFP && bits == 16) return PixelType::f16;
  if (kind == SAMPLEFORMAT_IEEEFP && bits == 32) return PixelType::f32;
  if (kind == SAMPLEFORMAT_IEEEFP && bits == 64) return PixelType::f64;
  tiff.unsupported("kind of pixel that lepus does not read", format("{} bits of sample format {}", bits, kind), page);
}

// The offset of the first row where all strips lie one after another, else -1. Strips outside the file are errors.
std::int64_t plain_offset(const Tiff& tiff, const TiffPage& page, std::int64_t index) {
  if (field<std::uint16_t>(tiff.get(), TIFFTAG_COMPRESSION, COMPRESSION_NONE) != COMPRESSION_NONE ||
      TIFFIsTiled(tiff.get()) ||
      field<std::uint16_t>(tiff.get(), TIFFTAG_FILLORDER, FILLORDER_MSB2LSB) != FILLORDER_MSB2LSB)
    return -1;
  const std::int64_t per_strip =
      std::min<std::int64_t>(page.rows, field<std::uint32_t>(tiff.get(), TIFFTAG_ROWSPERSTRIP, 0xffffffffu));
  if (per_strip < 1) tiff.fail("TIFF directory cannot be used", "RowsPerStrip is zero", index);
  const std::int64_t row_bytes = page.columns * bytes_per_pixel(page.type);
  std::int64_t first = -1;
  bool plain = true;
  for (std::int64_t row = 0, strip = 0; row < page.rows; row += per_strip, ++strip) {
    const auto offset = TIFFGetStrileOffset(tiff.get(), static_cast<std::uint32_t>(strip));
    const std::int64_t bytes = std::min(per_strip, page.rows - row) * row_bytes;
    if (offset == 0 || offset > static_cast<std::uint64_t>(tiff.file_size()) ||
        static_cast<std::int64_t>(offset) > tiff.file_size() - bytes)
      tiff.fail("TIFF image is truncated",
                format("expected {} ({} bytes of rows {} and following at byte {}), the file has {} bytes",
                       describe(page.columns, page.rows, page.type), bytes, row, offset, tiff.file_size()),
                index);
    if (strip == 0) first = static_cast<std::int64_t>(offset);
    plain = plain && static_cast<std::int64_t>(offset) == first + row * row_bytes;
  }
  return plain ? first : -1;
}

TiffPage page_of(const Tiff& tiff, std::int64_t index) {
  TiffPage page;
  std::uint32_t columns = 0, rows = 0;
  TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &columns);
  TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &rows);
  page.columns = columns;
  page.rows = rows;
  page.type = pixel_type_of(tiff, index);
  page.big_endian = TIFFIsBigEndian(tiff.get()) != 0;
  page.directory = TIFFCurrentDirOffset(tiff.get());
  const auto compression = field<std::uint16_t>(tiff.get(), TIFFTAG_COMPRESSION, COMPRESSION_NONE);
  if (!TIFFIsCODECConfigured(compression)) {
    const TIFFCodec* codec = TIFFFindCODEC(compression);
    tiff.unsupported("TIFF compression that this libtiff does not have",
                     codec ? std::string(codec->name) : format("compression scheme {}", compression), index);
  }
  const auto bytes = checked_product(page.columns, page.rows, bytes_per_pixel(page.type));
  const std::int64_t limit = compression == COMPRESSION_NONE
                                 ? tiff.file_size()
                                 : std::min(tiff.file_size(), std::int64_t{1} << 45) * largest_compression;
  if (!bytes || *bytes > limit)
    tiff.fail("TIFF image is truncated",
              format("{} does not fit into a file of {} bytes", describe(page.columns, page.rows, page.type),
                     tiff.file_size()),
              index);
  page.data_offset = plain_offset(tiff, page, index);
  return page;
}

// ImageJ writes stacks beyond 4 GB as one directory and "images=N" in the description; the images follow each other.
std::int64_t imagej_images(const std::string& description) {
  if (!description.starts_with("ImageJ=")) return 1;
  const std::size_t at = description.find("\nimages=");
  if (at == std::string::npos) return 1;
  std::int64_t images = 1;
  std::from_chars(description.data() + at + 8, description.data() + description.size(), images);
  return images;
}

// Rows of one strip or tile copied to where they belong in the band.
struct Band {
  std::int64_t row0, row1, columns, pixel;
  char* out;
  void put(const char* block, std::int64_t block_row, std::int64_t block_rows, std::int64_t block_column,
           std::int64_t block_columns) const {
    const std::int64_t width = std::min(block_columns, columns - block_column);
    for (std::int64_t row = std::max(row0, block_row); row < std::min(row1, block_row + block_rows); ++row)
      std::memcpy(out + ((row - row0) * columns + block_column) * pixel,
                  block + (row - block_row) * block_columns * pixel, static_cast<std::size_t>(width * pixel));
  }
};

Buffer<char> block_buffer(const Tiff& tiff, std::int64_t bytes) {
  if (bytes < 1 || bytes / largest_compression > tiff.file_size())
    tiff.fail("TIFF image is truncated", format("a block of {} bytes in a file of {}", bytes, tiff.file_size()));
  return Buffer<char>(bytes);
}

void decode_strips(const Tiff& tiff, const TiffPage& page, const Band& band) {
  const std::int64_t per_strip =
      std::min<std::int64_t>(page.rows, field<std::uint32_t>(tiff.get(), TIFFTAG_ROWSPERSTRIP, 0xffffffffu));
  const std::int64_t row_bytes = page.columns * band.pixel;
  if (per_strip < 1) tiff.fail("TIFF directory cannot be used", "RowsPerStrip is zero");
  Buffer<char> block = block_buffer(tiff, per_strip * row_bytes);
  for (std::int64_t strip = band.row0 / per_strip; strip * per_strip < band.row1; ++strip) {
    const std::int64_t rows = std::min(per_strip, page.rows - strip * per_strip);
    const auto got =
        TIFFReadEncodedStrip(tiff.get(), static_cast<std::uint32_t>(strip), block.data(), rows * row_bytes);
    if (got != rows * row_bytes) tiff.fail("TIFF strip cannot be decoded");
    band.put(block.data(), strip * per_strip, rows, 0, page.columns);
  }
}

void decode_tiles(const Tiff& tiff, const TiffPage& page, const Band& band) {
  const std::int64_t width = field<std::uint32_t>(tiff.get(), TIFFTAG_TILEWIDTH, 0);
  const std::int64_t length = field<std::uint32_t>(tiff.get(), TIFFTAG_TILELENGTH, 0);
  const auto bytes = checked_product(width, length, band.pixel);
  if (width < 1 || length < 1 || !bytes || *bytes != TIFFTileSize(tiff.get()))
    tiff.fail("TIFF directory cannot be used", "impossible tile size");
  Buffer<char> block = block_buffer(tiff, *bytes);
  for (std::int64_t y = band.row0 / length * length; y < band.row1; y += length)
    for (std::int64_t x = 0; x < page.columns; x += width) {
      const std::uint32_t tile =
          TIFFComputeTile(tiff.get(), static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), 0, 0);
      if (TIFFReadEncodedTile(tiff.get(), tile, block.data(), *bytes) != *bytes)
        tiff.fail("TIFF tile cannot be decoded");
      band.put(block.data(), y, length, x, width);
    }
}

}  // namespace

TiffContents read_tiff_directories(const fs::path& path) {
  const Tiff tiff(path);
  TiffContents contents;
  if (char* text = nullptr; TIFFGetField(tiff.get(), TIFFTAG_IMAGEDESCRIPTION, &text) && text)
    contents.description = text;
  std::int64_t index = 0;
  while (true) {
    // Reduced copies (thumbnails, pyramids) are not frames.
    if ((field<std::uint32_t>(tiff.get(), TIFFTAG_SUBFILETYPE, 0) & FILETYPE_REDUCEDIMAGE) == 0)
      contents.pages.push_back(page_of(tiff, index));
    ++index;
    if (TIFFLastDirectory(tiff.get())) break;
    if (!TIFFReadDirectory(tiff.get())) tiff.fail("TIFF page cannot be read", {}, index);
  }
  if (contents.pages.empty()) tiff.fail("TIFF file without an image", "all its pages are reduced copies");
  if (contents.pages.size() == 1 && contents.pages[0].data_offset >= 0) {
    const TiffPage first = contents.pages[0];
    const std::int64_t bytes = first.columns * first.rows * bytes_per_pixel(first.type);
    const std::int64_t images = imagej_images(contents.description);
    if (images > 1) {
      if (images > (tiff.file_size() - first.data_offset) / bytes)
        tiff.fail("TIFF stack is truncated", format("expected {} images of {}, the file has {} bytes", images,
                                                    describe(first.columns, first.rows, first.type), tiff.file_size()));
      for (std::int64_t k = 1; k < images; ++k) {
        contents.pages.push_back(first);
        contents.pages.back().data_offset += k * bytes;
      }
    }
  }
  return contents;
}

void decode_tiff_rows(const fs::path& path, const TiffPage& page, std::int64_t row0, std::int64_t row1, void* out) {
  if (row0 >= row1) return;
  const Tiff tiff(path);
  if (TIFFCurrentDirOffset(tiff.get()) != page.directory && !TIFFSetSubDirectory(tiff.get(), page.directory))
    tiff.fail("TIFF page cannot be read");
  std::uint32_t columns = 0, rows = 0;
  TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &columns);
  TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &rows);
  if (columns != page.columns || rows != page.rows || pixel_type_of(tiff, -1) != page.type)
    tiff.fail("TIFF file has changed since it was opened", "another size or type");
  const Band band{row0, row1, page.columns, bytes_per_pixel(page.type), static_cast<char*>(out)};
  if (TIFFIsTiled(tiff.get()))
    decode_tiles(tiff, page, band);
  else
    decode_strips(tiff, page, band);
}

}  // namespace lepus

#endif
