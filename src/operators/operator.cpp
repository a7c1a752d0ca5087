// SPDX-License-Identifier: Apache-2.0
// lepus::Operator as the API shows it: sizes checked, and the rest done by ScanOperator.
#include <lepus/operator.h>

#include <cmath>
#include <utility>
#include <vector>

#include "core/check_numbers.h"
#include "core/format.h"
#include "core/overlap.h"
#include "operators/scan_operator.h"
#include <lepus/error.h>

namespace lepus {
namespace {

void check_size(const char* array, std::size_t given, std::int64_t wanted) {
  if (given != static_cast<std::size_t>(wanted))
    throw Error(ErrorKind::usage, {.what = format("the {} have {} values", array, given),
                                   .where = {},
                                   .why = format("the operator's have {}", wanted),
                                   .hint = {}});
}

void check_apart(std::span<const float> from, std::span<const float> to) {
  if (overlap(from, to))
    throw Error(ErrorKind::usage, {.what = "the two arrays of an operator overlap",
                                   .where = {},
                                   .why = "what is read would be written over",
                                   .hint = "hand over two arrays"});
}

double length(const std::vector<float>& x) {
  double squares = 0;
  for (const float value : x) squares += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(squares);
}

}  // namespace

struct Operator::Parts {
  std::unique_ptr<ScanOperator> scan;
};

Operator::Operator(const ScanGeometry& geometry, const VolumeGrid& grid, const OperatorOptions& options) {
  check_named(options.model, RayModel::voxel, "RayModel");
  parts_ = std::make_unique<Parts>(Parts{std::make_unique<ScanOperator>(geometry, grid, options)});
}
Operator::Operator(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Operator::~Operator() = default;
Operator::Operator(Operator&&) noexcept = default;
Operator& Operator::operator=(Operator&&) noexcept = default;

const ScanGeometry& Operator::geometry() const { return parts_->scan->geometry(); }
const VolumeGrid& Operator::grid() const { return parts_->scan->grid(); }
std::int64_t Operator::voxels() const { return grid().voxels(); }
std::int64_t Operator::values() const { return parts_->scan->values(); }
std::string Operator::description() const { return parts_->scan->description(); }
std::vector<DeviceInfo> Operator::devices() const {
  std::vector<DeviceInfo> infos;
  for (const auto& device : parts_->scan->machines().devices) infos.push_back(device->info());
  return infos;
}

void Operator::forward(std::span<const float> volume, std::span<float> line_integrals, ArrayPlace place) const {
  check_size("voxels", volume.size(), voxels());
  check_size("line integrals", line_integrals.size(), values());
  check_apart(volume, line_integrals);
  parts_->scan->forward(volume.data(), line_integrals.data(), place);
}

void Operator::adjoint(std::span<const float> line_integrals, std::span<float> volume, ArrayPlace place) const {
  check_size("line integrals", line_integrals.size(), values());
  check_size("voxels", volume.size(), voxels());
  check_apart(line_integrals, volume);
  parts_->scan->adjoint(line_integrals.data(), volume.data(), place);
}

void Operator::wait() const {
  for (const auto& queue : parts_->scan->machines().queues) queue->wait();
}

Operator Operator::subset(std::span<const std::int64_t> views) const {
  return Operator(std::make_unique<Parts>(Parts{parts_->scan->subset(views)}));
}

// A has no negative entries, so the singular vector of its largest singular value has none either: the start is never
// across it. |A x| for |x| = 1 grows from step to step, in the end by a constant factor less each time, which tells
// what is still to come.
double Operator::norm(double tolerance) const {
  if (!(tolerance >= 0 && tolerance < 1))
    throw Error(ErrorKind::usage, {.what = format("a norm to {} of itself", tolerance),
                                   .where = {},
                                   .why = "the tolerance is a share",
                                   .hint = "give for example 0.001"});
  constexpr int maximum_steps = 1000;
  constexpr double rounding = 1e-7;
  // A of the voxel model is Joseph's, and its own A' does not lead to the singular vector.
  const ScanOperator& given = *parts_->scan;
  std::unique_ptr<ScanOperator> matched;
  if (given.options().model == RayModel::voxel)
    matched = std::make_unique<ScanOperator>(
        given.geometry(), given.grid(), OperatorOptions{.model = RayModel::joseph, .compute = given.options().compute},
        ForcedCut{}, given.shared_machines());
  const ScanOperator& a = matched ? *matched : given;
  std::vector<float> volume(static_cast<std::size_t>(voxels()), 1.0F), lines(static_cast<std::size_t>(values()));
  double found = 0, grown = 0;
  for (int step = 0; step < maximum_steps; ++step) {
    const double scale = length(volume);
    if (!(scale > 0)) return 0;  // no ray meets the volume
    for (float& voxel : volume) voxel = static_cast<float>(static_cast<double>(voxel) / scale);
    a.forward(volume.data(), lines.data(), ArrayPlace::host);
    const double now = length(lines), grows = now - found, factor = grown > 0 ? grows / grown : 1;
    const bool settled = grows <= rounding * now || (factor < 1 && grows * factor / (1 - factor) <= tolerance * now);
    found = now;
    grown = grows;
    if (step > 1 && settled) break;
    a.adjoint(lines.data(), volume.data(), ArrayPlace::host);
  }
  return found;
}

}  // namespace lepus
