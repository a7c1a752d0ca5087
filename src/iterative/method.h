// SPDX-License-Identifier: Apache-2.0
// An iterative method: a volume that each step brings nearer to what was measured. All that the next step needs lies in
// vectors and numbers with names: kept in a file (iterative/state_file.h) and given to another object of the same kind,
// that goes on with the same bits.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "iterative/problem.h"

namespace lepus {

class Method {
public:
  // The problem outlives it.
  Method(Problem& problem, const MethodOptions& options);
  virtual ~Method() = default;
  Method(const Method&) = delete;
  Method& operator=(const Method&) = delete;

  // Everything that does not change from one iteration to the next.
  virtual void prepare() {}
  // The first vectors, from problem.start. Not called where a saved state is gone on from.
  virtual void start();
  // One whole iteration: every line integral is used once. Returns the norm of the weighted residual, of the volume
  // that the step began with or ends with (MethodKind::residual_after), whichever the method has at no cost.
  virtual double step() = 0;
  // The last step led away from the data, and the volume is that of an earlier one again.
  virtual bool taken_back() const { return false; }
  // After the last step, for methods that cannot know at no cost whether it led away: takes it back where it did. The
  // norm of the residual of the volume that is there then; nothing: what the step returned was right.
  virtual std::optional<double> settle() { return {}; }

  Vector& volume() { return *x_; }
  const std::string& name() const { return options_.method; }
  std::int64_t iteration() const { return iteration_; }  // whole ones that are done
  void set_iteration(std::int64_t iteration) { iteration_ = iteration; }
  // What belongs to its state beside what it keeps itself: the same vector every time.
  Vector& kept_volume(const std::string& name) { return volume_vector(name); }
  std::map<std::string, std::unique_ptr<Vector>>& kept_vectors() { return vectors_; }
  std::map<std::string, double>& kept_numbers() { return scalars_; }
  Ranks* ranks() { return map().ranks(); }  // that share out the line integrals; null: one process
  void download(float* host, const float* from, std::int64_t count) { algebra_.copy_values(host, from, count); }
  void upload(float* to, const float* host, std::int64_t count) { algebra_.copy_values(to, host, count); }

protected:
  // Vectors and numbers that the next iteration needs, by their names in a saved state.
  Vector& volume_vector(const std::string& name);
  Vector& data_vector(const std::string& name);
  double& scalar(const std::string& name);
  Vector work_volume() { return Vector::of_volume(map()); }  // not kept
  Vector work_data() { return Vector::of_line_integrals(map()); }
  // Into the bounds, and zero outside the mask: a volume, or voxels of it from `first` on.
  void bound(Vector volume, std::int64_t first = 0);

  // Calls use(A' line_integrals, x, first) for slabs of both that begin at voxel `first`, one after the other.
  template <class Use>
  void each_slab(LinearMap& some, const Vector& line_integrals, Block& work, const Use& use) {
    const std::int64_t slice = some.shape().nx * some.shape().ny;
    some.adjoint_by_slabs(line_integrals.data(), work, [&](float* voxels, SlabRange slices) {
      const std::int64_t first = slices.z0 * slice, size = slices.slices() * slice;
      Vector back = Vector::borrowed(voxels, size), x = volume().part(first, size);
      use(back, x, first);
    });
  }

  LinearMap& map() { return *problem_.map; }
  Problem& problem_;
  const MethodOptions options_;
  Algebra algebra_;

private:
  std::map<std::string, std::unique_ptr<Vector>> vectors_;
  std::map<std::string, double> scalars_;
  Vector* x_ = nullptr;
  std::int64_t iteration_ = 0;
};

// "cgls", "chambolle-pock", ...; what each is for, in a few words.
struct MethodKind {
  const char* name;
  const char* summary;
  std::unique_ptr<Method> (*make)(Problem&, const MethodOptions&);
  int volumes = 8, data = 6;  // vectors that it and the loop around it keep, at most
  bool subsets = false;       // it works on subsets of the views
  bool ordered = false;       // and takes them, or single views, in an order
  bool relaxed = false;       // its steps have a length
  bool regularised = false;   // it has a strength
  bool inner_steps = false;   // of total variation
  bool bounded = false;       // it keeps bounds
  bool prior = false;         // it takes a prior volume
  bool huber = false;
  bool oscillates = false;       // residuals rise and fall on the way
  bool residual_after = false;   // a step's residual is of the volume that it ends with
  bool exact_transpose = false;  // it needs A' to be the transpose of A
  bool non_negative = false;     // of the data, and the volume stays so
  enum class Weights { refused, direct, whitened } weights = Weights::whitened;
};
const std::vector<MethodKind>& method_kinds();
// Throws Error(usage) for a name that is not known, with the nearest one.
const MethodKind& method_kind(std::string_view name);
// Throws Error(usage) for choices that the method does not have or that make no sense.
void check_options(const MethodOptions& options, std::int64_t views);
// What it is given beside them.
struct MethodInputs {
  bool prior = false, weights = false;
  bool chooses_strength = false;  // it is found before the method is made
  bool exact_transpose = true;    // of the map
};
// Throws Error(usage) for what it has no use for.
void check_inputs(const MethodOptions& options, const MethodInputs& inputs);

// Line integrals below zero are set to zero for methods that need it: FDK for a start is made before.
std::unique_ptr<Method> make_method(Problem& problem, const MethodOptions& options);

// One file each; those that differ by a number share one.
std::unique_ptr<Method> make_sirt(Problem&, const MethodOptions&);
std::unique_ptr<Method> make_sart(Problem&, const MethodOptions&);
std::unique_ptr<Method> make_os_sart(Problem&, const MethodOptions&);
std::unique_ptr<Method> make_cgls(Problem&, const MethodOptions&);
std::unique_ptr<Method> make_lsqr(Problem&, const MethodOptions&);
std::unique_ptr<Method> make_mlem(Problem&, const MethodOptions&);
std::unique_ptr<Method> make_osem(Problem&, const MethodOptions&);
std::unique_ptr<Method> make_iterative_fdk(Problem&, const MethodOptions&);
std::unique_ptr<Method> make_fista_tv(Problem&, const MethodOptions&);
std::unique_ptr<Method> make_chambolle_pock(Problem&, const MethodOptions&);
std::unique_ptr<Method> make_os_momentum(Problem&, const MethodOptions&);
std::unique_ptr<Method> make_ramp_cgls(Problem&, const MethodOptions&);

}  // namespace lepus
