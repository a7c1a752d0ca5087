// SPDX-License-Identifier: Apache-2.0
// Line integrals: every shape that the ray meets gives an interval, a surface several. Added, they are summed as they
// come; replaced, the ray is cut at every end of an interval and each piece goes to the last drawn shape that covers
// it.
#include "simulate/phantom.h"

#include <algorithm>
#include <utility>

#include <lepus/error.h>

namespace lepus {
namespace {

// Below this many shapes testing each is cheaper than walking the tree.
constexpr std::size_t tree_threshold = 24;

}  // namespace

Phantom::Phantom(std::string name, Combine combine, std::vector<Shape> shapes)
    : name_(std::move(name)), combine_(combine), shapes_(std::move(shapes)) {
  prepared_.reserve(shapes_.size());
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    if (shapes_[i].name.empty()) shapes_[i].name = name_ + ", shape " + std::to_string(i + 1);
    prepared_.emplace_back(shapes_[i]);
    material_.push_back(shapes_[i].material.empty() ? 0 : material_slot(shapes_[i].material));
    has_materials_ = has_materials_ || material_.back() != 0;
  }
  use_tree_ = shapes_.size() > tree_threshold;
  if (use_tree_) {
    std::vector<Bounds> boxes;
    for (const PreparedShape& shape : prepared_) boxes.push_back(shape.bounds());
    tree_ = BoxTree(boxes);
  }
  set_energy(default_energy_kev);
}

void Phantom::set_energy(double energy_kev) {
  energy_kev_ = energy_kev;
  values_.resize(shapes_.size());
  for (std::size_t i = 0; i < shapes_.size(); ++i)
    values_[i] = material_[i] == 0 ? shapes_[i].value : shapes_[i].value * attenuation(material_[i], energy_kev);
}

Phantom Phantom::at_energy(double energy_kev) const {
  Phantom other = *this;
  other.set_energy(energy_kev);
  return other;
}

Bounds Phantom::bounds() const {
  if (prepared_.empty())
    throw Error(
        ErrorKind::usage,
        {.what = "phantom has no shapes", .where = name_, .why = "its extent is not defined", .hint = "add a shape"});
  Bounds all = prepared_.front().bounds();
  for (const PreparedShape& shape : prepared_) {
    const Bounds& b = shape.bounds();
    all.low = {std::min(all.low.x, b.low.x), std::min(all.low.y, b.low.y), std::min(all.low.z, b.low.z)};
    all.high = {std::max(all.high.x, b.high.x), std::max(all.high.y, b.high.y), std::max(all.high.z, b.high.z)};
  }
  return all;
}

template <class Visit>
void Phantom::visit_hits(const Ray& ray, Scratch& scratch, Visit&& visit) const {
  const auto test = [&](std::int32_t i) {
    const PreparedShape& shape = prepared_[static_cast<std::size_t>(i)];
    if (shape.convex()) {
      const Interval t = shape.intersect(ray);
      if (!t.empty()) visit(i, t);
      return;
    }
    shape.intersect(ray, scratch.intervals);
    for (const Interval& t : scratch.intervals) visit(i, t);
  };
  if (use_tree_) {
    tree_.along(ray, test);
  } else {
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(prepared_.size()); ++i) test(i);
  }
}

const std::vector<Segment>& Phantom::segments(const Ray& ray, Scratch& scratch) const {
  scratch.hits.clear();
  visit_hits(ray, scratch, [&](std::int32_t i, Interval t) { scratch.hits.push_back({t.begin, t.end, i}); });
  if (combine_ == Combine::add) return scratch.hits;
  resolve_replacement(scratch);
  return scratch.segments;
}

// Walks along the ray; `active` holds the open shapes, the one drawn last at the end.
void Phantom::resolve_replacement(Scratch& scratch) const {
  auto& hits = scratch.hits;
  auto& out = scratch.segments;
  out.clear();
  if (hits.empty()) return;
  std::sort(hits.begin(), hits.end(), [](const Segment& a, const Segment& b) { return a.begin < b.begin; });
  auto& active = scratch.active;  // indices into hits, sorted by shape
  active.clear();
  std::size_t next = 0;
  double at = hits.front().begin;
  while (next < hits.size() || !active.empty()) {
    if (active.empty() && hits[next].begin > at) at = hits[next].begin;
    for (; next < hits.size() && hits[next].begin <= at; ++next) {
      if (hits[next].end <= at) continue;  // it lay wholly under another shape
      const auto place = std::upper_bound(
          active.begin(), active.end(), hits[next].shape,
          [&](std::int32_t shape, std::int32_t hit) { return shape < hits[static_cast<std::size_t>(hit)].shape; });
      active.insert(place, static_cast<std::int32_t>(next));
    }
    if (active.empty()) continue;
    // The top shape holds until it ends, or until a shape drawn after it begins; later beginnings of shapes below it
    // only matter once it has ended, so they are taken in at the next stop.
    const Segment top = hits[static_cast<std::size_t>(active.back())];
    double stop = top.end;
    for (std::size_t i = next; i < hits.size() && hits[i].begin < stop; ++i)
      if (hits[i].shape > top.shape) stop = hits[i].begin;
    if (stop > at) {
      if (!out.empty() && out.back().shape == top.shape && out.back().end == at)
        out.back().end = stop;
      else
        out.push_back({at, stop, top.shape});
    }
    at = stop;
    std::erase_if(active, [&](std::int32_t h) { return hits[static_cast<std::size_t>(h)].end <= at; });
  }
}

double Phantom::line_integral(const Ray& ray, Scratch& scratch) const {
  double sum = 0;
  if (combine_ == Combine::add) {
    visit_hits(ray, scratch,
               [&](std::int32_t i, Interval t) { sum += values_[static_cast<std::size_t>(i)] * (t.end - t.begin); });
    return sum;
  }
  for (const Segment& s : segments(ray, scratch)) sum += values_[static_cast<std::size_t>(s.shape)] * (s.end - s.begin);
  return sum;
}

MaterialIntegrals Phantom::material_integrals(const Ray& ray, Scratch& scratch) const {
  MaterialIntegrals sums{};
  for (const Segment& s : segments(ray, scratch)) {
    const auto i = static_cast<std::size_t>(s.shape);
    sums[static_cast<std::size_t>(material_[i])] += shapes_[i].value * (s.end - s.begin);
  }
  return sums;
}

double Phantom::value_at(Vec3 point_mm) const {
  double sum = 0;
  std::int32_t top = -1;
  const auto test = [&](std::int32_t i) {
    if (!prepared_[static_cast<std::size_t>(i)].contains(point_mm)) return;
    sum += values_[static_cast<std::size_t>(i)];
    top = std::max(top, i);
  };
  if (use_tree_) {
    tree_.at(point_mm, test);
  } else {
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(prepared_.size()); ++i) test(i);
  }
  if (combine_ == Combine::add) return sum;
  return top < 0 ? 0 : values_[static_cast<std::size_t>(top)];
}

}  // namespace lepus
