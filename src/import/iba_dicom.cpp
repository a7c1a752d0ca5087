// SPDX-License-Identifier: Apache-2.0
// IBA's DICOM projections: the version of iMagX or adaPTinsight says how the flexion of the gantry is described. Angles
// and flexion become angles_deg and what each view deviates by. docs/scanners/iba.md has the table.
#include "import/iba_dicom.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>

#include "core/folder.h"
#include "core/format.h"
#include "core/text.h"
#include "import/frame_series.h"
#include "import/iba_calibration.h"
#include "import/open_beam.h"
#include "import/view_perturbations.h"
#include "io/dicom_file.h"
#include "io/dicom_images.h"
#include "io/file.h"
#include <lepus/error.h>

namespace lepus {
namespace {

namespace fs = std::filesystem;

constexpr DicomTag manufacturer_tag = 0x00080070, version_tag = 0x00181020, frames_tag = 0x00280008,
                   angle_tag = 0x300A011E, room_tag = 0x30010012, model_tag = 0x30010013, flexmap_tag = 0x30011018;
// Of radiotherapy images, of X-ray images, of others.
constexpr std::array<DicomTag, 3> spacing_tags{0x30020011, 0x00181164, 0x00280030};
constexpr std::string_view first_versions[] = {"IMAGX:1.2", "IMAGX:1.6"}, second_version = "adaPTinsight: 2";
struct NamedElement {
  DicomTag tag;
  const char *name, *use;
};
constexpr NamedElement named_elements[] = {{manufacturer_tag, "Manufacturer", ""},
                                           {version_tag, "SoftwareVersions", ""},
                                           {angle_tag, "GantryAngle", "geometry.angles_deg"},
                                           {spacing_tags[0], "ImagePlanePixelSpacing", "geometry.pixel_width_mm"},
                                           {spacing_tags[1], "ImagerPixelSpacing", "geometry.pixel_width_mm"},
                                           {spacing_tags[2], "PixelSpacing", "geometry.pixel_width_mm"}};
constexpr double usual_offset_deg = -90;  // what RTK takes

[[noreturn]] void refuse_projection(const fs::path& file, std::string what, std::string why, std::string hint) {
  throw Error(ErrorKind::input,
              {.what = std::move(what), .where = file.string(), .why = std::move(why), .hint = std::move(hint)});
}

// What one projection says beside its pixels.
struct IbaProjection {
  std::string version;
  std::vector<double> spacing_mm;  // between rows, between columns
  std::array<std::string, 3> xml;  // of room_tag, model_tag, flexmap_tag
};
constexpr std::array<DicomTag, 3> xml_tags{room_tag, model_tag, flexmap_tag};

IbaProjection projection_of(const DicomItem& data, const fs::path& file) {
  if (data.text(manufacturer_tag) != "IBA")
    refuse_projection(file, "a file beside the projections is not of IBA",
                      format("its manufacturer is \"{}\"", shown(data.text(manufacturer_tag))),
                      "leave only the projections of one scan in the folder");
  if (const auto frames = data.numbers(frames_tag, file); !frames.empty() && frames != std::vector<double>{1})
    refuse_projection(file, "the file holds several images", format("NumberOfFrames is {}", data.text(frames_tag)),
                      "one projection a file is read");
  IbaProjection projection;
  projection.version = data.text(version_tag);
  for (const DicomTag tag : spacing_tags)
    if (projection.spacing_mm.empty()) projection.spacing_mm = data.numbers(tag, file);
  for (std::size_t i = 0; i < xml_tags.size(); ++i) projection.xml[i] = data.text(xml_tags[i]);
  return projection;
}

double angle_of(const DicomItem& data, const fs::path& file) {
  const auto angle = data.numbers(angle_tag, file);
  if (angle.size() != 1)
    refuse_projection(file, "the projection does not say its angle",
                      format("GantryAngle {} holds \"{}\"", tag_text(angle_tag), shown(data.text(angle_tag))),
                      "copy the file again, or leave it out");
  return angle[0];
}

void check_alike(const IbaProjection& first, const IbaProjection& other, const fs::path& file) {
  const auto differ = [&](std::string why) {
    refuse_projection(file, "a projection differs from the first one", std::move(why), "are two scans mixed?");
  };
  if (other.version != first.version)
    differ(format("it is of version \"{}\", the first of \"{}\"", shown(other.version), shown(first.version)));
  if (other.spacing_mm != first.spacing_mm) differ("its pixels have another size");
}

// By their numbers, of which none may be missing; where the names are of another kind in the order of the names.
std::vector<fs::path> projections_beside(const fs::path& file) {
  std::vector<fs::path> files;
  for (const fs::path& other : entries_of(file.parent_path()))
    if (is_dicom_name(other)) files.push_back(other);
  if (files.empty()) files.push_back(file);
  const auto series = named_series(files);
  if (series.size() != 1 || series[0].files.size() != files.size()) return files;
  return whole_series(series[0].files,
                      {static_cast<std::int64_t>(files.size()), "as many as there are", file.parent_path().string()},
                      file);
}

class IbaDicom {
public:
  explicit IbaDicom(const fs::path& file) {
    scan_.scanner = "IBA iMagX, adaPTinsight";
    scan_.header = file;
  }

  ImportedScan imported() {
    read_projections();
    scan_.text.set_files("frames.files", files_, "the DICOM files in this folder");
    scan_.text.set("frames.views", static_cast<std::int64_t>(files_.size()), "as many as there are");
    take_open_beam_from_view({.files = {files_.front()}, .dataset = {}, .raw = {}}, scan_);
    set_pixels();
    texts_ = iba_texts_in(scan_.header.parent_path());
    if (first_.version.find(second_version) != std::string::npos)
      set_flexmap();
    else if (std::ranges::any_of(first_versions, [&](auto v) { return first_.version.find(v) != std::string::npos; }))
      set_model();
    else
      refuse_projection(files_.front(), "the version of the imager is not known",
                        format("SoftwareVersions is \"{}\"", shown(first_.version)),
                        "IMAGX:1.2, IMAGX:1.6 and adaPTinsight: 2 are read");
    return std::move(scan_);
  }

private:
  void read_projections() {
    files_ = projections_beside(scan_.header);
    std::size_t others = 0;  // whose room setup or calibration is not that of the first
    for (const fs::path& file : files_) {
      const DicomFile dicom = read_dicom_file(file);
      const IbaProjection projection = projection_of(dicom.data, file);
      if (angles_.empty()) {
        first_ = projection;
        list_fields(dicom.data);
      }
      check_alike(first_, projection, file);
      if (projection.xml != first_.xml) ++others;
      angles_.push_back(angle_of(dicom.data, file));
    }
    if (others > 0)
      scan_.warnings.push_back(
          format("{} of {} projections have another room setup or calibration in them than the first, which is taken",
                 others, files_.size()));
  }

  // Elements of the first projection that are text; the XML is listed by its own fields.
  void list_fields(const DicomItem& data) {
    constexpr std::string_view text_types = "AE AS CS DA DS DT IS LO LT PN SH ST TM UC UI UR UT";
    for (const auto& [tag, element] : data.elements) {
      if (std::ranges::find(xml_tags, tag) != xml_tags.end()) continue;
      const auto known = std::ranges::find(named_elements, tag, &NamedElement::tag);
      const bool is_known = known != std::end(named_elements);
      const bool is_text = !element.type.empty() && text_types.find(element.type) != std::string_view::npos;
      const std::string value = data.text(tag);
      if (value.empty() || (!is_known && !is_text)) continue;
      scan_.fields.push_back({is_known ? format("{} {}", tag_text(tag), known->name) : tag_text(tag),
                              as_utf8(value.substr(0, 400)), is_known ? known->use : ""});
    }
  }
  void list_fields(const HeaderFields& header, const std::string& from) {
    for (HeaderField field : header.fields()) {
      field.name = format("{}/{}", from, field.name);
      scan_.fields.push_back(std::move(field));
    }
  }

  void set_pixels() {
    const std::vector<double>& spacing = first_.spacing_mm;
    if (spacing.size() != 2 || !(spacing[0] > 0 && spacing[1] > 0))
      refuse_projection(files_.front(), "the projection does not say the size of its pixels",
                        format("neither {} nor {} nor {} has two lengths", tag_text(spacing_tags[0]),
                               tag_text(spacing_tags[1]), tag_text(spacing_tags[2])),
                        "copy the file again");
    scan_.text.set("geometry.pixel_width_mm", spacing[1], "the spacing of the columns");
    scan_.text.set("geometry.pixel_height_mm", spacing[0], "the spacing of the rows");
    scan_.text.set("geometry.mirror_rows", true, "rows grow upwards, as RTK reads them");
  }

  // The file beside the projections, else the element in them.
  std::optional<IbaText> text_of(const std::vector<std::string_view>& words, const char* what, std::size_t element) {
    if (auto beside = only_text_with(texts_, words, what)) return beside;
    if (first_.xml[element].empty()) return std::nullopt;
    return IbaText{first_.xml[element], files_.front(), tag_text(xml_tags[element])};
  }

  void set_model() {
    double offset_deg = usual_offset_deg;
    std::string offset_from = "-90 degrees";
    if (const auto text = text_of({"\"CBCT\"", "sid", "sdd"}, "room setup", 0)) {
      HeaderFields header = iba_attributes(*text);
      const IbaRoom room = read_iba_room(header);
      set_distances(room, "sid", "sdd", text->name);
      if (room.angle_offset_deg) {
        offset_deg = *room.angle_offset_deg;
        offset_from = "AngleOffset projection";
      } else {
        scan_.warnings.push_back(
            format("{} has no AngleOffset projection: the source is taken {} degrees from the gantry angle, as RTK "
                   "does",
                   text->name, offset_deg));
      }
      list_fields(header, text->name);
    } else {
      scan_.warnings.push_back(
          format("no room setup is in the projections or beside them: give --source-axis and --source-detector; the "
                 "source is taken {} degrees from the gantry angle",
                 offset_deg));
    }
    IbaModel model;
    std::string from;
    if (const auto text = text_of({"<Px", "<Tx"}, "calibration", 1)) {
      HeaderFields header = iba_attributes(*text);
      model = read_iba_model(header);
      from = format("the calibration in {}", text->name);
      list_fields(header, text->name);
    } else {
      scan_.warnings.emplace_back(
          "no calibration is in the projections or beside them: the gantry is taken as one that does not bend");
    }
    set_views(offset_deg, offset_from, from, [&](double angle_deg) { return model.at(angle_deg); });
  }

  void set_flexmap() {
    const auto text = text_of({"<geoCalModel"}, "flexmap", 2);
    if (!text)
      refuse_projection(files_.front(), "the calibration is missing",
                        format("the projections are of {}, whose distances and flexmap stand in {}",
                               shown(first_.version), tag_text(flexmap_tag)),
                        "put that element as an XML file beside the projections");
    const IbaFlexmap map = read_iba_flexmap(*text);
    scan_.warnings.insert(scan_.warnings.end(), map.warnings.begin(), map.warnings.end());
    set_distances(map.room, "sad", "sid", text->name);
    const auto outside = std::ranges::count_if(angles_, [&](double angle) { return !map.covers(angle); });
    if (outside > 0)
      scan_.warnings.push_back(
          format("{} of {} projections lie outside of the flexmap, which has {:g} to {:g} degrees: there the gantry is "
                 "taken as at its end",
                 outside, angles_.size(), map.angles_deg.front(), map.angles_deg.back()));
    HeaderFields header = iba_attributes(*text);
    for (const auto& [name, key] : {std::pair{"gantryParameters/sad", "geometry.source_axis_mm"},
                                    {"gantryParameters/sid", "geometry.source_detector_mm"},
                                    {"gantryParameters/sourceToNozzleOffsetAngle", "geometry.angles_deg"}})
      (void)header.text(name, key);
    list_fields(header, text->name);
    set_views(*map.room.angle_offset_deg, "sourceToNozzleOffsetAngle",
              format("the flexmap of arc {} in {}", map.arc, text->name),
              [&](double angle_deg) { return map.at(angle_deg); });
  }

  void set_distances(const IbaRoom& room, const char* axis, const char* detector, const std::string& from) {
    scan_.text.set("geometry.source_axis_mm", room.source_axis_mm, format("{} in {}", axis, from));
    scan_.text.set("geometry.source_detector_mm", room.source_detector_mm, format("{} in {}", detector, from));
  }

  void set_views(double offset_deg, const std::string& offset_from, const std::string& flexion_from,
                 const std::function<IbaDeviation(double)>& deviation) {
    std::vector<double> angles;
    std::vector<ViewPerturbation> perturbations;
    for (const double angle : angles_) {
      angles.push_back(angle + offset_deg);
      perturbations.push_back(perturbation_of(deviation(angle)));
    }
    scan_.text.set("geometry.angles_deg", std::move(angles), format("GantryAngle, and {}", offset_from));
    set_view_perturbations(perturbations, flexion_from, scan_.text);
  }

  ImportedScan scan_;
  std::vector<fs::path> files_;
  std::vector<double> angles_;  // as the projections say them
  IbaProjection first_;
  std::vector<IbaText> texts_;
};

}  // namespace

bool is_iba_dicom(const fs::path& file) {
  if (!is_dicom_name(file)) return false;
  try {
    return read_dicom_file(file).data.text(manufacturer_tag) == "IBA";
  } catch (const Error&) {
    return false;
  }
}

ImportedScan read_iba_dicom(const fs::path& file) { return IbaDicom(file).imported(); }

}  // namespace lepus
