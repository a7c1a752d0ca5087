// SPDX-License-Identifier: Apache-2.0
#include "analysis/draw_text.h"

#include <cmath>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include <ft2build.h>
#include FT_FREETYPE_H
#include FT_OUTLINE_H

#include "analysis/font_data.h"
#include "core/format.h"
#include "lepus/error.h"

namespace lepus {
namespace {

constexpr double minimum_size_px = 4, maximum_size_px = 500;
constexpr char32_t replacement_character = 0xFFFD;

void check_freetype(FT_Error code, const char* what) {
  if (code != 0)
    throw Error(code == FT_Err_Out_Of_Memory ? ErrorKind::memory : ErrorKind::internal,
                {.what = format("{} failed", what),
                 .where = "text in a picture",
                 .why = format("FreeType's error {}", code),
                 .hint = {}});
}

// The characters of UTF-8. Each byte that is part of none (cut off, overlong, a surrogate, beyond U+10FFFF) becomes
// U+FFFD.
std::vector<char32_t> characters_of(const std::string& text) {
  std::vector<char32_t> characters;
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[i + k]); };
    const std::size_t length = byte(0) < 0x80 ? 1 : byte(0) >> 5 == 6 ? 2 : byte(0) >> 4 == 14 ? 3 : 4;
    char32_t character = length == 1 ? byte(0) : byte(0) & (0x7FU >> length);
    bool valid = byte(0) < 0x80 || (byte(0) >= 0xC2 && byte(0) <= 0xF4 && i + length <= text.size());
    for (std::size_t k = 1; valid && k < length; ++k) {
      valid = byte(k) >> 6 == 2;
      character = character << 6 | (byte(k) & 0x3FU);
    }
    valid = valid && !(length == 3 && (character < 0x800 || character >> 11 == 0x1B)) &&
            !(length == 4 && (character < 0x10000 || character > 0x10FFFF));
    characters.push_back(valid ? character : replacement_character);
    i += valid ? length : 1;
  }
  return characters;
}

struct FreeTypeDeleter {
  void operator()(FT_Library library) const { FT_Done_FreeType(library); }
  void operator()(FT_Face face) const { FT_Done_Face(face); }
};

// One face for all threads, behind a lock: FreeType's faces hold the size and the glyph that was loaded last.
class Font {
public:
  // The bitmap of a glyph and where its upper left corner is, in pixels right of the text's start and above its base
  // line.
  using DrawGlyph = std::function<void(const FT_Bitmap& bitmap, std::int64_t right, std::int64_t above)>;

  static Font& get() {
    static Font font;
    return font;
  }

  // In parts of the size: from the base line up to the top of a line, and down to its bottom.
  double ascent() const { return static_cast<double>(face_->ascender) / face_->units_per_EM; }
  double descent() const { return -static_cast<double>(face_->descender) / face_->units_per_EM; }

  // Sets the text from left to right, calls `draw` (if any) for each glyph and returns the width in pixels.
  double set(const std::string& text, double size_px, const DrawGlyph& draw) {
    const std::lock_guard lock(mutex_);
    // At 72 dots per inch a point is a pixel.
    check_freetype(FT_Set_Char_Size(face_.get(), 0, std::lround(size_px * 64), 72, 72), "setting the size");
    FT_Pos pen = 0;  // in 1/64 pixels
    FT_UInt previous = 0;
    for (const char32_t character : characters_of(text)) {
      const FT_UInt glyph = FT_Get_Char_Index(face_.get(), character);
      FT_Vector kerning{0, 0};
      if (previous != 0)
        check_freetype(FT_Get_Kerning(face_.get(), previous, glyph, FT_KERNING_UNFITTED, &kerning), "kerning");
      pen += kerning.x;
      check_freetype(FT_Load_Glyph(face_.get(), glyph, FT_LOAD_NO_HINTING | FT_LOAD_NO_BITMAP), "loading a glyph");
      const FT_GlyphSlot slot = face_->glyph;
      const FT_Pos advance = slot->advance.x;
      if (draw) {
        FT_Outline_Translate(&slot->outline, pen & 63, 0);
        check_freetype(FT_Render_Glyph(slot, FT_RENDER_MODE_NORMAL), "drawing a glyph");
        draw(slot->bitmap, (pen >> 6) + slot->bitmap_left, slot->bitmap_top);
      }
      pen += advance;
      previous = glyph;
    }
    return static_cast<double>(pen) / 64;
  }

private:
  Font() {
    FT_Library library = nullptr;
    check_freetype(FT_Init_FreeType(&library), "starting FreeType");
    library_.reset(library);
    FT_Face face = nullptr;
    check_freetype(FT_New_Memory_Face(library, font_data.data(), static_cast<FT_Long>(font_data.size()), 0, &face),
                   "opening the font");
    face_.reset(face);
  }

  std::unique_ptr<FT_LibraryRec_, FreeTypeDeleter> library_;
  std::unique_ptr<FT_FaceRec_, FreeTypeDeleter> face_;
  std::mutex mutex_;
};

double checked_size(const TextStyle& style) {
  if (!(style.size_px >= minimum_size_px && style.size_px <= maximum_size_px))  // NaN is refused too
    throw Error(ErrorKind::usage, {.what = format("text cannot be {:g} pixels high", style.size_px),
                                   .where = "text in a picture",
                                   .why = {},
                                   .hint = format("give {:g} to {:g}", minimum_size_px, maximum_size_px)});
  return style.size_px;
}

}  // namespace

std::int64_t line_height(const TextStyle& style) {
  const double size = checked_size(style);
  return std::lround(std::ceil(Font::get().ascent() * size) + std::ceil(Font::get().descent() * size));
}

std::int64_t text_width(const std::string& text, const TextStyle& style) {
  return std::lround(std::ceil(Font::get().set(text, checked_size(style), nullptr)));
}

void draw_text(Picture& picture, const std::string& text, std::int64_t x, std::int64_t y, const TextStyle& style) {
  const double size = checked_size(style);
  const std::int64_t base_line = y + std::lround(std::ceil(Font::get().ascent() * size));
  const auto draw = [&](const FT_Bitmap& bitmap, std::int64_t right, std::int64_t above) {
    for (unsigned row = 0; row < bitmap.rows; ++row)
      for (unsigned column = 0; column < bitmap.width; ++column)
        picture.blend(x + right + column, base_line - above + row, style.colour,
                      bitmap.buffer[static_cast<std::ptrdiff_t>(row) * bitmap.pitch + column]);
  };
  Font::get().set(text, size, draw);
}

std::string with_minus_signs(const std::string& number) {
  std::string text;
  for (const char character : number) {
    if (character == '-')
      text += "\u2212";
    else
      text += character;
  }
  return text;
}

}  // namespace lepus
