// SPDX-License-Identifier: Apache-2.0
#include "import/view_perturbations.h"

#include <algorithm>

#include "core/format.h"

namespace lepus {

void set_view_perturbations(const std::vector<ViewPerturbation>& views, const std::string& from, ScanFileText& text) {
  std::vector<double> numbers;  // ten for each view
  for (const ViewPerturbation& p : views)
    numbers.insert(numbers.end(),
                   {p.source_mm.x, p.source_mm.y, p.source_mm.z, p.detector_mm.x, p.detector_mm.y, p.detector_mm.z,
                    degrees(p.in_plane_rad), degrees(p.pitch_rad), degrees(p.yaw_rad), degrees(p.angle_rad)});
  const auto take_same = [&](std::size_t column) {
    const double first = numbers[column];
    for (std::size_t i = column; i < numbers.size(); i += 10)
      if (numbers[i] != first) return 0.0;
    for (std::size_t i = column; i < numbers.size(); i += 10) numbers[i] = 0;
    return first;
  };
  const auto set = [&](const char* key, double value) {
    if (value != 0) text.set(format("geometry.{}", key), value, format("{}, in all views", from));
  };
  const double source_u_mm = take_same(0);
  set("axis_offset_mm", 0 - source_u_mm);
  for (std::size_t i = 3; i < numbers.size(); i += 10) numbers[i] -= source_u_mm;  // shifts count from the central ray
  for (const auto& [column, key] : {std::pair<std::size_t, const char*>{3, "detector_shift_u_mm"},
                                    {4, "detector_shift_v_mm"},
                                    {6, "in_plane_deg"},
                                    {7, "pitch_deg"},
                                    {8, "yaw_deg"}})
    set(key, take_same(column));
  if (std::ranges::any_of(numbers, [](double x) { return x != 0; }))
    text.set("geometry.view_perturbations", std::move(numbers), from);
}

}  // namespace lepus
