// SPDX-License-Identifier: Apache-2.0
// Tests of the backend opencl run on whatever OpenCL finds, in CI on PoCL's CPU device; where there is none they are
// skipped, and say why. Programs that PoCL compiled are kept in the build folder.
#pragma once

#include <cstdlib>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "device/opencl/device.h"

namespace lepus::opencl {

inline const Library* tested_library() {
  setenv("POCL_CACHE_DIR", LEPUS_BINARY_DIR "/pocl_cache", 0);
  return library();
}

class OpenclTest : public ::testing::Test {
protected:
  void SetUp() override {
    const std::string why = why_unusable(tested_library());
    if (!why.empty()) GTEST_SKIP() << "no OpenCL: " << why;
    device = std::make_unique<OpenclDevice>(tested_library(), 0);
    queue = device->make_queue(QueueRank::usual);
  }
  Context& context() const { return device->context(); }

  std::unique_ptr<OpenclDevice> device;
  std::unique_ptr<Queue> queue;
};

// Of what needs double precision.
class DoublesTest : public OpenclTest {
protected:
  void SetUp() override {
    OpenclTest::SetUp();
    if (!IsSkipped() && !context().device().doubles) GTEST_SKIP() << "the device has no double precision";
  }
};

}  // namespace lepus::opencl
