// SPDX-License-Identifier: Apache-2.0
// Memory, queues and errors of an OpenCL device. What a machine may lack is tried with tables of OpenCL's functions in
// which one answers differently.
#include <cstring>
#include <numeric>
#include <vector>

#include "device/opencl/program.h"
#include "device/opencl/queue.h"
#include "../parity/harness.h"
#include "opencl_fixture.h"
#include <lepus/error.h>

namespace lepus::opencl {
namespace {

std::vector<std::uint8_t> bytes_from(std::size_t count, int first) {
  std::vector<std::uint8_t> bytes(count);
  std::iota(bytes.begin(), bytes.end(), static_cast<std::uint8_t>(first));
  return bytes;
}

template <class Call>
Error error_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return {ErrorKind::usage, {}};
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_F(OpenclTest, says_what_it_is) {
  EXPECT_EQ(device->info().kind, "opencl");
  EXPECT_FALSE(device->info().name.empty());
  EXPECT_TRUE(device->info().why_not.empty());
  EXPECT_GT(device->free_bytes(), 0);
  EXPECT_LE(device->memory_limit_bytes(), device->free_bytes());
  EXPECT_EQ(list_devices(*tested_library()).front().name, device->info().name);
  EXPECT_GE(device_count(), 1);
}

TEST_F(OpenclTest, copies_between_any_two_places_at_any_offset) {
  const auto sent = bytes_from(1000, 3);
  const Block a = device->allocate(1000), b = device->allocate(1200);
  const Block pinned = device->allocate(1000, Place::host);
  device->copy(a.get(), sent.data(), 1000, *queue);
  device->clear(b.get(), 1200, *queue);
  device->copy(b.get() + 101, a.get() + 1, 999, *queue);
  device->copy(pinned.get(), b.get() + 101, 999, *queue);
  queue->wait();
  EXPECT_EQ(std::memcmp(pinned.get(), sent.data() + 1, 999), 0);
  std::vector<std::uint8_t> all(1200, 9);
  device->copy(all.data(), b.get(), 1200, *queue);
  for (std::size_t i = 0; i < all.size(); ++i)
    ASSERT_EQ(all[i], i < 101 || i >= 1100 ? 0 : sent[i - 100]) << "byte " << i;
  device->clear(b.get() + 333, 3, *queue);
  device->copy(all.data(), b.get() + 332, 5, *queue);
  EXPECT_EQ(all[0], sent[232]);
  EXPECT_EQ(all[1] + all[2] + all[3], 0);
  EXPECT_EQ(all[4], sent[236]);
  EXPECT_TRUE(device->copies_fast(pinned.get()));
}

TEST_F(OpenclTest, addresses_stand_for_one_buffer_and_nothing_beyond_it) {
  const Block a = device->allocate(100), b = device->allocate(100);
  EXPECT_EQ(context().resolve(a.get() + 40).offset, 40);
  EXPECT_EQ(context().resolve(a.get() + 40).left, 60);
  EXPECT_NE(context().resolve(a.get()).memory, context().resolve(b.get()).memory);
  EXPECT_EQ(context().resolve(a.get() + 100).kind, Context::Kind::plain);
  const std::vector<std::byte> host(200);
  EXPECT_EQ(error_of([&] { device->copy(a.get() + 1, host.data(), 100, *queue); }).kind(), ErrorKind::internal);
}

TEST(OpenclDeathTest, touching_device_memory_on_the_host_crashes) {
  if (!why_unusable(tested_library()).empty()) GTEST_SKIP() << "no OpenCL";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        OpenclDevice device(tested_library(), 0);
        const Block block = device.allocate(64);
        *reinterpret_cast<volatile char*>(block.get()) = 1;
      },
      "");
}

TEST_F(OpenclTest, scratch_is_given_back_in_scopes) {
  float* first = nullptr;
  {
    const ScratchScope outer(*queue);
    first = queue->scratch<float>(10);
    float* const second = queue->scratch<float>(1000);
    EXPECT_NE(second, first);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(second) % 256, 0U);
    const ScratchScope inner(*queue);
    EXPECT_NE(queue->scratch<float>(5'000'000), nullptr);  // more than the first block
  }
  const ScratchScope again(*queue);
  EXPECT_EQ(queue->scratch<float>(10), first);
}

TEST_F(OpenclTest, queues_wait_for_each_others_events) {
  const auto other = device->make_queue(QueueRank::usual);
  const auto sent = bytes_from(1 << 20, 1);
  const Block from = device->allocate(1 << 20), to = device->allocate(1 << 20);
  const auto start = device->make_event(Timing::on), copied = device->make_event(Timing::on);
  start->wait();  // never marked: reached
  start->mark(*queue);
  device->copy(from.get(), sent.data(), 1 << 20, *queue);
  copied->mark(*queue);
  other->after(*copied);
  device->copy(to.get(), from.get(), 1 << 20, *other);
  other->wait();
  std::vector<std::uint8_t> got(sent.size());
  device->copy(got.data(), to.get(), 1 << 20, *queue);
  EXPECT_EQ(got, sent);
  EXPECT_GE(copied->seconds_since(*start), 0.0);
}

TEST_F(OpenclTest, keeps_the_limit_it_was_given) {
  OpenclDevice limited(tested_library(), 0, Precision::exact, context().allocated_bytes() + (1 << 20));
  const Block part = limited.allocate(700 << 10);
  const Error error = error_of([&] { (void)limited.allocate(700 << 10); });
  EXPECT_EQ(error.kind(), ErrorKind::memory);
  EXPECT_TRUE(has(error.what(), "1.0 MiB")) << error.what();
}

TEST_F(OpenclTest, a_kernel_that_does_not_compile_shows_the_build_log) {
  const Error error = error_of(
      [&] { context().program_of_text("broken", "__kernel void broken() { undeclared_name = 1; }", "-DBROKEN"); });
  EXPECT_TRUE(has(error.what(), "undeclared_name")) << error.what();
  EXPECT_TRUE(has(error.what(), "-DBROKEN")) << error.what();
  EXPECT_TRUE(has(error.what(), "broken does not compile")) << error.what();
  EXPECT_THROW(KernelCall(context(), context().program("probe", ""), "no_such_kernel"), Error);
}

// A table in which a device says otherwise of one thing. Functions of a table are plain, so what they answer is static.
cl_device_info answered = 0;
cl_ulong answer = 0;
cl_int CL_API_CALL other_answer(cl_device_id id, cl_device_info what, std::size_t bytes, void* to, std::size_t* size) {
  if (what != answered) return library()->GetDeviceInfo(id, what, bytes, to, size);
  std::memcpy(to, &answer, bytes);  // little-endian: the first bytes hold it
  return CL_SUCCESS;
}

std::string why_with(cl_device_info what, cl_ulong value) {
  static Library changed;
  changed = *library();
  changed.GetDeviceInfo = other_answer;
  answered = what;
  answer = value;
  const Error error = error_of([] { require_device(&changed, 0); });
  EXPECT_EQ(error.kind(), ErrorKind::unsupported);
  EXPECT_TRUE(has(error.what(), "--backend cpu")) << error.what();
  return error.parts().why;
}

TEST_F(OpenclTest, says_why_a_device_cannot_be_used) {
  EXPECT_TRUE(has(why_with(CL_DEVICE_IMAGE_SUPPORT, CL_FALSE), "no images"));
  EXPECT_TRUE(has(why_with(CL_DEVICE_GLOBAL_MEM_SIZE, 64 << 20), "64.0 MiB of memory"));
  EXPECT_TRUE(has(why_with(CL_DEVICE_AVAILABLE, CL_FALSE), "not available"));
  EXPECT_TRUE(has(why_with(CL_DEVICE_COMPILER_AVAILABLE, CL_FALSE), "no compiler"));
  EXPECT_TRUE(has(why_with(CL_DEVICE_LOCAL_MEM_SIZE, 1 << 10), "of local"));
  EXPECT_THROW(require_device(tested_library(), 99), Error);
}

// A device with no more local memory than lepus asks for: the row filter's outer steps run in global memory, with the
// same errors (rings: rings_opencl_test.cpp).
bool outer_steps = false;
TEST_F(OpenclTest, little_local_memory_is_enough) {
  static Library little;
  little = *library();
  little.GetDeviceInfo = other_answer;
  little.CreateKernel = [](cl_program program, const char* name, cl_int* status) {
    outer_steps = outer_steps || std::strcmp(name, "outer_step") == 0;
    return library()->CreateKernel(program, name, status);
  };
  answered = CL_DEVICE_LOCAL_MEM_SIZE;
  answer = 16 << 10;
  Devices one;
  one.push_back(std::make_unique<OpenclDevice>(&little, 0));
  parity::Machine machine(std::move(one));
  for (const parity::Operation& operation : parity::operations())
    if (operation.name == "row filter") check_against_truth(operation, machine);
  EXPECT_TRUE(outer_steps);
}

TEST_F(OpenclTest, a_platform_without_devices_is_said) {
  static Library none;
  none = *library();
  none.GetDeviceIDs = [](cl_platform_id, cl_device_type, cl_uint, cl_device_id*, cl_uint*) -> cl_int {
    return CL_DEVICE_NOT_FOUND;
  };
  EXPECT_TRUE(has(why_unusable(&none), "without a device")) << why_unusable(&none);
  EXPECT_THROW(require_device(&none, 0), Error);
}

TEST_F(OpenclTest, a_device_that_is_lost_is_one_clear_error) {
  static Library failing;
  failing = *library();
  OpenclDevice lost(&failing, 0);
  const auto its_queue = lost.make_queue(QueueRank::usual);
  const Block memory = lost.allocate(64);
  failing.Finish = [](cl_command_queue) -> cl_int { return CL_DEVICE_NOT_AVAILABLE; };
  const Error error = error_of([&] { its_queue->wait(); });
  EXPECT_TRUE(has(error.what(), "device was lost")) << error.what();
  EXPECT_TRUE(has(error.what(), "CL_DEVICE_NOT_AVAILABLE")) << error.what();
  EXPECT_TRUE(has(error.what(), lost.info().name)) << error.what();
  failing.Finish = library()->Finish;
}

}  // namespace
}  // namespace lepus::opencl
