// SPDX-License-Identifier: Apache-2.0
#include "view/volume_requests.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "core/format.h"
#include "core/json.h"
#include "core/text.h"
#include "view/export_file.h"
#include "view/numbers.h"
#include "view/plane.h"
#include "view/viewed_volume.h"

namespace lepus::view {
namespace {

Answer json_answer(const nlohmann::json& object) {
  Answer answer;
  answer.body = json_text(object);
  return answer;
}

void add_header(Answer& answer, const char* name, std::string value) {
  answer.headers.emplace_back(name, std::move(value));
}

Vec3 vector_of(const std::vector<double>& v) { return {v[0], v[1], v[2]}; }

std::vector<double> needed_numbers(Query& query, const std::string& name, std::size_t count) {
  auto given = query.numbers(name, count);
  if (!given) refuse_parameter(name, "it has to be given");
  return std::move(*given);
}

void add_slice_headers(Answer& answer, const SlicePicture& picture, const SliceQuery& query) {
  add_header(answer, "X-Lepus-Level", format("{}", picture.level));
  add_header(answer, "X-Lepus-Step", format("{}", picture.step));
  add_header(answer, "X-Lepus-Factor", format("{}", picture.factor));
  add_header(answer, "X-Lepus-Index", format("{}", query.index));
}

// Floats, what becomes of them, and where several slices become one, those too.
std::int64_t bytes_for(const SlicePicture& plan, const SliceQuery& query) {
  return plan.width * plan.height * (query.slab > 1 ? 16 : 8);
}

Answer slice(const OpenedVolume& volume, Query& query, const Workplace& place) {
  const SliceQuery wanted = slice_query(query, volume);
  const auto memory = place.admission.take(bytes_for(plan_slice(wanted, volume), wanted));
  const SlicePicture picture = slice_of(wanted, volume, place.cache);
  Answer answer = picture_answer(picture.values, picture.width, picture.height, query, default_range(volume.sample));
  add_slice_headers(answer, picture, wanted);
  answer.memory = memory;
  return answer;
}

Answer box(const OpenedVolume& volume, Query& query, const Workplace& place) {
  const BoxQuery wanted{box_of(query, volume), query.integer("max", 256, 1, 512)};
  const PixelFormat pixels = format_of(query);
  const GreyRange range = range_of(query).value_or(default_range(volume.sample));
  query.finish();
  const BoxPart plan = plan_box(wanted, volume);
  Answer answer;
  answer.memory =
      place.admission.take(plan.part.voxels() * bytes_per_pixel(pixels) + 8 * plan.part.along(0) * plan.part.along(1));
  answer.type = "application/octet-stream";
  answer.body = box_bytes(plan, volume, place.cache, pixels, range);
  add_header(answer, "X-Lepus-Size", format("{},{},{}", plan.part.along(0), plan.part.along(1), plan.part.along(2)));
  add_header(answer, "X-Lepus-Level", format("{}", plan.level));
  add_header(answer, "X-Lepus-Step", format("{}", plan.part.step[0]));
  add_header(answer, "X-Lepus-Factor", format("{}", plan.part.step[0] * volume.levels[plan.level].factor));
  add_header(answer, "X-Lepus-Window", format("{:.9g},{:.9g}", range.low, range.high));
  return answer;
}

Answer value(const OpenedVolume& volume, Query& query, const Workplace& place) {
  const auto at = query.integers("at", 3);
  if (!at) refuse_parameter("at", "it has to be given");
  query.finish();
  const auto size = volume.size();
  for (std::size_t axis = 0; axis < 3; ++axis)
    if ((*at)[axis] < 0 || (*at)[axis] >= size[axis])
      refuse_parameter("at", format("the volume has {} x {} x {} voxels", size[0], size[1], size[2]));
  const auto [i, j, k] = std::array{(*at)[0], (*at)[1], (*at)[2]};
  float found = 0;
  read_level(volume.levels.front(), {{i, j, k}, {i + 1, j + 1, k + 1}, {1, 1, 1}}, place.cache, &found);
  const Vec3 mm = volume.grid.centre(static_cast<double>(i), static_cast<double>(j), static_cast<double>(k));
  const auto hu = hounsfield(volume, static_cast<double>(found), place.water_per_mm);
  return json_answer(
      {{"value", found}, {"hu", hu ? nlohmann::json(*hu) : nlohmann::json()}, {"mm", {mm.x, mm.y, mm.z}}});
}

Answer profile(const OpenedVolume& volume, Query& query, const Workplace& place) {
  const Vec3 from = vector_of(needed_numbers(query, "from", 3)), to = vector_of(needed_numbers(query, "to", 3));
  const std::int64_t samples = query.integer("samples", 256, 2, 8192);
  query.finish();
  const Vec3 across = (to - from) / static_cast<double>(samples - 1);
  const Vec3& step = volume.grid.step_mm;
  const double step_mm = norm({across.x * step.x, across.y * step.y, across.z * step.z});
  const auto values = sample_plane({from, across, {}, samples, 1}, volume.levels.front(), place.cache);
  std::vector<double> distances;
  for (std::int64_t i = 0; i < samples; ++i) distances.push_back(static_cast<double>(i) * step_mm);
  return json_answer({{"mm", distances}, {"values", values}});
}

// The coarsest level that still has a voxel per pixel.
const Level& level_for(const OpenedVolume& volume, double step_mm, std::size_t& number) {
  const Vec3& step = volume.grid.step_mm;
  const double voxel_mm = std::min({std::abs(step.x), std::abs(step.y), std::abs(step.z)});
  while (number + 1 < volume.levels.size() &&
         static_cast<double>(volume.levels[number + 1].factor) * voxel_mm <= step_mm)
    ++number;
  return volume.levels[number];
}

Answer oblique(const OpenedVolume& volume, Query& query, const Workplace& place) {
  const Vec3 origin = vector_of(needed_numbers(query, "origin", 3));
  const Vec3 u = vector_of(needed_numbers(query, "u", 3)), v = vector_of(needed_numbers(query, "v", 3));
  const double step_mm = query.number("step", std::nullopt);
  const auto size = query.integers("size", 2);
  if (!size) refuse_parameter("size", "it has to be given");
  const auto& [width, height] = std::pair{(*size)[0], (*size)[1]};
  if (width < 1 || height < 1 || width > 4096 || height > 4096) refuse_parameter("size", "sides are 1 to 4096 pixels");
  if (!(step_mm > 0) || !(norm(u) > 0) || !(norm(v) > 0)) refuse_parameter("step", "step, u and v must not be zero");
  std::size_t number = 0;
  const Level& level = level_for(volume, step_mm, number);
  const auto in_voxels = [&](const Vec3& mm) {
    const Vec3& s = volume.grid.step_mm;
    return Vec3{mm.x / s.x, mm.y / s.y, mm.z / s.z};
  };
  const PlaneGrid plane = in_level_of({in_voxels(origin - volume.grid.origin_mm), in_voxels(step_mm * normalized(u)),
                                       in_voxels(step_mm * normalized(v)), width, height},
                                      level.factor);
  const auto memory = place.admission.take(8 * width * height + (std::int64_t{1} << 24));
  Answer answer =
      picture_answer(sample_plane(plane, level, place.cache), width, height, query, default_range(volume.sample));
  add_header(answer, "X-Lepus-Level", format("{}", number));
  answer.memory = memory;
  return answer;
}

Answer histogram(const OpenedVolume& volume, Query& query, const Workplace& place) {
  const std::int64_t bins = query.integer("bins", 256, 1, 4096);
  const auto range = query.numbers("range", 2);
  if (range && !((*range)[1] > (*range)[0])) refuse_parameter("range", "its second value must be above the first");
  if (range && !std::isfinite(static_cast<double>(bins) / ((*range)[1] - (*range)[0])))
    refuse_parameter("range", "it is too narrow for so many bins");
  ValueSample of_slice;
  const ValueSample* sample = &volume.sample;
  std::shared_ptr<void> memory;
  if (query.has("axis")) {
    const SliceQuery wanted = slice_query(query, volume);
    memory = place.admission.take(bytes_for(plan_slice(wanted, volume), wanted));
    of_slice.values = slice_of(wanted, volume, place.cache).values;
    of_slice.looked_at = static_cast<std::int64_t>(of_slice.values.size());
    of_slice.whole = true;
    std::erase_if(of_slice.values, [](float v) { return !std::isfinite(v); });
    std::ranges::sort(of_slice.values);
    sample = &of_slice;
  }
  query.finish();
  GreyRange ends{0, 1};
  if (range) {
    ends = {(*range)[0], (*range)[1]};
  } else if (!sample->values.empty()) {
    ends = {sample->values.front(), sample->values.back()};
    if (!(ends.high > ends.low)) ends.high = default_range(*sample).high;  // all are equal
  }
  const ValueHistogram h = histogram_of(sample->values, bins, ends.low, ends.high);
  return json_answer({{"low", h.low},
                      {"high", h.high},
                      {"counts", h.counts},
                      {"below", h.below},
                      {"above", h.above},
                      {"not_finite", sample->not_finite()},
                      {"voxels", sample->looked_at},
                      {"sampled", !sample->whole},
                      {"percentiles", percentiles_json(*sample)}});
}

Answer statistics(const OpenedVolume& volume, Query& query, const Workplace& place) {
  const auto shape = query.word("shape", {"box", "ellipsoid"}) == "box" ? RegionShape::box : RegionShape::ellipsoid;
  const auto region = box_of(query, volume);
  query.finish();
  const std::int64_t nx = region[1] - region[0], ny = region[3] - region[2], nz = region[5] - region[4];
  if (nx * ny > (std::int64_t{1} << 31) / nz)
    throw Refusal(413, {.what = "this region is too large to wait for",
                        .where = {},
                        .why = format("{} x {} x {} voxels", nx, ny, nz),
                        .hint = "choose at most 2^31 voxels, or use lepus analyze"});
  const auto memory = place.admission.take(4 * nx * ny);
  const RegionStatistics s = statistics_of(volume, shape, region, place.cache, place.cancel);
  const Vec3& step = volume.grid.step_mm;
  return json_answer({{"voxels", s.voxels},
                      {"not_finite", s.not_finite},
                      {"mean", s.mean},
                      {"sd", s.standard_deviation},
                      {"min", s.minimum},
                      {"max", s.maximum},
                      {"mm3", static_cast<double>(s.voxels) * std::abs(step.x * step.y * step.z)}});
}

Answer exported(const OpenedVolume& volume, Query& query, const Workplace& place) {
  const auto region = box_of(query, volume);
  const std::string kind = query.word("format", {"mha", "npy", "tif"});
  query.finish();
  return export_crop(volume, region, kind, place);
}

Answer surface(const OpenedVolume& volume, Query& query, const Workplace& place) {
  const double threshold = query.number("value", std::nullopt);
  const auto region = box_of(query, volume);
  const std::string kind = query.word("format", {"stl", "ply"});
  query.finish();
  return export_surface(volume, region, threshold, kind, place);
}

}  // namespace

Answer picture_answer(const std::vector<float>& values, std::int64_t width, std::int64_t height, Query& query,
                      const GreyRange& otherwise) {
  const auto given = range_of(query);
  GreyRange range = given.value_or(otherwise);
  PixelFormat pixels = format_of(query);
  query.finish();
  if (pixels == PixelFormat::u16 && !given) {
    // A few voxels that are far off would leave too few steps for the others: then the values themselves are sent.
    const GreyRange own = range_of_values(values);
    if (own.high - own.low <= 16 * (range.high - range.low)) {
      range = own;
    } else {
      pixels = PixelFormat::f32;
    }
  }
  Answer answer;
  answer.type = "application/octet-stream";
  answer.body = bytes_of(values, pixels, range);
  add_header(answer, "X-Lepus-Size", format("{},{}", width, height));
  if (pixels == PixelFormat::u16) add_header(answer, "X-Lepus-Format", "u16");
  add_header(answer, "X-Lepus-Window", format("{:.9g},{:.9g}", range.low, range.high));
  return answer;
}

std::optional<double> hounsfield(const OpenedVolume& volume, double value, std::optional<double> water_per_mm) {
  if (volume.unit == "HU") return value;
  if (water_per_mm && (volume.unit == "1/mm" || volume.unit == "raw"))
    return 1000 * (value - *water_per_mm) / *water_per_mm;
  return std::nullopt;
}

Answer answer_about(const OpenedVolume& volume, const std::string& what, const Request& request,
                    const Workplace& workplace) {
  using Handler = Answer (*)(const OpenedVolume&, Query&, const Workplace&);
  static const std::map<std::string, Handler> handlers{
      {"slice", slice},           {"box", box},         {"value", value},
      {"profile", profile},       {"oblique", oblique}, {"histogram", histogram},
      {"statistics", statistics}, {"export", exported}, {"surface", surface}};
  const auto found = handlers.find(what);
  if (found == handlers.end())
    throw Refusal(404, {.what = format("a volume has no '{}'", shown(what)),
                        .where = {},
                        .why = {},
                        .hint = "docs/view-protocol.md has all requests"});
  Query query(request);
  return found->second(volume, query, workplace);
}

Answer answer_difference(const OpenedVolume& a, const OpenedVolume& b, const Request& request,
                         const Workplace& workplace) {
  if (a.size() != b.size())
    throw Refusal(422, {.what = "the two volumes have different sizes",
                        .where = {},
                        .why = format("{} x {} x {} and {} x {} x {} voxels", a.grid.nx, a.grid.ny, a.grid.nz,
                                      b.grid.nx, b.grid.ny, b.grid.nz),
                        .hint = "only volumes of the same grid have a difference"});
  Query query(request);
  query.text("a", "");
  query.text("b", "");
  const SliceQuery wanted = slice_query(query, a);
  // Both from the same level: those that both have.
  const OpenedVolume& fewer = a.levels.size() <= b.levels.size() ? a : b;
  SliceQuery common = wanted;
  common.level = plan_slice(wanted, fewer).level;
  const auto memory = workplace.admission.take(2 * bytes_for(plan_slice(common, a), common));
  SlicePicture picture = slice_of(common, a, workplace.cache);
  const SlicePicture other = slice_of(common, b, workplace.cache);
  float largest = 0;
  for (std::size_t i = 0; i < picture.values.size(); ++i) {
    picture.values[i] -= other.values[i];
    if (std::isfinite(picture.values[i])) largest = std::max(largest, std::abs(picture.values[i]));
  }
  const double end = largest > 0 ? static_cast<double>(largest) : 1;
  Answer answer = picture_answer(picture.values, picture.width, picture.height, query, {-end, end});
  add_slice_headers(answer, picture, common);
  answer.memory = memory;
  return answer;
}

}  // namespace lepus::view
