// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <atomic>
#include <cstdlib>

#include <lepus/error.h>
#include <lepus/ranks.h>

namespace lepus {
namespace {

class OneRank final : public Ranks {
public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  int node_rank() const override { return 0; }
  int node_size() const override { return 1; }
  const std::string& node() const override { return nothing_; }
  const std::string& library() const override { return nothing_; }
  void barrier() override {}
  std::string broadcast(const std::string& text) override { return text; }
  std::vector<std::string> gather(const std::string& mine) override { return {mine}; }
  std::int64_t fetch_add(int counter, std::int64_t value) override {
    return counters_.at(static_cast<std::size_t>(counter)).fetch_add(value);
  }
  void send(int to, int, const float*, std::int64_t) override { refuse(to); }
  void receive(int from, int, float*, std::int64_t) override { refuse(from); }
  void exchange(int to, const float*, std::int64_t, int, float*, std::int64_t) override { refuse(to); }
  void abort(int exit_code) override { std::_Exit(exit_code); }

private:
  [[noreturn]] static void refuse(int other) {
    throw Error(ErrorKind::internal, {.what = "one process has no other to exchange slices with",
                                      .where = "rank " + std::to_string(other),
                                      .why = {},
                                      .hint = {}});
  }
  std::string nothing_;
  std::array<std::atomic<std::int64_t>, first_queue + 1> counters_{};
};

}  // namespace

std::unique_ptr<Ranks> one_rank() { return std::make_unique<OneRank>(); }

}  // namespace lepus
