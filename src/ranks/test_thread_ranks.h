// SPDX-License-Identifier: Apache-2.0
// Ranks that are threads of one process, so that what is built on ranks can be tested without MPI.
#pragma once

#include <atomic>
#include <barrier>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <utility>

#include <lepus/ranks.h>

namespace lepus {

struct ThreadWorld {
  explicit ThreadWorld(int ranks)
      : size(ranks),
        meeting(ranks),
        texts(static_cast<std::size_t>(ranks)),
        counters(static_cast<std::size_t>(first_queue + ranks)) {}
  const int size;
  std::barrier<> meeting;
  std::vector<std::string> texts;
  std::vector<std::atomic<std::int64_t>> counters;
  std::mutex mutex;
  std::condition_variable arrived;
  std::map<std::tuple<int, int, int>, std::deque<std::vector<float>>> messages;  // from, to, tag
};

class ThreadRanks final : public Ranks {
public:
  ThreadRanks(ThreadWorld& world, int rank) : world_(world), rank_(rank), node_("node" + std::to_string(rank / 2)) {}
  int rank() const override { return rank_; }
  int size() const override { return world_.size; }
  int node_rank() const override { return rank_ % 2; }
  int node_size() const override { return 2; }
  const std::string& node() const override { return node_; }
  const std::string& library() const override { return library_; }
  void barrier() override { world_.meeting.arrive_and_wait(); }
  std::string broadcast(const std::string& text) override { return gather(text).front(); }
  std::vector<std::string> gather(const std::string& mine) override {
    world_.texts[static_cast<std::size_t>(rank_)] = mine;
    barrier();
    std::vector<std::string> all = world_.texts;
    barrier();
    return all;
  }
  std::int64_t fetch_add(int counter, std::int64_t value) override {
    return world_.counters[static_cast<std::size_t>(counter)].fetch_add(value);
  }
  void send(int to, int tag, const float* values, std::int64_t count) override {
    const std::lock_guard lock(world_.mutex);
    world_.messages[{rank_, to, tag}].emplace_back(values, values + count);
    world_.arrived.notify_all();
  }
  void receive(int from, int tag, float* values, std::int64_t count) override {
    std::unique_lock lock(world_.mutex);
    auto& waiting = world_.messages[{from, rank_, tag}];
    world_.arrived.wait(lock, [&] { return !waiting.empty(); });
    if (static_cast<std::int64_t>(waiting.front().size()) != count) throw std::length_error("another message");
    std::copy(waiting.front().begin(), waiting.front().end(), values);
    waiting.pop_front();
  }
  void exchange(int to, const float* out, std::int64_t out_count, int from, float* in, std::int64_t in_count) override {
    if (out_count > 0) send(to, 0, out, out_count);
    if (in_count > 0) receive(from, 0, in, in_count);
  }
  [[noreturn]] void abort(int) override { throw std::runtime_error("aborted"); }

private:
  ThreadWorld& world_;
  int rank_;
  std::string node_, library_ = "threads";
};

// Runs the work as so many ranks; rethrows what the first of them threw.
inline void as_ranks(int size, const std::function<void(Ranks&)>& work) {
  ThreadWorld world(size);
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(size));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      ThreadRanks ranks(world, rank);
      try {
        work(ranks);
      } catch (...) {
        failures[static_cast<std::size_t>(rank)] = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace lepus
