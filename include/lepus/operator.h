// SPDX-License-Identifier: Apache-2.0
// The scan as a linear operator A: a volume (nz x ny x nx, x fastest, in 1/mm) to the line integrals that the detector
// would measure (views x rows x columns, u fastest, dimensionless), and its transpose. What iterative methods are made
// of. docs/operators.md says which model to take when.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <lepus/compute.h>
#include <lepus/export.h>
#include <lepus/geometry.h>

namespace lepus {

enum class RayModel {
  joseph,     // a ray samples planes of voxels, linear between neighbours; A' is its exact transpose
  siddon,     // the length of the ray in each voxel; A' is its exact transpose
  footprint,  // the mean over a pixel's area of the lengths in voxels; A' is its exact transpose
  voxel,      // A as joseph; A' samples the views at each voxel's centre: fast, and not the transpose of A
};

struct OperatorOptions {
  RayModel model = RayModel::joseph;
  Compute compute = {};  // half counts as fast
};

// Where an operator's arrays lie.
enum class ArrayPlace { host, device };

class LEPUS_API Operator {
public:
  // Throws Error(usage) for a grid or scan that is empty or no numbers, Error(geometry) for matrices that cannot be
  // used.
  Operator(const ScanGeometry& geometry, const VolumeGrid& grid, const OperatorOptions& options = {});
  ~Operator();
  Operator(Operator&&) noexcept;
  Operator& operator=(Operator&&) noexcept;

  const ScanGeometry& geometry() const;
  const VolumeGrid& grid() const;
  std::int64_t voxels() const;              // of a volume
  std::int64_t values() const;              // of its line integrals
  std::string description() const;          // the kernels that run, and where
  std::vector<DeviceInfo> devices() const;  // that compute

  // y = A x and x = A' y. Arrays in host memory, or both in memory of the operator's only device, which is then not
  // copied. Throws Error(usage) where an array has another size, or where the two overlap. Any thread may call: those
  // of an operator and its subsets wait for each other.
  void forward(std::span<const float> volume, std::span<float> line_integrals,
               ArrayPlace place = ArrayPlace::host) const;
  void adjoint(std::span<const float> line_integrals, std::span<float> volume,
               ArrayPlace place = ArrayPlace::host) const;
  // Arrays of a device are worked on in the order of the calls, which return before that is done: until here.
  void wait() const;

  // The operator of some of the views, in the order given; it shares the devices.
  Operator subset(std::span<const std::int64_t> views) const;
  // The largest singular value of A, by power iterations from a fixed start; from below, to about `tolerance` of it.
  double norm(double tolerance = 1e-3) const;

private:
  struct Parts;
  explicit Operator(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace lepus
