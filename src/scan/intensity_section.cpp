// SPDX-License-Identifier: Apache-2.0
// [intensity]: where the unattenuated intensity comes from.
#include "core/format.h"
#include "scan/sections.h"

namespace lepus {

void read_intensity_section(const ScanDocument& document, Scan& scan, Resolution& resolution) {
  if (scan.content == FrameContent::line_integrals) {
    for (const char* key : {"frames.flats", "frames.darks", "frames.frames_scale", "frames.flats_scale",
                            "frames.darks_scale", "intensity.from", "intensity.value", "intensity.air_region_px"}) {
      if (document.given(key))
        document.fail(key, format("{} has no use here", key),
                      "frames.content = \"line-integrals\": the logarithm is taken",
                      format("leave out {}, or say content = \"counts\"", key));
      resolution.inactive.insert(key);
    }
    return;
  }
  const auto from = document.find<std::string>("intensity.from");
  if (!from && !scan.flats)
    document.fail(document.section_given("intensity") ? "intensity.from" : "frames.files",
                  "the intensity without an object is not known", "there are no flats, and intensity.from is not set",
                  "add frames.flats; or [intensity] with from = \"value\" and value = (counts), with from = "
                  "\"air-region\" and air_region_px = [column0, column1, row0, row1], or with from = "
                  "\"detector-maximum\"; or say frames.content = \"line-integrals\"");
  const std::string source = from.value_or("flats");
  resolution.derived["intensity.from"] = source;
  const auto only_with = [&](const char* key, const char* word) {
    if (document.given(key) && source != word)
      document.fail(key, format("{} has no use here", key), format("intensity.from is \"{}\"", source),
                    format("say from = \"{}\", or leave {} out", word, key));
  };
  only_with("intensity.value", "value");
  only_with("intensity.air_region_px", "air-region");

  if (source == "flats") {
    scan.intensity = Intensity::flats;
    if (!scan.flats)
      document.fail("intensity.from", "there are no flats", "intensity.from = \"flats\", but frames.flats is not set",
                    "add frames.flats, or take another intensity.from");
  } else if (source == "value") {
    scan.intensity = Intensity::value;
    scan.intensity_value = document.require<double>("intensity.value", "intensity.from = \"value\"");
  } else if (source == "air-region") {
    scan.intensity = Intensity::air_region;
    const auto r =
        document.require<std::vector<std::int64_t>>("intensity.air_region_px", "intensity.from = \"air-region\"");
    if (r[0] >= r[1] || r[2] >= r[3] || r[1] > scan.recorded.columns || r[3] > scan.recorded.rows)
      document.fail("intensity.air_region_px", "the air region is empty or leaves the detector",
                    format("columns [{}, {}), rows [{}, {}); the frames are {} x {} pixels", r[0], r[1], r[2], r[3],
                           scan.recorded.columns, scan.recorded.rows),
                    "give [column0, column1, row0, row1], the ends not included");
    scan.air_region = Region{r[0], r[1], r[2], r[3]};
  } else {
    scan.intensity = Intensity::detector_maximum;
  }
}

}  // namespace lepus
