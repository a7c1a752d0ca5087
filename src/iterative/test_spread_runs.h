// SPDX-License-Identifier: Apache-2.0
// For tests: methods whose vectors lie partly on a device and partly on the host have the bits of those whose vectors
// lie on the device.
#pragma once

#include <cstdlib>

#include <gtest/gtest.h>

#include "iterative/test_method_runs.h"
#include "operators/test_spread.h"

namespace lepus::method_runs {

// Each method plain or with all that there is, by turns; both where LEPUS_METHODS=all.
inline void check_spread_runs(const char* backend) {
  OperatorOptions options = operator_cases::on(backend, RayModel::joseph);
  options.compute.threads = 1;  // each takes memory of its own
  const bool both = std::getenv("LEPUS_METHODS") != nullptr;
  bool turn = false;
  for (const MethodKind& kind : method_kinds()) {
    turn = !turn;
    for (const bool full : {false, true}) {
      if (!both && full != turn) continue;
      Choice choice = choice_of(kind);
      choice.weighted = full && kind.weights != MethodKind::Weights::refused;
      choice.masked = full;
      choice.spare_bytes = full ? 1 << 30 : 0;
      choice.scan.grid = centred_grid(80, 80, 64, {0.225, 0.225, 0.25});  // larger than what the operator needs
      const auto& [name, geometry, grid] = choice.scan;
      const Outcome expected = run(choice, *make_scan_map(geometry, grid, options, {}));
      EXPECT_GT(expected.residuals.size(), 0U);
      const auto maps = operator_cases::spread_maps(geometry, grid, options, 2 * geometry.rows * geometry.columns * 4);
      EXPECT_GE(maps.size(), 3U);  // the thinnest pieces, some volumes, more
      for (const auto& map : maps)
        EXPECT_TRUE(run(choice, *map) == expected)
            << kind.name << ", " << map->vector_memory()->volumes_on_device() << (full ? ", weighted, masked" : "");
    }
  }
}

}  // namespace lepus::method_runs
