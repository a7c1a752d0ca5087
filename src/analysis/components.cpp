// SPDX-License-Identifier: Apache-2.0
#include "analysis/components.h"

#include <algorithm>
#include <atomic>
#include <limits>

#include "core/format.h"
#include <lepus/error.h>

namespace lepus::analysis {
namespace {

constexpr Label no_label = std::numeric_limits<Label>::max();

// A forest over provisional labels; the root of a tree is its smallest label, that of its first voxel.
class Forest {
public:
  Label add() {
    parents.push_back(static_cast<Label>(parents.size()));
    return parents.back();
  }
  Label root(Label label) {
    while (parents[label] != label) label = parents[label] = parents[parents[label]];
    return label;
  }
  void join(Label a, Label b) {
    a = root(a);
    b = root(b);
    if (a < b)
      parents[b] = a;
    else
      parents[a] = b;
  }

  std::vector<Label> parents;
};

// Rows that were met before row y of a slice: in the same slice and in the one before, and whether runs that only touch
// at a corner of their row's cross-section count.
struct NeighbourRow {
  int dy;
  bool slice_before, diagonal;
};
std::vector<NeighbourRow> neighbour_rows(Connectivity connectivity) {
  if (connectivity == Connectivity::faces) return {{-1, false, false}, {0, true, false}};
  const bool corners = connectivity == Connectivity::corners;
  return {{-1, false, true}, {0, true, true}, {-1, true, corners}, {1, true, corners}};
}

// Calls touch(run, other) for all pairs that touch; both lists go from left to right.
template <class Touch>
void each_touching(Run* run, Run* runs_end, const Run* other, const Run* others_end, std::int32_t reach,
                   Touch&& touch) {
  while (run != runs_end && other != others_end) {
    if (run->first < other->last + reach && other->first < run->last + reach) touch(*run, *other);
    if (run->last < other->last)
      ++run;
    else
      ++other;
  }
}

// Finds the runs of one slice after another and gives each the label of the first run before it that it touches, or a
// new one: the same labels whenever a piece is walked. `join` is called where a run touches more than one.
class RunWalk {
public:
  RunWalk(const BitVolume& bits, Connectivity connectivity)
      : bits_(bits), rows_(neighbour_rows(connectivity)), words_(bits.slice_words()) {
    before_.begin.assign(static_cast<std::size_t>(bits.size().ny) + 1, 0);
    now_ = before_;
  }

  template <class New, class Join>
  void slice(std::int64_t z, New&& new_label, Join&& join) {
    std::swap(before_, now_);
    now_.runs.clear();
    const Word* const words = bits_.slice(z, words_.data());
    const std::int64_t ny = bits_.size().ny, row_words = bits_.row_words();
    for (std::int64_t y = 0; y < ny; ++y) {
      const std::size_t begin = now_.runs.size();
      now_.begin[static_cast<std::size_t>(y)] = static_cast<std::int64_t>(begin);
      each_run(words + y * row_words, row_words, [&](std::int64_t first, std::int64_t last) {
        now_.runs.push_back({static_cast<std::int32_t>(first), static_cast<std::int32_t>(last), no_label});
      });
      if (now_.runs.size() == begin) continue;
      Run *const runs = now_.runs.data() + begin, *const end = now_.runs.data() + now_.runs.size();
      for (const NeighbourRow& row : rows_) {
        const std::int64_t other = y + row.dy;
        if (other < 0 || other >= ny) continue;
        const SliceRuns& from = row.slice_before ? before_ : now_;
        const std::int64_t last =
            row.slice_before ? from.begin[static_cast<std::size_t>(other) + 1] : static_cast<std::int64_t>(begin);
        each_touching(runs, end, from.runs.data() + from.begin[static_cast<std::size_t>(other)],
                      from.runs.data() + last, row.diagonal ? 1 : 0, [&](Run& run, const Run& touched) {
                        if (run.label == no_label)
                          run.label = touched.label;
                        else if (run.label != touched.label)
                          join(run.label, touched.label);
                      });
      }
      for (Run* run = runs; run != end; ++run)
        if (run->label == no_label) run->label = new_label();
    }
    now_.begin[static_cast<std::size_t>(ny)] = static_cast<std::int64_t>(now_.runs.size());
  }

  const SliceRuns& runs() const { return now_; }

private:
  const BitVolume& bits_;
  std::vector<NeighbourRow> rows_;
  Buffer<Word> words_;
  SliceRuns before_, now_;
};

// What the first pass finds in one piece.
struct Piece {
  Forest forest;
  std::vector<std::int64_t> voxels;  // by provisional label
  SliceRuns first, last;
};

constexpr std::int64_t bytes_per_provisional = sizeof(Label) + sizeof(std::int64_t);

}  // namespace

Components::Components(const BitVolume& bits, Connectivity connectivity, WorkMemory& memory, Context& context,
                       int pieces)
    : bits_(bits), connectivity_(connectivity) {
  const VolumeSize& size = bits.size();
  pieces_ = static_cast<int>(std::clamp<std::int64_t>(pieces > 0 ? pieces : context.threads.size(), 1, size.nz));
  std::vector<Piece> all(static_cast<std::size_t>(pieces_));
  std::atomic<std::int64_t> provisional{0};
  // Vectors grow by doubling: twice what they hold.
  const std::int64_t limit =
      std::min<std::int64_t>(memory.left_bytes() / (2 * bytes_per_provisional), std::int64_t{no_label} - 1);
  context.threads.parallel_for(0, pieces_, 1, [&](std::int64_t p, std::int64_t, int) {
    Piece& piece = all[static_cast<std::size_t>(p)];
    RunWalk runs(bits, connectivity);
    const std::int64_t begin = first_slice(static_cast<int>(p)), end = first_slice(static_cast<int>(p) + 1);
    for (std::int64_t z = begin; z < end; ++z) {
      context.cancel.check();
      const std::size_t had = piece.forest.parents.size();
      runs.slice(
          z, [&] { return piece.forest.add(); }, [&](Label a, Label b) { piece.forest.join(a, b); });
      piece.voxels.resize(piece.forest.parents.size());
      for (const Run& run : runs.runs().runs) piece.voxels[run.label] += run.last - run.first;
      const auto added = static_cast<std::int64_t>(piece.forest.parents.size() - had);
      if (provisional.fetch_add(added) + added > limit)
        throw Error(ErrorKind::memory,
                    {.what = "too many components for the memory",
                     .where = format("slice {}", z),
                     .why = format("more than {} separate pieces were met: this looks like noise", limit),
                     .hint = "smooth the volume first (lepus post --do \"median radius=1\"), clean it with --clean, or "
                             "allow more with --memory"});
      if (z == begin) piece.first = runs.runs();
      if (z + 1 == end) piece.last = runs.runs();
    }
  });

  // One forest of all pieces, then the slices on both sides of each cut.
  Forest forest;
  std::vector<std::int64_t> counts;
  forest.parents.reserve(static_cast<std::size_t>(provisional.load()));
  for (Piece& piece : all) {
    const auto offset = static_cast<Label>(forest.parents.size());
    offsets_.push_back(offset);
    for (const Label parent : piece.forest.parents) forest.parents.push_back(parent + offset);
    counts.insert(counts.end(), piece.voxels.begin(), piece.voxels.end());
    piece.forest = {};
    piece.voxels = {};
  }
  for (std::size_t p = 1; p < all.size(); ++p)
    for (const NeighbourRow& row : neighbour_rows(connectivity)) {
      if (!row.slice_before) continue;
      SliceRuns& after = all[p].first;
      const SliceRuns& before = all[p - 1].last;
      for (std::int64_t y = std::max(0, -row.dy); y < std::min(size.ny, size.ny - row.dy); ++y) {
        const auto here = static_cast<std::size_t>(y), there = static_cast<std::size_t>(y + row.dy);
        each_touching(after.runs.data() + after.begin[here], after.runs.data() + after.begin[here + 1],
                      before.runs.data() + before.begin[there], before.runs.data() + before.begin[there + 1],
                      row.diagonal ? 1 : 0, [&](const Run& run, const Run& touched) {
                        forest.join(run.label + static_cast<Label>(offsets_[p]),
                                    touched.label + static_cast<Label>(offsets_[p - 1]));
                      });
      }
    }

  // A root comes before all others of its tree: one pass in order numbers them by their first voxel.
  voxels_.assign(1, 0);
  numbers_ = std::move(forest.parents);
  for (std::size_t i = 0; i < numbers_.size(); ++i) {
    if (numbers_[i] == i) {
      numbers_[i] = static_cast<Label>(voxels_.size());
      voxels_.push_back(0);
    } else {
      numbers_[i] = numbers_[numbers_[i]];
    }
    voxels_[numbers_[i]] += counts[i];
  }
  share_ = memory.take(static_cast<std::int64_t>(numbers_.size()) * bytes_per_provisional, "the components", {});
}

void Components::walk(int piece, const Body& body) const {
  RunWalk runs(bits_, connectivity_);
  Label next = static_cast<Label>(offsets_[static_cast<std::size_t>(piece)]);
  SliceRuns numbered;
  for (std::int64_t z = first_slice(piece); z < first_slice(piece + 1); ++z) {
    runs.slice(
        z, [&] { return next++; }, [](Label, Label) {});
    numbered = runs.runs();
    for (Run& run : numbered.runs) run.label = numbers_[run.label];
    body(piece, z, numbered);
  }
}

void Components::each_slice(Context& context, const Body& body) const {
  context.threads.parallel_for(0, pieces_, 1, [&](std::int64_t p, std::int64_t, int) {
    walk(static_cast<int>(p), [&](int piece, std::int64_t z, const SliceRuns& runs) {
      context.cancel.check();
      body(piece, z, runs);
    });
  });
}

void Components::each_slice_in_order(const Body& body) const {
  for (int piece = 0; piece < pieces_; ++piece) walk(piece, body);
}

void Components::drop(const std::vector<std::uint8_t>& keep) {
  std::vector<Label> renumbered(voxels_.size(), 0);
  std::vector<std::int64_t> kept(1, 0);
  for (std::size_t i = 1; i < voxels_.size(); ++i) {
    if (keep[i] == 0) continue;
    renumbered[i] = static_cast<Label>(kept.size());
    kept.push_back(voxels_[i]);
  }
  for (Label& number : numbers_) number = renumbered[number];
  voxels_ = std::move(kept);
}

std::vector<std::uint8_t> components_touching(const Components& components,
                                              const std::function<void(std::int64_t z, Word* words, int piece)>& marks,
                                              Context& context) {
  std::vector<std::uint8_t> touched(static_cast<std::size_t>(components.count()) + 1, 0);
  const BitVolume& bits = components.bits();
  WorkerSlices words(bits, components.pieces());
  components.each_slice(context, [&](int piece, std::int64_t z, const SliceRuns& runs) {
    Word* const marked = words[piece];
    std::fill_n(marked, bits.slice_words(), Word{0});
    marks(z, marked, piece);
    for (std::int64_t y = 0; y < bits.size().ny; ++y)
      for (const Run& run : runs.row(y)) {
        if (any_bit(marked + y * bits.row_words(), run.first, run.last))
          std::atomic_ref(touched[run.label]).store(1, std::memory_order_relaxed);
      }
  });
  touched[0] = 0;
  return touched;
}

void keep_components(const Components& components, BitVolume& bits, Context& context) {
  WorkerSlices words(bits, components.pieces());
  components.each_slice(context, [&](int piece, std::int64_t z, const SliceRuns& runs) {
    Word* const out = words[piece];
    std::fill_n(out, bits.slice_words(), Word{0});
    for (std::int64_t y = 0; y < bits.size().ny; ++y)
      for (const Run& run : runs.row(y))
        if (run.label != 0) set_bits(out + y * bits.row_words(), run.first, run.last);
    bits.write(z, out);
  });
}

void fill_labels(const SliceRuns& runs, const VolumeSize& size, Label* labels) {
  std::fill_n(labels, size.nx * size.ny, Label{0});
  for (std::int64_t y = 0; y < size.ny; ++y)
    for (const Run& run : runs.row(y)) {
      std::fill(labels + y * size.nx + run.first, labels + y * size.nx + run.last, run.label);
    }
}

}  // namespace lepus::analysis
