// SPDX-License-Identifier: Apache-2.0
// Volumes as a folder of .vol files, one slice each between a header and a tail of "name value" lines: lepus' own
// layout (docs/formats.md), or another's that layout.json in the folder lists as [frames.sinogram] does.
#include <algorithm>

#include "core/folder.h"
#include "core/format.h"
#include "core/json.h"
#include "core/output_file.h"
#include "io/file.h"
#include "io/frame_sources.h"
#include "io/header_text.h"
#include "io/json_text.h"
#include "io/labelled_image.h"
#include "io/pixels.h"
#include "io/stack.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

namespace {

using nlohmann::json;

constexpr const char* slice_mark = "lepus_slice";
constexpr const char* layout_name = "layout.json";
constexpr std::int64_t largest_layout = std::int64_t{1} << 20;

LabelledLayout slice_layout() {
  LabelledLayout layout;
  for (const char* words :
       {"lepus_slice integer required", "slice integer required", "slices integer required", "columns integer required",
        "rows integer required", "type text required", "origin_mm text required", "step_mm text required", "unit text",
        "slope number required", "offset number required"})
    layout.header.push_back(parse_label_rule(words));
  layout.tail.push_back(parse_label_rule("end integer required"));
  layout.header_end = "data";
  layout.text_pixels = false;
  layout.lines_from = "rows";
  layout.number_from = "slice";
  return layout;
}

class LabelledSlices final : public StackWriter {
public:
  explicit LabelledSlices(const StackTarget& target)
      : target_(target),
        place_(*find_number(target.path)),
        lock_(lock_slices(target.path, target.sharing)),
        slices_(static_cast<std::size_t>(target.shape.images)) {
    for (std::int64_t k = 0; k < target.shape.images; ++k)
      check_target(numbered(target_.path, place_, k), target_.force);
    check_free_space(target_.path, target_.shape.bytes() + target_.shape.images * 1024);
  }

  void write(std::int64_t first, std::int64_t images, const void* pixels) override {
    io_parallel(images, io_threads(), [&](std::int64_t i) {
      const std::int64_t k = first + i, bytes = target_.shape.image_bytes();
      auto file = std::make_unique<PartialFile>(lock_, numbered(target_.path, place_, k), target_.force, 0);
      file->append(header(k));
      file->append(static_cast<const char*>(pixels) + i * bytes, bytes);
      file->append(label_lines({{"end", std::to_string(k), 0}}));
      file->close();
      slices_[static_cast<std::size_t>(k)] = std::move(file);
    });
  }

  void finish(const std::string& provenance) override {
    PartialFile beside(lock_, slices_side_car(target_.path), true, 0);
    beside.append(provenance_side_car(provenance.empty() ? "{}" : provenance));
    std::vector<PartialFile*> files;
    for (const auto& slice : slices_) files.push_back(slice.get());
    files.push_back(&beside);
    commit_together(files);
  }

private:
  std::string header(std::int64_t k) const {
    const VolumeGrid& grid = *target_.text.grid;
    std::vector<Label> labels{{slice_mark, "1", 0},
                              {"slice", std::to_string(k), 0},
                              {"slices", std::to_string(grid.nz), 0},
                              {"columns", std::to_string(grid.nx), 0},
                              {"rows", std::to_string(grid.ny), 0},
                              {"type", name_of(target_.shape.type), 0},
                              {"origin_mm", joined(grid.origin_mm, " "), 0},
                              {"step_mm", joined(grid.step_mm, " "), 0},
                              {"slope", format("{}", target_.text.scale.slope), 0},
                              {"offset", format("{}", target_.text.scale.offset), 0}};
    if (!target_.text.unit.empty()) labels.push_back({"unit", target_.text.unit, 0});
    return label_lines(labels) + "data\n";
  }

  StackTarget target_;
  NumberPlace place_;
  OutputLock lock_;
  std::vector<std::unique_ptr<PartialFile>> slices_;
};

Vec3 vector_of(const Label& label, const fs::path& file) {
  const std::vector<double> n = parse_numbers(label.value, label.name, file);
  if (n.size() != 3) throw_bad_header(file, format("{} does not hold 3 numbers", label.name));
  return {n[0], n[1], n[2]};
}

// What layout.json says beside the layout.
struct DescribedSlices {
  LabelledLayout layout;
  Vec3 origin_mm, step_mm{1, 1, 1};
  std::string unit;
};

DescribedSlices read_layout(const fs::path& file) {
  const std::string text = read_text_file(file, largest_layout);
  DescribedSlices slices;
  if (!is_json(text, file.string())) throw_bad_header(file, "it is not JSON");
  try {
    const json j = parse_json(text);
    const auto word = [&](const char* key, const char* usual) { return j.value(key, std::string(usual)); };
    const auto rules = [&](const char* key) {
      std::vector<LabelRule> all;
      for (const auto& words : j.value(key, std::vector<std::string>())) all.push_back(parse_label_rule(words));
      return all;
    };
    const auto vector = [&](const char* key, Vec3 usual) {
      const auto n = j.value(key, std::vector<double>{usual.x, usual.y, usual.z});
      if (n.size() != 3) throw_bad_header(file, format("{} does not hold 3 numbers", key));
      return Vec3{n[0], n[1], n[2]};
    };
    LabelledLayout& layout = slices.layout;
    layout.header = rules("header");
    layout.tail = rules("tail");
    layout.header_end = word("header_end", "");
    const std::string pixels = word("pixels", "text"), order = word("byte_order", "little");
    const auto type = pixel_type_named(word("type", "float32"));
    if ((pixels != "text" && pixels != "binary") || (order != "little" && order != "big") || !type ||
        *type == PixelType::f16)
      throw_bad_header(file, "pixels is text or binary, byte_order little or big, type uint8 ... float64");
    layout.text_pixels = pixels == "text";
    layout.big_endian = order == "big";
    layout.type = *type;
    layout.columns_from = word("columns_from", "columns");
    layout.lines_from = word("lines_from", "rows");
    layout.number_from = word("number_from", "");
    slices.step_mm = vector("step_mm", {1, 1, 1});
    slices.origin_mm = vector("origin_mm", {});
    slices.unit = word("unit", "");
  } catch (const json::exception& error) {
    throw_bad_header(file, error.what());
  }
  return slices;
}

// The first slice says what all have.
DescribedSlices own_slices(const fs::path& file) {
  DescribedSlices slices;
  slices.layout = slice_layout();
  const std::string head = InputFile(file).head(largest_layout);
  for (const PixelType type : {PixelType::u8, PixelType::u16, PixelType::i16, PixelType::f32, PixelType::f16})
    if (head.find(format("\ntype {}\n", name_of(type))) != std::string::npos) slices.layout.type = type;
  return slices;
}

std::vector<fs::path> slice_files(const fs::path& path) {
  const auto place = find_number(path);
  std::error_code code;
  if (!place && !fs::is_directory(path, code)) return {};
  if (place && (lower_extension(path) != ".vol" || fs::exists(path, code))) return {};
  const std::vector<fs::path> entries = entries_of(place ? path.parent_path() : path);
  if (std::none_of(entries.begin(), entries.end(), [](const fs::path& file) { return file.extension() == ".vol"; }))
    return {};
  return expand_pattern(place ? path.parent_path() : path,
                        place ? format("{}*{}", place->prefix, place->suffix) : std::string("*.vol"));
}

}  // namespace

std::unique_ptr<StackWriter> create_labelled_slices(const StackTarget& target) {
  return std::make_unique<LabelledSlices>(target);
}

std::unique_ptr<VolumeReader> open_labelled_slices(const fs::path& path) {
  const std::vector<fs::path> files = slice_files(path);
  if (files.empty()) return nullptr;
  const fs::path described = files.front().parent_path() / layout_name;
  std::error_code code;
  const bool foreign = fs::exists(described, code);
  if (!foreign && !InputFile(files.front()).head(64).starts_with(format("{} ", slice_mark))) return nullptr;
  const DescribedSlices slices = foreign ? read_layout(described) : own_slices(files.front());
  auto images = open_labelled_frames(files, slices.layout);
  const LabelledImage first = read_labelled_image(files.front(), slices.layout);
  VolumeInfo info;
  info.format = "slices with header and tail";
  info.unit = slices.unit;
  info.grid = {.nx = images->columns(),
               .ny = images->rows(),
               .nz = images->frames(),
               .origin_mm = slices.origin_mm,
               .step_mm = slices.step_mm};
  json labels;
  for (const Label& label : first.header) labels["header"][label.name] = label.value;
  for (const Label& label : first.tail) labels["tail"][label.name] = label.value;
  info.provenance = ascii_json_text(labels);
  if (!foreign) {
    if (first.find("slices")->value != std::to_string(info.grid.nz) || first.number != 0)
      throw_bad_header(files.front(), format("slices is {}, there are {} files from slice {} on",
                                             first.find("slices")->value, info.grid.nz, first.number));
    info.grid.origin_mm = vector_of(*first.find("origin_mm"), files.front());
    info.grid.step_mm = vector_of(*first.find("step_mm"), files.front());
    info.scale = {parse_numbers(first.find("slope")->value, "slope", files.front()).front(),
                  parse_numbers(first.find("offset")->value, "offset", files.front()).front()};
    if (!info.scale.is_usable()) throw_bad_header(files.front(), "slope and offset are not usable");
    if (const Label* const unit = first.find("unit")) info.unit = unit->value;
    for (const fs::path& file : entries_of(files.front().parent_path()))
      if (file.filename().string().ends_with(slices_side_car_ending))
        if (const std::string text = read_provenance_side_car(file); !text.empty()) info.provenance = text;
  }
  check_grid(info.grid, slices.layout.type, files.front());
  return volume_of_frames(std::move(images), std::move(info));
}

}  // namespace lepus
