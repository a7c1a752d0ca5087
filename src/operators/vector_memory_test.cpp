// SPDX-License-Identifier: Apache-2.0
#include "operators/vector_memory.h"

#include <gtest/gtest.h>

#include "device/host/test_host.h"
#include "operators/test_spread.h"

namespace lepus {
namespace {

using namespace operator_cases;

TEST(VectorMemory, PutsPartsAndVolumesOnTheDeviceWhileThereIsRoom) {
  TestHost host(1);
  VectorMemory memory(host.device(), 3600, {.volume_bytes = 1000, .part_bytes = 100});
  EXPECT_EQ(memory.volumes_on_device(), 2);
  EXPECT_EQ(memory.operator_bytes(), 3600 - 2 * 1000 - 3 * 100);
  const Block lines = memory.allocate(1500), part = memory.allocate(100), shorter = memory.allocate(80);
  EXPECT_FALSE(memory.on_device(lines.get()));
  EXPECT_TRUE(memory.on_device(part.get()));
  EXPECT_TRUE(memory.on_device(shorter.get()));
  Block first = memory.allocate(1000);
  const Block second = memory.allocate(1000), third = memory.allocate(1000);
  EXPECT_TRUE(memory.on_device(first.get()));
  EXPECT_TRUE(memory.on_device(second.get()));
  EXPECT_FALSE(memory.on_device(third.get()));
  first.reset();
  EXPECT_TRUE(memory.on_device(memory.allocate(1000).get()));
}

TEST(VectorMemory, LeavesTheOperatorAThird) {
  TestHost host(1);
  for (const std::int64_t bytes : {500, 1500, 4000, 100000}) {
    const VectorMemory memory(host.device(), bytes, {.volume_bytes = 1000, .part_bytes = 300});
    EXPECT_GE(3 * memory.operator_bytes(), bytes);
  }
}

// The map's slabs are those of A', whichever they are; volumes may lie in either place.
TEST(VectorMemory, MapGivesTheBitsOfTheOperator) {
  for (const Case& c : cases()) {
    const OperatorOptions options = on("cpu", RayModel::joseph);
    const Operator op(c.geometry, c.grid, options);
    const std::vector<float> x = random_values(op.voxels(), 1), y = random_values(op.values(), 2);
    std::vector<float> ax(y.size()), aty(x.size());
    op.forward(x, ax);
    op.adjoint(y, aty);
    for (const auto& map : spread_maps(c.geometry, c.grid, options, op.values() / 2)) {
      const std::int64_t volumes = map->vector_memory()->volumes_on_device();
      Queue& queue = map->queue();
      const auto copy_of = [&](const std::vector<float>& values) {
        Block block = map->vector_block(std::ssize(values));
        map->home().copy(block.get(), values.data(), std::ssize(values) * 4, queue);
        return block;
      };
      const auto same = [&](const Block& block, const std::vector<float>& expected) {
        std::vector<float> found(expected.size());
        map->home().copy(found.data(), block.get(), std::ssize(found) * 4, queue);
        queue.wait();
        return found == expected;
      };
      const auto floats = [](const Block& block) { return reinterpret_cast<float*>(block.get()); };
      const Block there = copy_of(x), data = copy_of(y), out = map->vector_block(std::ssize(y));
      const Block back = map->vector_block(std::ssize(x));
      map->forward(floats(there), floats(out));
      EXPECT_TRUE(same(out, ax)) << c.name << ", " << volumes;
      map->adjoint(floats(data), floats(back));
      EXPECT_TRUE(same(back, aty)) << c.name << ", " << volumes;
      Block work;
      const Block by_slabs = map->vector_block(std::ssize(x));
      std::int64_t slices = 0;
      map->adjoint_by_slabs(floats(data), work, [&](const float* voxels, SlabRange slab) {
        const std::int64_t slice = c.grid.nx * c.grid.ny;
        map->home().copy(floats(by_slabs) + slab.z0 * slice, voxels, slab.slices() * slice * 4, queue);
        slices += slab.slices();
      });
      EXPECT_EQ(slices, c.grid.nz);
      EXPECT_TRUE(same(by_slabs, aty)) << c.name << ", " << volumes;
    }
  }
}

}  // namespace
}  // namespace lepus
