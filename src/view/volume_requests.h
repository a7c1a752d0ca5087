// SPDX-License-Identifier: Apache-2.0
// The requests about one volume, and the difference of two.
#pragma once

#include <optional>
#include <string>

#include "core/context.h"
#include "view/admission.h"
#include "view/opened_volume.h"
#include "view/picture.h"
#include "view/request.h"

namespace lepus::view {

struct Workplace {
  PartCache& cache;
  Admission& admission;
  const CancelFlag& cancel;
  std::optional<double> water_per_mm;
};

// `what`: "slice", "box" ... Throws Refusal (404) for what there is not.
Answer answer_about(const OpenedVolume& volume, const std::string& what, const Request& request,
                    const Workplace& workplace);
Answer answer_difference(const OpenedVolume& a, const OpenedVolume& b, const Request& request,
                         const Workplace& workplace);

// The value in Hounsfield units; nothing where it is not known what water is.
std::optional<double> hounsfield(const OpenedVolume& volume, double value, std::optional<double> water_per_mm);

// A picture to be sent: the range is the query's, or `otherwise`.
Answer picture_answer(const std::vector<float>& values, std::int64_t width, std::int64_t height, Query& query,
                      const GreyRange& otherwise);

}  // namespace lepus::view
