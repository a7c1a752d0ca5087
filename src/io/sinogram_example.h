// SPDX-License-Identifier: Apache-2.0
// lepus' own layout of sinogram files, the example of docs/formats.md: what `lepus simulate --format sinograms` writes
// and `lepus import` recognises.
#pragma once

#include <array>

namespace lepus::sinogram_example {

inline constexpr const char* mark = "lepus_sinogram";  // the first line: "lepus_sinogram 1"
inline constexpr const char* header_end = "data";

inline constexpr std::array header{"lepus_sinogram integer required",
                                   "images text required",
                                   "row integer required",
                                   "rows integer required",
                                   "views integer required",
                                   "columns integer required",
                                   "pixels text required",
                                   "type text required",
                                   "content text",
                                   "beam text",
                                   "source_axis_mm number",
                                   "source_detector_mm number",
                                   "pixel_width_mm number",
                                   "pixel_height_mm number",
                                   "first_angle_deg number",
                                   "angle_step_deg number",
                                   "direction text",
                                   "axis_offset_mm number",
                                   "detector_shift_u_mm number",
                                   "detector_shift_v_mm number",
                                   "in_plane_deg number"};
inline constexpr std::array tail{"tube_kv number", "end integer required"};

}  // namespace lepus::sinogram_example
