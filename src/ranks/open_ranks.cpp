// SPDX-License-Identifier: Apache-2.0
// Whether a launcher started this process as one of several, and the module that then speaks MPI.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <vector>

#include "core/format.h"
#include "ranks/module.h"
#include <lepus/error.h>
#include <lepus/version.h>

namespace lepus {
namespace {

constexpr const char* module_name = "liblepus_mpi.so";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

int number_in(const char* name) { return std::atoi(variable(name).c_str()); }

// srun gives its processes numbers even where no MPI was asked for.
void refuse_lonely_tasks() {
  const int tasks = number_in("SLURM_STEP_NUM_TASKS");
  if (tasks < 2 || variable("SLURM_STEP_ID").empty()) return;
  throw Error(ErrorKind::usage,
              {.what = format("srun started {} processes that do not know of each other", tasks),
               .where = {},
               .why = "each would write the whole output; the step has no MPI interface (srun --mpi=none)",
               .hint = "use srun --mpi=pmix ('srun --mpi=list' shows what there is), or one task with -n 1, or shares "
                       "(--share) in a job array"});
}

// Beside the program in a build folder, and where it is installed.
std::vector<std::filesystem::path> places() {
  if (const std::string given = variable("LEPUS_MPI_MODULE"); !given.empty()) return {given};
  std::error_code code;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", code).parent_path();
  return {folder / module_name, (folder / LEPUS_MODULE_FOLDER / module_name).lexically_normal()};
}

[[noreturn]] void refuse_module(const std::string& where, std::string why) {
  throw Error(
      ErrorKind::unsupported,
      {.what = format("{} started this as one of several processes, but MPI cannot be used", launcher()),
       .where = where,
       .why = std::move(why),
       .hint = "build lepus where the MPI of this cluster is found (cmake -DLEPUS_WITH_MPI=ON), name its module in "
               "LEPUS_MPI_MODULE, or run one process, or shares (--share)"});
}

}  // namespace

std::string launcher() {
  if (!variable("OMPI_COMM_WORLD_SIZE").empty()) return "mpirun";
  if (!variable("PMIX_RANK").empty()) return variable("SLURM_STEP_ID").empty() ? "mpirun" : "srun --mpi=pmix";
  if (!variable("PMI_SIZE").empty()) return variable("SLURM_STEP_ID").empty() ? "mpiexec" : "srun --mpi=pmi2";
  return "";
}

std::unique_ptr<Ranks> open_ranks() {
  if (launcher().empty()) {
    refuse_lonely_tasks();
    return one_rank();
  }
  std::string tried;
  for (const auto& place : places()) {
    if (std::error_code code; !std::filesystem::exists(place, code)) {
      tried += (tried.empty() ? "" : ", ") + place.string();
      continue;
    }
    // For all: MPI's own modules look for its symbols.
    void* module = ::dlopen(place.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (!module) refuse_module(place.string(), ::dlerror());
    auto* const open = reinterpret_cast<OpenRanks*>(::dlsym(module, open_ranks_symbol));
    if (!open) refuse_module(place.string(), "it is no module of lepus");
    std::string why;
    std::unique_ptr<Ranks> ranks(open(version, why));
    if (!ranks) refuse_module(place.string(), why);
    return ranks;
  }
  refuse_module(tried, "the module is not there");
}

int threads_of_rank(const Ranks& ranks) {
  if (ranks.alone()) return 0;
  const auto mine = static_cast<int>(std::thread::hardware_concurrency());  // those it may run on
  const auto all = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  return mine < all ? mine : std::max(1, all / ranks.node_size());
}

}  // namespace lepus
