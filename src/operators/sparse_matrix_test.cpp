// SPDX-License-Identifier: Apache-2.0
// The matrix of a small problem: its product is the operator's, and SciPy reads the file.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "operators/sparse_matrix.h"
#include "operators/test_scans.h"
#include <lepus/error.h>

namespace lepus {
namespace {

using namespace operator_cases;

std::vector<float> product(const SparseMatrix& a, const std::vector<float>& x) {
  std::vector<float> y;
  for (std::size_t row = 0; row < static_cast<std::size_t>(a.rows); ++row) {
    double sum = 0;
    for (auto i = static_cast<std::size_t>(a.starts[row]); i < static_cast<std::size_t>(a.starts[row + 1]); ++i)
      sum += static_cast<double>(a.values[i]) * static_cast<double>(x[static_cast<std::size_t>(a.indices[i])]);
    y.push_back(static_cast<float>(sum));
  }
  return y;
}

TEST(sparse_matrix, product_is_the_operator) {
  ThreadPool threads(2);
  for (const Case& c : cases())
    for (const RayModel model : matched_models) {
      const SparseMatrix a = sparse_matrix(c.geometry, c.grid, model, 1 << 28, threads);
      const Operator op(c.geometry, c.grid, on("reference", model));
      const std::vector<float> x = random_values(op.voxels(), 2), found = product(a, x);
      std::vector<float> expected(static_cast<std::size_t>(op.values()));
      op.forward(x, expected);
      const double size = std::sqrt(dot(expected, expected) / static_cast<double>(expected.size()));
      for (std::size_t i = 0; i < found.size(); ++i)
        ASSERT_NEAR(found[i], expected[i], 1e-5 * size) << c.name << ", " << name_of(model) << ", row " << i;
    }
}

TEST(sparse_matrix, is_refused_where_it_is_too_large) {
  const Case c = cases().front();
  ThreadPool threads(1);
  EXPECT_THROW(sparse_matrix(c.geometry, c.grid, RayModel::joseph, 1000, threads), Error);
  EXPECT_THROW(sparse_matrix(ScanGeometry{}, c.grid, RayModel::joseph, 1 << 28, threads), Error);
}

TEST(sparse_matrix, scipy_reads_it) {
  if (std::system("\"" LEPUS_PYTHON "\" -c 'import scipy.sparse' > /dev/null 2>&1") != 0)
    GTEST_SKIP() << "python3-scipy is not installed";
  const Case c = cases().back();
  ThreadPool threads(1);
  const SparseMatrix a = sparse_matrix(c.geometry, c.grid, RayModel::siddon, 1 << 28, threads);
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("lepus_npz_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  write_npz(a, folder / "a.npz", false);
  EXPECT_THROW(write_npz(a, folder / "a.npz", false), Error);
  const std::vector<float> x = random_values(a.columns, 9), expected = product(a, x);
  const auto save = [&](const char* name, const std::vector<float>& values) {
    std::ofstream(folder / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(float)));
  };
  save("x", x);
  save("y", expected);
  std::ofstream(folder / "judge.py")
      << "import sys, numpy as np, scipy.sparse as s\n"
         "d = sys.argv[1] + '/'\n"
         "a = s.load_npz(d + 'a.npz')\n"
         "x, y = (np.fromfile(d + n, np.float32).astype(float) for n in 'xy')\n"
         "assert a.format == 'csr' and a.shape == (y.size, x.size) and a.has_sorted_indices\n"
         "e = a.astype(float) @ x - y\n"
         "sys.exit(0 if np.linalg.norm(e) <= 1e-6 * np.linalg.norm(y) else 1)\n";
  EXPECT_EQ(std::system(("\"" LEPUS_PYTHON "\" " + (folder / "judge.py").string() + " " + folder.string()).c_str()), 0);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace lepus
