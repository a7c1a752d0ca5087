// SPDX-License-Identifier: Apache-2.0
// DXchange, as the APS writes it: HDF5 with /exchange. docs/scanners/hdf5.md has the table.
#include <algorithm>

#include "core/format.h"
#include "import/hdf5_header.h"
#include "import/open_beam.h"
#include <lepus/error.h>

namespace lepus {
namespace {

namespace fs = std::filesystem;

class DxChange final : public Scanner {
public:
  std::string_view name() const override { return "dxchange"; }
  std::string_view title() const override { return "DXchange (HDF5)"; }

  std::vector<fs::path> headers(const std::vector<fs::path>& files) const override {
    return hdf5_files(files, [](const std::vector<StoredValue>& values) {
      const auto has = [&](std::string_view path) {
        return std::any_of(values.begin(), values.end(), [&](const StoredValue& v) { return v.path == path; });
      };
      return has("/exchange/data") && (has("/exchange/theta") || has("/exchange/data_white") || has("/implements"));
    });
  }

  ImportedScan read(const fs::path& file, const GivenNumbers& given) const override {
    StoredHeader header(file);
    ImportedScan scan = begin_hdf5_scan(header, "DXchange");
    const StoredValue& data = *header.take("/exchange/data", "frames.dataset");
    if (data.shape.size() != 3)
      throw Error(ErrorKind::input, {.what = "/exchange/data is no stack of images",
                                     .where = file.string(),
                                     .why = format("it has {} dimensions", data.shape.size()),
                                     .hint = "write a scan file that names the frames"});
    const std::int64_t views = data.shape[0];
    scan.text.set("frames.dataset", data.path, "DXchange");
    scan.text.set("frames.views", views, "the images of /exchange/data");
    if (header.take("/exchange/data_white", "frames.flats"))
      scan.text.set_files("frames.flats", {file}, "/exchange/data_white");
    else
      take_open_beam_from_view({.files = {file}, .dataset = data.path, .raw = {}}, scan);
    if (header.take("/exchange/data_dark", "frames.darks"))
      scan.text.set_files("frames.darks", {file}, "/exchange/data_dark");

    scan.text.set("geometry.beam", std::string("parallel"), "DXchange is a format of synchrotrons");
    if (const StoredValue* theta = header.take("/exchange/theta", "geometry.angles_dataset")) {
      check_angle_count(*theta, views, views, file);
      scan.text.set("geometry.angles_dataset", theta->path, theta->unit.empty() ? "degrees" : theta->unit);
    } else {
      scan.text.set("geometry.arc_deg", 180.0, "not in the file");
      scan.warnings.emplace_back("the file holds no angles (/exchange/theta): 180 degrees in equal steps are taken");
    }
    const std::string instrument = "/measurement/instrument/", detector = instrument + "detector/";
    const std::vector<std::string> own{detector + "pixel_size_x", detector + "x_pixel_size", detector + "pixel_size"};
    std::vector<std::string> paths{detector + "actual_pixel_size_x", detector + "x_actual_pixel_size",
                                   instrument + "detection_system/objective/resolution"};
    paths.insert(paths.end(), own.begin(), own.end());
    const StoredValue* width = header.take_number(paths, "geometry.pixel_width_mm");
    set_pixel(scan, given, width, nullptr);
    warn_of_optics(header, given, width, own, scan);
    find_axis(scan);
    scan.fields = header.fields();
    return scan;
  }
};

}  // namespace

const Scanner& dxchange_scanner() {
  static const DxChange dxchange;
  return dxchange;
}

}  // namespace lepus
