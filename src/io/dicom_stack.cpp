// SPDX-License-Identifier: Apache-2.0
// Volumes as DICOM: a series of CT images, or one enhanced CT object with all slices as its frames. Values are 16-bit
// integers in HU; grid and directions are those of the volume, in place of the patient's.
#include <cmath>
#include <ctime>

#include "core/format.h"
#include "core/output_file.h"
#include "io/dicom_file.h"
#include "io/dicom_images.h"
#include "io/file.h"
#include "io/json_text.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

namespace {

constexpr const char* ct_image = "1.2.840.10008.5.1.4.1.1.2";
constexpr const char* enhanced_ct_image = "1.2.840.10008.5.1.4.1.1.2.1";

// Identifiers of what belongs together; slices follow from first_slice on.
enum : std::int64_t {
  study_id = 1,
  series_id,
  frame_of_reference_id,
  dimensions_id,
  exposure_id,
  first_slice_id = 100
};

// At most 16 characters, as decimal strings have.
std::string decimal(double value) { return format("{:.9g}", value); }

std::string position_of(const VolumeGrid& grid, std::int64_t z) {
  const Vec3 p = grid.centre(0, 0, static_cast<double>(z));
  return decimal(p.x) + "\\" + decimal(p.y) + "\\" + decimal(p.z);
}
std::string orientation_of(const VolumeGrid& grid) {
  return format("{}\\0\\0\\0\\{}\\0", grid.step_mm.x < 0 ? -1 : 1, grid.step_mm.y < 0 ? -1 : 1);
}
std::string spacing_of(const VolumeGrid& grid) {
  return decimal(std::abs(grid.step_mm.y)) + "\\" + decimal(std::abs(grid.step_mm.x));
}

DicomWriter pixel_measures(const VolumeGrid& grid) {
  DicomWriter item;
  item.text(0x00180050, "DS", decimal(std::abs(grid.step_mm.z))).text(0x00280030, "DS", spacing_of(grid));
  return item;
}

void put_rescale(DicomWriter& item, const StackTarget& target) {
  const ValueScale& scale = target.text.scale;
  item.text(0x00281052, "DS", decimal(scale.offset)).text(0x00281053, "DS", decimal(scale.slope));
  item.text(0x00281054, "LO", target.text.unit.empty() ? "US" : target.text.unit);  // US: unspecified
}

// What every object has.
DicomWriter common_part(const StackTarget& target, const DicomIdentifiers& identifier, const char* object_class,
                        const std::string& instance) {
  DicomWriter data;
  data.text(0x00080016, "UI", object_class).text(0x00080018, "UI", instance);
  data.nobody().text(0x00201040, "LO", "");
  data.text(0x00080060, "CS", "CT").text(0x00080070, "LO", "lepus").text(0x00185100, "CS", "HFS");
  data.text(0x0020000D, "UI", identifier(study_id)).text(0x0020000E, "UI", identifier(series_id));
  data.text(0x00200011, "IS", "1").text(0x00200052, "UI", identifier(frame_of_reference_id));
  const bool with_sign = target.shape.type == PixelType::i16;
  const auto bits = static_cast<std::uint16_t>(8 * bytes_per_pixel(target.shape.type));
  data.number(0x00280002, 1).text(0x00280004, "CS", "MONOCHROME2");
  data.number(0x00280010, static_cast<std::uint16_t>(target.shape.rows));
  data.number(0x00280011, static_cast<std::uint16_t>(target.shape.columns));
  data.number(0x00280100, bits).number(0x00280101, bits).number(0x00280102, static_cast<std::uint16_t>(bits - 1));
  data.number(0x00280103, with_sign ? 1 : 0);
  return data;
}

std::string slice_start(const StackTarget& target, const DicomIdentifiers& identifier, std::int64_t z) {
  const VolumeGrid& grid = *target.text.grid;
  const std::string instance = identifier(first_slice_id + z);
  DicomWriter data = common_part(target, identifier, ct_image, instance);
  data.text(0x00080008, "CS", "DERIVED\\PRIMARY\\AXIAL").text(0x00180060, "DS", "").text(0x00200012, "IS", "");
  data.text(0x00200060, "CS", "");  // laterality, of an object that says no more of the body
  data.text(0x00200013, "IS", std::to_string(z + 1)).text(0x00200032, "DS", position_of(grid, z));
  data.text(0x00200037, "DS", orientation_of(grid)).text(0x00280030, "DS", spacing_of(grid));
  data.text(0x00180050, "DS", decimal(std::abs(grid.step_mm.z)));
  put_rescale(data, target);
  return dicom_start(data, ct_image, instance, (target.shape.image_bytes() + 1) / 2 * 2);
}

DicomWriter frame_type() {
  DicomWriter item;
  item.text(0x00089007, "CS", "DERIVED\\PRIMARY\\VOLUME\\NONE").text(0x00089205, "CS", "MONOCHROME");
  item.text(0x00089206, "CS", "VOLUME").text(0x00089207, "CS", "NONE");
  return item;
}

DicomWriter anatomy() {
  DicomWriter region, item;
  region.text(0x00080100, "SH", "38266002").text(0x00080102, "SH", "SCT").text(0x00080104, "LO", "Entire body");
  item.sequence(0x00082218, {region}).text(0x00209072, "CS", "U");
  return item;
}

std::string enhanced_start(const StackTarget& target, const DicomIdentifiers& identifier) {
  const VolumeGrid& grid = *target.text.grid;
  const std::string instance = identifier(first_slice_id);
  DicomWriter data = common_part(target, identifier, enhanced_ct_image, instance);
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  data.text(0x00080023, "DA", format("{:04}{:02}{:02}", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday));
  data.text(0x00080033, "TM", format("{:02}{:02}{:02}", utc.tm_hour, utc.tm_min, utc.tm_sec));
  data.text(0x00080008, "CS", "DERIVED\\PRIMARY\\VOLUME\\NONE").text(0x00081090, "LO", "lepus");
  data.text(0x00089205, "CS", "MONOCHROME").text(0x00089206, "CS", "VOLUME").text(0x00089207, "CS", "NONE");
  data.text(0x00181000, "LO", "0").text(0x00181020, "LO", "lepus").text(0x00189004, "CS", "RESEARCH");
  data.text(0x00200013, "IS", "1").text(0x00280008, "IS", std::to_string(target.shape.images));
  data.text(0x00280301, "CS", "NO").text(0x00282110, "CS", "00").text(0x20500020, "CS", "IDENTITY");
  data.sequence(0x00400555, {});
  DicomWriter organization, index, orientation, rescale, exposure, shared;
  organization.text(0x00209164, "UI", identifier(dimensions_id));
  index.text(0x00209164, "UI", identifier(dimensions_id)).tag_value(0x00209165, 0x00200032);
  index.tag_value(0x00209167, 0x00209113);
  data.sequence(0x00209221, {organization}).sequence(0x00209222, {index});
  orientation.text(0x00200037, "DS", orientation_of(grid));
  put_rescale(rescale, target);
  shared.sequence(0x00289110, {pixel_measures(grid)}).sequence(0x00209116, {orientation});
  shared.sequence(0x00289145, {rescale}).sequence(0x00189329, {frame_type()}).sequence(0x00209071, {anatomy()});
  exposure.text(0x00083010, "UI", identifier(exposure_id));
  shared.sequence(0x00189477, {exposure});
  data.sequence(0x52009229, {shared});
  std::vector<DicomWriter> frames;
  for (std::int64_t z = 0; z < target.shape.images; ++z) {
    DicomWriter content, position, frame;
    content.long_number(0x00209157, static_cast<std::uint32_t>(z + 1));
    position.text(0x00200032, "DS", position_of(grid, z));
    frames.push_back(frame.sequence(0x00209111, {content}).sequence(0x00209113, {position}));
  }
  data.sequence(0x52009230, frames);
  return dicom_start(data, enhanced_ct_image, instance, target.shape.bytes());
}

class EnhancedCt final : public PlainStack {
public:
  EnhancedCt(const StackTarget& target, const std::string& start)
      : PlainStack(target, target.path, target.shape.bytes() + static_cast<std::int64_t>(start.size())) {
    check_target(side_car_of(target.path), target.force);
    data_.append(start);
    begin_data(static_cast<std::int64_t>(start.size()));
  }

  void finish(const std::string& provenance) override {
    const auto description =
        provenance.empty() ? nullptr : side_car(side_car_of(target_.path), provenance_side_car(provenance));
    commit_together({description.get(), &data_});
  }
};

class CtSeries final : public StackWriter {
public:
  explicit CtSeries(const StackTarget& target)
      : target_(target),
        place_(*find_number(target.path)),
        lock_(lock_slices(target.path, target.sharing)),
        images_(static_cast<std::size_t>(target.shape.images)) {
    check_numbered_targets(target.path, target.shape.images, target.force);
    check_free_space(target.path, target.shape.bytes() + target.shape.images * 2048);
  }

  void write(std::int64_t first, std::int64_t images, const void* pixels) override {
    const std::int64_t bytes = target_.shape.image_bytes();
    for (std::int64_t z = first; z < first + images; ++z) {
      auto file = std::make_unique<PartialFile>(lock_, numbered(target_.path, place_, z), target_.force, bytes);
      file->append(slice_start(target_, identifier_, z));
      file->append(static_cast<const char*>(pixels) + (z - first) * bytes, bytes);
      if (bytes % 2) file->append(std::string(1, '\0'));
      file->close();
      images_[static_cast<std::size_t>(z)] = std::move(file);
    }
  }

  void finish(const std::string& provenance) override {
    std::vector<PartialFile*> files;
    for (const auto& image : images_) files.push_back(image.get());
    PartialFile side_car(lock_, slices_side_car(target_.path), target_.force, 0);
    side_car.append(provenance_side_car(provenance.empty() ? "{}" : provenance));
    files.push_back(&side_car);
    commit_together(files);
  }

private:
  StackTarget target_;
  NumberPlace place_;
  OutputLock lock_;
  DicomIdentifiers identifier_;
  std::vector<std::unique_ptr<PartialFile>> images_;  // closed, under their partial names
};

[[noreturn]] void refuse_dicom(const fs::path& path, const std::string& why, const std::string& hint) {
  throw Error(ErrorKind::unsupported,
              {.what = "this volume does not fit into DICOM", .where = path.string(), .why = why, .hint = hint});
}

}  // namespace

bool is_dicom_name(const fs::path& path) {
  const std::string ending = lower_extension(path);
  return ending == ".dcm" || ending == ".dicom";
}

PixelType dicom_type(PixelType type, const std::string& unit, const fs::path& path) {
  if (type != PixelType::f32) return type;
  if (unit != "HU")
    refuse_dicom(path,
                 format("it holds integers, and the voxels are floats {}",
                        unit.empty() ? "of which nothing says that they are HU" : "in " + unit),
                 "lepus convert --water 0.02 makes HU of attenuations in 1/mm");
  return PixelType::i16;
}

std::unique_ptr<StackWriter> create_dicom(const StackTarget& target) {
  if (target.shape.rows > 65535 || target.shape.columns > 65535)
    refuse_dicom(target.path, "a slice has more than 65535 rows or columns", "crop it");
  if (find_number(target.path)) return std::make_unique<CtSeries>(target);
  if (target.shape.bytes() >= 0xFFFFFFFE)
    refuse_dicom(target.path, "an object has less than 4 GiB of pixels", "write a series: series/%04d.dcm");
  return std::make_unique<EnhancedCt>(target, enhanced_start(target, DicomIdentifiers()));
}

}  // namespace lepus
