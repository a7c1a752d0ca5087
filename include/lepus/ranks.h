// SPDX-License-Identifier: Apache-2.0
// The processes ("ranks") that work on one run together: who this one is, how all agree, how they share counters and
// exchange slices. No type of MPI: that is in a module of its own, liblepus_mpi.so, which open_ranks() loads where
// mpirun or srun started this process. The plain program neither needs nor starts MPI.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <lepus/export.h>
#include <lepus/progress.h>

namespace lepus {

// Numbers that all ranks share, all 0 at the start: these, and one for each rank, which run/rank_work.h uses as queues.
enum SharedCounter : int { steps_done, failed_ranks, first_queue };

class LEPUS_API Ranks {
public:
  virtual ~Ranks() = default;  // by all ranks together
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual int node_rank() const = 0;  // among the ranks of this node
  virtual int node_size() const = 0;
  virtual const std::string& node() const = 0;     // its name
  virtual const std::string& library() const = 0;  // "Open MPI v4.1.4"; "" where there is one process

  // By all ranks, in the same order. They wait without keeping a core busy.
  virtual void barrier() = 0;
  virtual std::string broadcast(const std::string& text) = 0;            // what rank 0 gives, to all
  virtual std::vector<std::string> gather(const std::string& mine) = 0;  // what each gives, by rank, to all

  // By any thread of any rank at any time. Adds, and returns what the counter was before.
  virtual std::int64_t fetch_add(int counter, std::int64_t value) = 0;
  // One matches one with the same tag, 0 ... 32767; both return when the numbers have arrived or are on their way.
  virtual void send(int to, int tag, const float* values, std::int64_t count) = 0;
  virtual void receive(int from, int tag, float* values, std::int64_t count) = 0;
  // Sends to one and receives from another at once, so that all can do so in a circle. No more than message_values.
  virtual void exchange(int to, const float* out, std::int64_t out_count, int from, float* in,
                        std::int64_t in_count) = 0;
  static constexpr std::int64_t message_values = 1 << 20;

  // Ends all ranks at once, wherever they are.
  [[noreturn]] virtual void abort(int exit_code) = 0;

  bool alone() const { return size() == 1; }
  bool first() const { return rank() == 0; }
  std::string name() const { return "rank " + std::to_string(rank()) + " on " + node(); }
};

LEPUS_API std::unique_ptr<Ranks> one_rank();

// Who started this process as one of several: "mpirun", "srun --mpi=pmix"; "" where nobody did.
LEPUS_API std::string launcher();

// As the launcher made them. Throws Error(unsupported) where the module is not there or is of another version of lepus,
// and Error(usage) where srun started several processes without a way for them to meet.
LEPUS_API std::unique_ptr<Ranks> open_ranks();

// All cores, shared with the node's other ranks; where the launcher bound this one to some, these. 0: as many as there
// are.
LEPUS_API int threads_of_rank(const Ranks& ranks);

// Progress of all ranks, shown once: rank 0 shows its own, and in the stage that all share what all have done; the
// others only count. Warnings of the others are kept for the end, when rank 0 gives those that it has not given itself.
class LEPUS_API RankProgress : public Progress {
public:
  virtual void give_warnings_of_all() = 0;  // by all ranks
};
// shared_stage: its steps are those of all ranks together.
LEPUS_API std::unique_ptr<RankProgress> progress_of_ranks(Ranks& ranks, Progress& shown, std::string shared_stage);

}  // namespace lepus
