// SPDX-License-Identifier: Apache-2.0
// Labels of a volume, slice by slice: of components, which are found again as they are needed, or of an array.
#pragma once

#include <functional>
#include <vector>

#include "analysis/components.h"

namespace lepus::analysis {

class LabelSource {
public:
  virtual ~LabelSource() = default;
  virtual const VolumeSize& size() const = 0;
  virtual std::int64_t count() const = 0;
  virtual int pieces() const = 0;  // consecutive slices that are worked on at the same time

  // Calls body(piece, z, labels) for every slice; pieces at the same time, the slices of each in order.
  using Body = std::function<void(int piece, std::int64_t z, const Label* labels)>;
  virtual void each_slice(Context& context, const Body& body) const = 0;
  virtual void each_slice_in_order(const Body& body) const = 0;
};

class ComponentLabels final : public LabelSource {
public:
  explicit ComponentLabels(const Components& components) : components_(components) {}
  const VolumeSize& size() const override { return components_.bits().size(); }
  std::int64_t count() const override { return components_.count(); }
  int pieces() const override { return components_.pieces(); }
  void each_slice(Context& context, const Body& body) const override {
    Buffer<Label> slices(size().nx * size().ny * pieces());
    components_.each_slice(context, filled(slices, body));
  }
  void each_slice_in_order(const Body& body) const override {
    Buffer<Label> slices(size().nx * size().ny * pieces());
    components_.each_slice_in_order(filled(slices, body));
  }

private:
  Components::Body filled(Buffer<Label>& slices, const Body& body) const {
    return [this, &slices, &body](int piece, std::int64_t z, const SliceRuns& runs) {
      Label* const labels = slices.data() + piece * size().nx * size().ny;
      fill_labels(runs, size(), labels);
      body(piece, z, labels);
    };
  }
  const Components& components_;
};

class ArrayLabels final : public LabelSource {
public:
  ArrayLabels(const VolumeSize& size, Buffer<Label> labels, std::int64_t count, int pieces)
      : size_(size),
        labels_(std::move(labels)),
        count_(count),
        pieces_(static_cast<int>(std::min<std::int64_t>(pieces, size.nz))) {}
  const VolumeSize& size() const override { return size_; }
  std::int64_t count() const override { return count_; }
  int pieces() const override { return pieces_; }
  void each_slice(Context& context, const Body& body) const override {
    context.threads.parallel_for(0, pieces_, 1,
                                 [&](std::int64_t p, std::int64_t, int) { walk(static_cast<int>(p), body); });
  }
  void each_slice_in_order(const Body& body) const override {
    for (int p = 0; p < pieces_; ++p) walk(p, body);
  }

private:
  void walk(int p, const Body& body) const {
    for (std::int64_t z = size_.nz * p / pieces_; z < size_.nz * (p + 1) / pieces_; ++z)
      body(p, z, labels_.data() + z * size_.nx * size_.ny);
  }
  VolumeSize size_;
  Buffer<Label> labels_;
  std::int64_t count_;
  int pieces_;
};

}  // namespace lepus::analysis
