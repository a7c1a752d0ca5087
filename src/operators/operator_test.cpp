// SPDX-License-Identifier: Apache-2.0
// What the API promises beside the numbers: sizes, subsets, the norm, and what is refused.
#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "operators/scan_map.h"
#include "operators/sparse_matrix.h"
#include "operators/test_scans.h"
#include <lepus/error.h>

namespace lepus {
namespace {

using namespace operator_cases;

TEST(lepus_operator, subsets_are_parts) {
  const Case c = cases().front();
  for (const RayModel model : all_models) {
    const Operator all(c.geometry, c.grid, on("cpu", model));
    const std::int64_t picked[] = {4, 0, 3};
    const Operator some = all.subset(picked);
    const std::int64_t view = c.geometry.rows * c.geometry.columns;
    ASSERT_EQ(some.values(), 3 * view);
    const std::vector<float> x = random_values(all.voxels(), 1);
    std::vector<float> whole(static_cast<std::size_t>(all.values())), part(static_cast<std::size_t>(some.values()));
    all.forward(x, whole);
    some.forward(x, part);
    for (std::int64_t i = 0; i < 3 * view; ++i)
      ASSERT_EQ(part[static_cast<std::size_t>(i)], whole[static_cast<std::size_t>(picked[i / view] * view + i % view)]);
  }
}

// Power iterations in double precision on the matrix itself.
TEST(lepus_operator, norm_is_the_largest_singular_value) {
  const Case c = cases().back();
  ThreadPool threads(1);
  const SparseMatrix a = sparse_matrix(c.geometry, c.grid, RayModel::joseph, 1 << 28, threads);
  std::vector<double> x(static_cast<std::size_t>(a.columns), 1.0);
  double singular = 0;
  for (int step = 0; step < 300; ++step) {
    std::vector<double> back(x.size(), 0.0);
    double squares = 0, scale = 0;
    for (const double value : x) scale += value * value;
    for (std::size_t row = 0; row < static_cast<std::size_t>(a.rows); ++row) {
      double sum = 0;
      for (auto i = static_cast<std::size_t>(a.starts[row]); i < static_cast<std::size_t>(a.starts[row + 1]); ++i)
        sum += static_cast<double>(a.values[i]) * x[static_cast<std::size_t>(a.indices[i])];
      for (auto i = static_cast<std::size_t>(a.starts[row]); i < static_cast<std::size_t>(a.starts[row + 1]); ++i)
        back[static_cast<std::size_t>(a.indices[i])] += static_cast<double>(a.values[i]) * sum;
      squares += sum * sum;
    }
    singular = std::sqrt(squares / scale);
    for (double& value : back) value /= squares;
    x = back;
  }
  for (const RayModel model : {RayModel::joseph, RayModel::voxel}) {  // their A is the same
    const double found = Operator(c.geometry, c.grid, on("cpu", model)).norm(1e-4);
    EXPECT_NEAR(found, singular, 1e-4 * singular);
    EXPECT_LE(found, singular * (1 + 1e-6));
  }
}

TEST(lepus_operator, is_used_by_several_threads_as_by_one) {
  const Case c = cases().front();
  for (const RayModel model : all_models) {
    OperatorOptions options = on("cpu", model);
    options.compute.threads = 2;
    const Operator all(c.geometry, c.grid, options);
    const std::int64_t picked[] = {4, 0, 3};
    const Operator some = all.subset(picked);
    const std::vector<float> x = random_values(all.voxels(), 1);
    const auto projected = [&](const Operator& a) {
      std::vector<float> lines(static_cast<std::size_t>(a.values())), back(x.size());
      a.forward(x, lines);
      a.adjoint(lines, back);
      return back;
    };
    const std::vector<float> of_all = projected(all), of_some = projected(some);
    std::vector<std::jthread> threads;
    std::atomic<int> wrong = 0;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&, i] {
        for (int again = 0; again < 20; ++again)
          if (projected(i % 2 == 0 ? all : some) != (i % 2 == 0 ? of_all : of_some)) ++wrong;
      });
    threads.clear();
    EXPECT_EQ(wrong, 0) << name_of(model);
  }
}

TEST(lepus_operator, rays_that_miss_are_zero) {
  Case c = cases().front();
  c.grid.origin_mm = {500, 500, 500};
  for (const RayModel model : all_models) {
    const Operator op(c.geometry, c.grid, on("cpu", model));
    const std::vector<float> x(static_cast<std::size_t>(op.voxels()), 1.0F),
        y(static_cast<std::size_t>(op.values()), 1.0F);
    std::vector<float> ax(y.size(), NAN), aty(x.size(), NAN);
    op.forward(x, ax);
    op.adjoint(y, aty);
    for (const float value : ax) ASSERT_EQ(value, 0.0F) << name_of(model);
    for (const float value : aty) ASSERT_EQ(value, 0.0F) << name_of(model);
    EXPECT_EQ(op.norm(), 0.0);
  }
}

TEST(lepus_operator, refuses) {
  const Case c = cases().front();
  const OperatorOptions options = on("cpu", RayModel::joseph);
  EXPECT_THROW(Operator(c.geometry, VolumeGrid{}, options), Error);
  EXPECT_THROW(Operator(ScanGeometry{}, c.grid, options), Error);
  VolumeGrid flat = c.grid;
  flat.step_mm.y = 0;
  EXPECT_THROW(Operator(c.geometry, flat, options), Error);
  VolumeGrid nowhere = c.grid;
  nowhere.origin_mm.x = NAN;
  EXPECT_THROW(Operator(c.geometry, nowhere, options), Error);
  ScanGeometry countless = c.geometry;
  countless.columns = countless.rows = std::int64_t{1} << 32;
  EXPECT_THROW(Operator(countless, c.grid, options), Error);
  ScanGeometry broken = c.geometry;
  broken.matrices[2](1, 1) = NAN;
  EXPECT_THROW(Operator(broken, c.grid, options), Error);
  EXPECT_THROW(Operator(c.geometry, c.grid, on("cp", RayModel::joseph)), Error);

  const Operator op(c.geometry, c.grid, options);
  std::vector<float> x(static_cast<std::size_t>(op.voxels())), y(static_cast<std::size_t>(op.values()) - 1);
  EXPECT_THROW(op.forward(x, y), Error);
  EXPECT_THROW(op.adjoint(y, x), Error);
  std::vector<float> both(static_cast<std::size_t>(std::max(op.voxels(), op.values())));
  const std::span<float> same(both);
  EXPECT_THROW(
      op.adjoint(same.first(static_cast<std::size_t>(op.values())), same.first(static_cast<std::size_t>(op.voxels()))),
      Error);
  EXPECT_THROW(op.subset({}), Error);
  const std::int64_t beyond[] = {0, 6};
  EXPECT_THROW(op.subset(beyond), Error);
}

TEST(lepus_operator, map_of_the_methods_is_the_operator) {
  const Case c = cases().front();
  const OperatorOptions options = on("cpu", RayModel::joseph);
  const Operator op(c.geometry, c.grid, options);
  const auto map = make_scan_map(c.geometry, c.grid, options, {});
  ASSERT_EQ(map->voxels(), op.voxels());
  ASSERT_EQ(map->values(), op.values());
  const std::vector<float> x = random_values(op.voxels(), 1);
  std::vector<float> a(static_cast<std::size_t>(op.values())), b(a.size()), back_a(x.size()), back_b(x.size());
  op.forward(x, a);
  map->forward(x.data(), b.data());
  EXPECT_EQ(a, b);
  op.adjoint(a, back_a);
  map->adjoint(b.data(), back_b.data());
  EXPECT_EQ(back_a, back_b);
  const std::int64_t odd[] = {1, 3, 5};
  EXPECT_EQ(map->subset(odd)->views(), 3);
}

}  // namespace
}  // namespace lepus
