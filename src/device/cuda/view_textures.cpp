// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/view_textures.h"

#include <algorithm>
#include <cmath>

#include "device/cuda/cuda_check.h"
#include "device/cuda/view_textures_launch.h"
#include "core/format.h"
#include <lepus/error.h>

namespace lepus::cuda {
namespace {

// Most layers of an array, most columns or rows of a texture: what every device since compute capability 7.5 takes.
constexpr std::int64_t maximum_layers = 2048, maximum_rows = 32768;

cudaChannelFormatDesc format_of(TexelKind kind) {
  const int bits = is_half(kind) ? 16 : 32, channels = views_per_texel(kind);
  return {bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 3 ? bits : 0, cudaChannelFormatKindFloat};
}

std::int64_t atlas_views(std::int64_t rows) { return std::max<std::int64_t>(1, maximum_rows / (rows + atlas_margin)); }

void refuse_shape(const std::string& why) {
  throw Error(ErrorKind::internal, {.what = "views do not fit their textures", .where = {}, .why = why, .hint = {}});
}

}  // namespace

std::int64_t ViewTextures::bytes(const StoreShape& s) {
  const std::int64_t rows = s.kind == TexelKind::gather ? s.rows + atlas_margin : s.rows;
  // Arrays are padded to 64 bytes by 8 rows, and blocks of those.
  const bool array = s.kind != TexelKind::linear;
  const std::int64_t texel = bytes_per_pixel(s.kind) * views_per_texel(s.kind);
  const std::int64_t width = array ? (s.columns * texel + 63) / 64 * 64 : s.columns * texel;
  const std::int64_t height = array ? (rows + 7) / 8 * 8 : rows;
  return width * height * ((s.slots + views_per_texel(s.kind) - 1) / views_per_texel(s.kind));
}

ViewTextures::ViewTextures(const StoreShape& shape)
    : shape_(shape), first_row_(static_cast<std::size_t>(shape.slots), 0) {
  const int group = views_per_texel(shape.kind);
  if (shape.slots % group != 0) refuse_shape(format("{} views in groups of {}", shape.slots, group));
  if (shape.columns > maximum_rows || shape.rows + atlas_margin > maximum_rows)
    throw Error(ErrorKind::unsupported, {.what = "the detector is too large for a texture",
                                         .where = {},
                                         .why = format("{} x {} pixels, at most {} each way", shape.columns, shape.rows,
                                                       maximum_rows - atlas_margin),
                                         .hint = "bin the frames, or use the backend cpu"});
  if (shape.kind == TexelKind::linear) {
    pixels_ = DeviceBuffer<float>(shape.slots * shape.rows * shape.columns);
    fill_device(pixels_.data(), 0, static_cast<std::size_t>(pixels_.bytes()), "clear the views");
    return;
  }
  layers_per_sheet_ = shape.kind == TexelKind::gather ? atlas_views(shape.rows) : maximum_layers;
  const std::int64_t layers = shape.slots / group;
  for (std::int64_t first = 0; first < layers; first += layers_per_sheet_)
    sheets_.push_back(make_sheet(std::min(layers_per_sheet_, layers - first)));
  check(cudaDeviceSynchronize(), "clear the views");
}

ViewTextures::Sheet ViewTextures::make_sheet(std::int64_t layers) const {
  const bool atlas = shape_.kind == TexelKind::gather;
  Sheet sheet;
  sheet.width = shape_.columns;
  sheet.height = atlas ? layers * (shape_.rows + atlas_margin) : shape_.rows;
  sheet.layers = atlas ? 0 : layers;
  const auto channels = format_of(shape_.kind);
  cudaArray_t array = nullptr;
  const cudaExtent extent{static_cast<std::size_t>(sheet.width), static_cast<std::size_t>(sheet.height),
                          static_cast<std::size_t>(sheet.layers)};
  const unsigned flags = (atlas ? cudaArrayTextureGather : cudaArrayLayered) | cudaArraySurfaceLoadStore;
  StoreShape asked = shape_;
  asked.slots = layers * views_per_texel(shape_.kind);
  check_allocation(cudaMalloc3DArray(&array, &channels, extent, flags), bytes(asked),
                   "allocate textures for the views");
  sheet.array = Array(array);

  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc texture{};
  for (auto& mode : texture.addressMode) mode = cudaAddressModeBorder;  // zero outside
  texture.filterMode = atlas ? cudaFilterModePoint : cudaFilterModeLinear;
  texture.readMode = cudaReadModeElementType;
  cudaTextureObject_t texture_object = 0;
  check(cudaCreateTextureObject(&texture_object, &resource, &texture, nullptr), "create a texture");
  sheet.texture = Texture(texture_object);
  cudaSurfaceObject_t surface_object = 0;
  check(cudaCreateSurfaceObject(&surface_object, &resource), "create a surface");
  sheet.surface = Surface(surface_object);

  launch_clear(shape_.kind, surface_object, static_cast<int>(sheet.width), static_cast<int>(sheet.height),
               static_cast<int>(sheet.layers));
  return sheet;
}

void ViewTextures::set_scale(float scale) {
  int exponent = 0;
  if (std::frexp(scale, &exponent) != 0.5f || exponent % 2 == 0)
    refuse_shape(format("scale {} is no power of 4", scale));
  scale_ = is_half(shape_.kind) ? scale : 1.0f;
}

void ViewTextures::store(const Source& source, std::int64_t first_slot, std::int64_t slots, std::int64_t row0,
                         std::int64_t rows, cudaStream_t stream) {
  const int group = views_per_texel(shape_.kind);
  if (first_slot % group != 0 || slots % group != 0 || first_slot < 0 || first_slot + slots > shape_.slots)
    refuse_shape(format("slots [{}, {}) of {}, in groups of {}", first_slot, first_slot + slots, shape_.slots, group));
  if (row0 < 0 || rows < 0 || row0 + rows > shape_.detector_rows)
    refuse_shape(format("rows [{}, {}) of {}", row0, row0 + rows, shape_.detector_rows));
  if (rows == 0) return;
  for (std::int64_t done = 0; done < slots;) {
    const std::int64_t slot = first_slot + done, layer = slot / group;
    const std::int64_t sheet = layers_per_sheet_ > 0 ? layer / layers_per_sheet_ : 0;
    std::int64_t count = std::min<std::int64_t>(slots - done, slots_per_store);
    if (layers_per_sheet_ > 0) count = std::min(count, ((sheet + 1) * layers_per_sheet_ - layer) * group);
    StoreOnDevice s{};
    s.data = source.data + done * source.view_stride;
    s.row_stride = source.row_stride;
    s.view_stride = source.view_stride;
    s.factor = source.factor * scale_;
    s.columns = static_cast<int>(shape_.columns);
    s.held_rows = static_cast<int>(shape_.rows);
    s.row0 = static_cast<int>(row0);
    s.rows = static_cast<int>(rows);
    for (std::int64_t i = 0; i < count; ++i) s.first_row[i] = static_cast<int>(first_row(slot + i));
    s.first_layer = static_cast<int>(layer - sheet * layers_per_sheet_);
    s.layers = static_cast<int>(count / group);
    const cudaSurfaceObject_t surface = sheets_.empty() ? 0 : sheets_[static_cast<std::size_t>(sheet)].surface.get();
    launch_store(shape_.kind, s, surface, pixels_.data(), stream);
    done += count;
  }
}

ViewTextures::Place ViewTextures::place(std::int64_t slot) const {
  const std::int64_t layer = slot / views_per_texel(shape_.kind);
  if (shape_.kind == TexelKind::linear)
    return {.texture = 0, .pixels = pixels_.data() + layer * shape_.rows * shape_.columns, .layer = 0};
  const auto& sheet = sheets_[static_cast<std::size_t>(layer / layers_per_sheet_)];
  const std::int64_t in_sheet = layer % layers_per_sheet_;
  const bool atlas = shape_.kind == TexelKind::gather;
  return {.texture = sheet.texture.get(),
          .pixels = nullptr,
          .layer = static_cast<int>(atlas ? in_sheet * (shape_.rows + atlas_margin) + 1 : in_sheet)};
}

}  // namespace lepus::cuda
