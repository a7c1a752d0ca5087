// SPDX-License-Identifier: Apache-2.0
// The module liblepus_mpi.so: Ranks by MPI, the one file that knows it. MPI's own error handler ends all ranks where a
// call fails, so that none of them is looked at here.
#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <mutex>
#include <thread>

#define OMPI_SKIP_MPICXX 1  // the old C++ bindings
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include "ranks/module.h"
#include <lepus/version.h>

namespace lepus {
namespace {

// MPI's own waiting keeps a core busy, which a rank that still computes has better use for.
void wait_for(MPI_Request& request) {
  auto pause = std::chrono::microseconds(20);
  for (int done = 0;;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done) return;
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, std::chrono::microseconds(1000));
  }
}

class MpiRanks final : public Ranks {
public:
  MpiRanks() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    MPI_Comm on_node = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &on_node);
    MPI_Comm_rank(on_node, &node_rank_);
    MPI_Comm_size(on_node, &node_size_);
    MPI_Comm_free(&on_node);
    // Slices travel on a communicator of their own, apart from collective calls.
    MPI_Comm_dup(MPI_COMM_WORLD, &slices_);
    std::string text(MPI_MAX_PROCESSOR_NAME, ' ');
    int length = 0;
    MPI_Get_processor_name(text.data(), &length);
    node_ = text.substr(0, static_cast<std::size_t>(length));
    text.assign(MPI_MAX_LIBRARY_VERSION_STRING, ' ');
    MPI_Get_library_version(text.data(), &length);
    library_ = text.substr(0, std::min(static_cast<std::size_t>(length), text.find(',')));
    const int counters = first_queue + size_;
    const MPI_Aint bytes = rank_ == 0 ? counters * static_cast<MPI_Aint>(sizeof(std::int64_t)) : 0;
    std::int64_t* values = nullptr;
    MPI_Win_allocate(bytes, sizeof(std::int64_t), MPI_INFO_NULL, MPI_COMM_WORLD, &values, &window_);
    if (rank_ == 0) {
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window_);
      std::fill(values, values + counters, 0);
      MPI_Win_unlock(0, window_);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
  }
  ~MpiRanks() override {
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
    MPI_Comm_free(&slices_);
    MPI_Finalize();
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int node_rank() const override { return node_rank_; }
  int node_size() const override { return node_size_; }
  const std::string& node() const override { return node_; }
  const std::string& library() const override { return library_; }

  void barrier() override {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    wait_for(request);
  }

  std::string broadcast(const std::string& text) override {
    std::string common = rank_ == 0 ? text : "";
    auto length = static_cast<long long>(common.size());
    MPI_Bcast(&length, 1, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
    common.resize(static_cast<std::size_t>(length));
    MPI_Bcast(common.data(), static_cast<int>(length), MPI_CHAR, 0, MPI_COMM_WORLD);
    return common;
  }

  // Where one rank is late the others wait here, too.
  std::vector<std::string> gather(const std::string& mine) override {
    barrier();
    const auto size = static_cast<std::size_t>(size_);
    const int length = static_cast<int>(mine.size());
    std::vector<int> lengths(size), starts(size);
    MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, MPI_COMM_WORLD);
    for (std::size_t i = 1; i < size; ++i) starts[i] = starts[i - 1] + lengths[i - 1];
    std::string all(static_cast<std::size_t>(starts.back() + lengths.back()), ' ');
    MPI_Allgatherv(mine.data(), length, MPI_CHAR, all.data(), lengths.data(), starts.data(), MPI_CHAR, MPI_COMM_WORLD);
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < size; ++i)
      texts.push_back(all.substr(static_cast<std::size_t>(starts[i]), static_cast<std::size_t>(lengths[i])));
    return texts;
  }

  std::int64_t fetch_add(int counter, std::int64_t value) override {
    const std::lock_guard lock(mutex_);
    std::int64_t before = 0;
    MPI_Fetch_and_op(&value, &before, MPI_INT64_T, 0, counter, MPI_SUM, window_);
    MPI_Win_flush(0, window_);
    return before;
  }

  void send(int to, int tag, const float* values, std::int64_t count) override {
    in_messages(count, [&](std::int64_t at, int n, MPI_Request* request) {
      MPI_Isend(values + at, n, MPI_FLOAT, to, tag, slices_, request);
    });
  }
  void receive(int from, int tag, float* values, std::int64_t count) override {
    in_messages(count, [&](std::int64_t at, int n, MPI_Request* request) {
      MPI_Irecv(values + at, n, MPI_FLOAT, from, tag, slices_, request);
    });
  }

  void exchange(int to, const float* out, std::int64_t out_count, int from, float* in, std::int64_t in_count) override {
    MPI_Request sent = MPI_REQUEST_NULL, received = MPI_REQUEST_NULL;
    if (in_count > 0) MPI_Irecv(in, static_cast<int>(in_count), MPI_FLOAT, from, 0, slices_, &received);
    if (out_count > 0) MPI_Isend(out, static_cast<int>(out_count), MPI_FLOAT, to, 0, slices_, &sent);
    wait_for(received);
    wait_for(sent);
  }

  [[noreturn]] void abort(int exit_code) override {
    MPI_Abort(MPI_COMM_WORLD, exit_code);
    std::_Exit(exit_code);
  }

private:
  // MPI counts in int.
  template <class Post>
  static void in_messages(std::int64_t count, const Post& post) {
    constexpr std::int64_t most = INT_MAX / 4;
    for (std::int64_t at = 0; at < count; at += most) {
      MPI_Request request = MPI_REQUEST_NULL;
      post(at, static_cast<int>(std::min(most, count - at)), &request);
      wait_for(request);
    }
  }

  int rank_ = 0, size_ = 1, node_rank_ = 0, node_size_ = 1;
  std::string node_, library_;
  MPI_Comm slices_ = MPI_COMM_NULL;
  MPI_Win window_ = MPI_WIN_NULL;
  std::mutex mutex_;
};

}  // namespace
}  // namespace lepus

extern "C" __attribute__((visibility("default"))) lepus::Ranks* lepus_open_ranks(const char* version,
                                                                                 std::string& why) {
  if (std::string(version) != lepus::version) {
    why = "the module is of lepus " + std::string(lepus::version) + ", the program of " + version;
    return nullptr;
  }
  int threads = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &threads);
  if (threads < MPI_THREAD_MULTIPLE) {
    MPI_Finalize();
    why = "this MPI was built without threads (MPI_THREAD_MULTIPLE)";
    return nullptr;
  }
  return new lepus::MpiRanks();
}
