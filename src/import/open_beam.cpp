// SPDX-License-Identifier: Apache-2.0
#include "import/open_beam.h"

#include <algorithm>

#include "core/format.h"

namespace lepus {

void take_open_beam_from_view(const FrameFiles& frames, ImportedScan& scan) {
  const auto views = open_frames(frames);
  std::vector<float> pixels(static_cast<std::size_t>(views->columns() * views->rows()));
  views->read(0, 0, views->rows(), pixels.data());
  const auto place = pixels.begin() + static_cast<std::ptrdiff_t>((pixels.size() - 1) * 99 / 100);
  std::nth_element(pixels.begin(), place, pixels.end());
  const auto bright = static_cast<double>(*place);
  scan.warnings.push_back(
      format("there are no flats: I0 is taken as {:g}, the 99th percentile of the first view; name flats, or correct "
             "intensity.value",
             bright));
  scan.text.set("intensity.from", std::string("value"), "the files hold no flats");
  scan.text.set("intensity.value", bright, "99th percentile of the first view");
}

}  // namespace lepus
