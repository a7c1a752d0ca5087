// SPDX-License-Identifier: Apache-2.0
// Where the loader finds no driver (CMake points it at an empty folder) lepus says so.
#include "opencl_fixture.h"
#include <lepus/error.h>

namespace lepus::opencl {
namespace {

TEST(OpenclWithoutPlatform, is_said) {
  const std::string why = why_unusable(tested_library());
  EXPECT_TRUE(why.find("no platform") != std::string::npos || why.find("no OpenCL loader") != std::string::npos) << why;
  EXPECT_EQ(device_count(), 0);
  try {
    const OpenclDevice device(tested_library(), 0);
    FAIL() << "a device was opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_EQ(error.parts().why, why);
  }
}

}  // namespace
}  // namespace lepus::opencl
