// SPDX-License-Identifier: Apache-2.0
// Records beside those of io/volume_journals.h: "state", whatever the caller keeps; "later-fact", as the header's; the
// caller's notes.
#include "io/resumable_volume.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "core/format.h"
#include "io/file.h"
#include "io/stack.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char *state_kind = "state", *later_kind = "later-fact";

// The disk is left alone for so many times as long as it needed for a batch, but no longer than that.
constexpr double rest_factor = 20;
constexpr std::chrono::duration<double> longest_rest(10);

// Neighbours become one.
std::vector<VolumeSlices> joined(std::vector<VolumeSlices> slabs) {
  std::sort(slabs.begin(), slabs.end(), [](auto a, auto b) { return a.z0 < b.z0; });
  std::vector<VolumeSlices> larger;
  for (const VolumeSlices slab : slabs)
    if (!larger.empty() && larger.back().z1 == slab.z0)
      larger.back().z1 = slab.z1;
    else
      larger.push_back(slab);
  return larger;
}

JournalFact stored_fact(const VolumeWriterOptions& options) {
  std::string stored = name_of(options.type);
  if (!options.scale.is_identity()) stored += format(" x {:.17g} + {:.17g}", options.scale.slope, options.scale.offset);
  return {"what is stored of a voxel", stored};
}

// A slab that was made again replaces the older one.
using SlabsByPlace = std::map<std::pair<std::int64_t, std::int64_t>, RecordedSlab>;
void add_slabs(SlabsByPlace& slabs, const JournalContents& journal) {
  for (const RecordedSlab& slab : recorded_slabs(journal)) slabs[{slab.slices.z0, slab.slices.z1}] = slab;
}

// Processes that make parts of one volume open and complete it one after the other.
OutputLock wait_for_turn(const fs::path& path) {
  constexpr std::chrono::seconds longest(60);
  const auto end = Clock::now() + longest;
  fs::path turn = journal_name(path);
  turn += ".turn";
  while (true) try {
      return OutputLock(turn);
    } catch (const Error&) {
      if (Clock::now() > end) throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
}

bool all_recorded(const SlabsByPlace& slabs, std::int64_t slices) {
  std::vector<VolumeSlices> finished;
  for (const auto& [place, slab] : slabs) finished.push_back(slab.slices);
  return slices_without({0, slices}, finished).empty();
}

struct Complaint {
  std::string why, hint;
};
void require_written(const SlabWriter& volume, const SlabsByPlace& slabs, const fs::path& path,
                     const Complaint& otherwise) {
  for (const auto& [place, slab] : slabs)
    if (volume.checksum(place.first, place.second) != slab.checksum)
      throw Error(ErrorKind::disk,
                  {.what = "not all slices are in the volume as they were written",
                   .where = format("{}, slices {} to {}", path.string(), place.first, place.second - 1),
                   .why = otherwise.why,
                   .hint = otherwise.hint});
}

// "v.mhd", "v.nhdr" and "v.raw" have their voxels in one file: two unfinished ones would be written over each other.
void require_voxels_free(const fs::path& path) {
  const fs::path voxels = files_of_volume(path).back();
  if (lower_extension(voxels) != ".raw" && lower_extension(path) != ".raw") return;
  for (const char* ending : {".mhd", ".nhdr", ".raw"}) {
    const fs::path other = fs::path(path).replace_extension(ending);
    if (lower_extension(path) == ending || journals_of(other).empty() || !unfinished_exists(other)) continue;
    throw Error(ErrorKind::disk, {.what = "an unfinished volume has its voxels in the same file",
                                  .where = path.string(),
                                  .why = format("{} was begun, and is not finished", other.string()),
                                  .hint = "finish that one first, or choose another name"});
  }
}

}  // namespace

// A journal alone says nothing: it goes last.
void remove_with_journals(const fs::path& path) {
  for (const fs::path& file : files_of_volume(path)) fs::remove(followed(file));
  remove_journals(path);
}

ResumableVolume::ResumableVolume(const fs::path& path, const VolumeGrid& grid, const VolumeWriterOptions& options,
                                 const ResumableRun& run, Progress& progress)
    : path_(path),
      grid_(grid),
      options_(options),
      run_(run),
      part_lock_(journal_of_part(path, run.part)),
      own_(run.own.value_or(VolumeSlices{0, grid.nz})) {
  run_.header.facts.push_back(stored_fact(options));
  options_.sharing = run.part.empty() ? Sharing::alone : Sharing::with_others;
  if (!run.part.empty() && !run.turn && !part_lock_.is_held())
    throw Error(ErrorKind::disk, {.what = "processes that make parts of one volume need a file system with locks",
                                  .where = path.string(),
                                  .why = "this one knows none",
                                  .hint = "mount it with locks (Lustre: -o flock), write to another one, or start them "
                                          "with mpirun or srun"});
  require_voxels_free(path);
  const OutputLock turn = run.part.empty() ? OutputLock() : wait_for_turn(path);
  if (run.restart && !journals_of(path).empty()) {
    for (const fs::path& file : journals_of(path)) require_journal(file);
    remove_unfinished(path);
    remove_journals(path);
  }
  open(progress);
  try {
    recorder_ = std::thread([this] { keep_recording(); });
  } catch (...) {  // no memory for its stack
    leave();
    throw;
  }
}

// The journal comes before the volume: one without a journal is none of ours, and stays.
void ResumableVolume::open(Progress& progress) {
  std::vector<JournalContents> journals;
  std::optional<JournalContents> mine;
  const fs::path file = journal_of_part(path_, run_.part);
  // Before the journals are read: who has it open now may record and end meanwhile, and nobody new opens it.
  const bool held = unfinished_is_held(path_);
  const bool begun = unfinished_exists(path_) || take_back_finished();
  for (const fs::path& other : journals_of(path_)) {
    if (!begun) {  // it was finished, or killed before it had made its volume
      remove_journal_and_kept(other);
      continue;
    }
    require_same_parts(part_of_journal(other, path_));
    journals.push_back(read_journal(other));
    require_same_run(journals.back(), run_.header, path_);
    if (other == file) {
      mine = journals.back();
      continue;
    }
    with_others_ = true;
    std::erase_if(journals.back().records, [](const JournalRecord& r) { return r.kind == state_kind; });
  }
  if (!journals.empty()) {
    open_journal(file, mine);
    // One of which nothing is recorded may be half made, if no other process is at work on it.
    const bool recorded =
        std::ranges::any_of(journals, [](const auto& journal) { return !recorded_slabs(journal).empty(); });
    const bool anew = !recorded && run_.turn != Turn::later && !held;
    if (anew) remove_unfinished(path_);
    volume_ = open_slab_writer(path_, grid_, options_, anew ? Unfinished::kept : Unfinished::joined, run_.slices);
    journal_->append(file_record(marking_file(path_)));
    take_over(journals, progress);
    return;
  }
  if (!begun) require_nothing_kept(file);
  try {
    open_journal(file, {});
    remove_half_made(path_);
    volume_ = open_slab_writer(path_, grid_, options_, Unfinished::kept, run_.slices);
    journal_->append(file_record(marking_file(path_)));
    missing_ = slices_without(own_, {});  // a share of a small volume may be empty
  } catch (...) {
    if (!journal_) throw;
    if (!begun) remove_what_was_made();
    results_.reset();
    journal_.reset();  // files are looked at before they go: where no more could be opened, one can now
    remove_journal(file);
    throw;
  }
}

void ResumableVolume::open_journal(const fs::path& file, const std::optional<JournalContents>& begun) {
  if (begun) {
    journal_.emplace(file, *begun);
  } else {
    journal_.emplace(file, run_.header);
    journal_->append(volume_record(grid_.nz));
    journal_->flush();
  }
  results_ =
      std::make_unique<ResultsFile>(kept_file(kept_results), begun ? begun->records : std::vector<JournalRecord>(),
                                    [this](const JournalRecord& record) { journal_->append(record); });
}

// A finished volume whose journals were kept is as one that was killed before it got its name; whether there was one.
bool ResumableVolume::take_back_finished() const {
  SlabsByPlace recorded;
  if (run_.keep_journals)
    for (const fs::path& file : journals_of(path_)) add_slabs(recorded, read_journal(file));
  return !recorded.empty() && all_recorded(recorded, grid_.nz) && rename_to_unfinished(path_);
}

// Shares of sixteen and shares of eight would make the same slices.
void ResumableVolume::require_same_parts(const std::string& other) const {
  const auto count = [](const std::string& part) { return part.substr(part.find("-of-") + 4); };
  // Ranks share out what is missing, whoever made the rest; a share has its slices.
  if (run_.part.empty() || other.empty() || !run_.own || count(run_.part) == count(other)) return;
  throw Error(ErrorKind::usage, {.what = "the volume was begun in another number of parts",
                                 .where = path_.string(),
                                 .why = format("{} of them, now it is {}", count(other), count(run_.part)),
                                 .hint = "give the same number, or begin anew with --restart"});
}

void ResumableVolume::take_over(const std::vector<JournalContents>& journals, Progress& progress) {
  SlabsByPlace recorded;
  for (const JournalContents& journal : journals) {
    add_slabs(recorded, journal);
    notes_.insert(notes_.end(), journal.records.begin(), journal.records.end());
  }
  std::vector<VolumeSlices> finished;
  std::int64_t changed = 0;
  for (const auto& [place, slab] : recorded) {
    const auto [z0, z1] = place;
    if (z1 <= own_.z0 || z0 >= own_.z1) continue;
    if (z1 > grid_.nz || volume_->checksum(z0, z1) != slab.checksum) {
      changed += z1 - z0;
      continue;
    }
    finished.push_back({z0, z1});
    cut_off_before_ += slab.cut_off;
  }
  for (const VolumeSlices gap : slices_without(own_, finished))
    missing_.push_back({std::max(own_.z0, gap.z0 / run_.block * run_.block),
                        std::min(own_.z1, (gap.z1 + run_.block - 1) / run_.block * run_.block)});
  missing_ = slices_without(own_, slices_without(own_, missing_));  // gaps that meet become one
  for (const VolumeSlices whole : finished_before()) volume_->written_elsewhere(whole.z0, whole.z1);
  worth_keeping_ = std::any_of(notes_.begin(), notes_.end(), [](const JournalRecord& record) {
    return record.kind != later_kind && record.kind != volume_kind && record.kind != file_kind &&
           record.kind != result_kind;
  });
  if (changed > 0)
    progress.warning(format("{}: {} {} of the unfinished output are not as they were written and are made again",
                            path_.string(), changed, run_.unit));
  const std::int64_t left = count_slices(missing_);
  progress.note(format("an unfinished run is gone on with: {} of {} {} are done, {} are left", own_.z1 - own_.z0 - left,
                       own_.z1 - own_.z0, run_.unit, left));
}

ResumableVolume::~ResumableVolume() {
  stop_recording();
  leave();
}

// Other processes may be at work on other parts.
void ResumableVolume::leave() noexcept {
  if (!finished_ && !stays() && run_.part.empty()) remove_what_was_made();
}

bool ResumableVolume::stays() const {
  constexpr double long_seconds = 10;  // what took as long to find out is worth keeping without a slab
  return worth_keeping_ || (results_ && results_->seconds() > long_seconds);
}

// What cannot be removed the next run finds.
void ResumableVolume::remove_what_was_made() noexcept {
  volume_.reset();
  results_.reset();
  journal_.reset();
  try {
    remove_unfinished(path_);
    remove_journals(path_);
  } catch (...) {
  }
}

void ResumableVolume::stop_recording() noexcept {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  if (recorder_.joinable()) recorder_.join();
}

std::vector<VolumeSlices> ResumableVolume::finished_before() const { return slices_without(own_, missing_); }

fs::path ResumableVolume::kept_file(const std::string& what) const {
  return kept_beside(journal_of_part(path_, run_.part), what);
}

void ResumableVolume::note_with_state(const JournalRecord& record) {
  if (!state_) return;
  const std::scoped_lock lock(noting_);
  journal_->append({state_kind, state_()});
  journal_->append(record);
  worth_keeping_ = true;
}

void ResumableVolume::note(const JournalRecord& record) {
  journal_->append(record);
  journal_->flush();
  worth_keeping_ = true;
}

void ResumableVolume::require_same(const JournalFact& fact) {
  for (const auto& [kind, text] : notes_)
    if (kind == later_kind && text.starts_with(fact.name + "\t"))
      return require_same_fact({fact.name, text.substr(fact.name.size() + 1)}, fact, path_);
  journal_->append({later_kind, fact.name + "\t" + fact.value});
}

void ResumableVolume::write(std::int64_t z0, std::int64_t z1, const float* slices) {
  volume_->write(z0, z1, slices);
  was_written({z0, z1});
}

void ResumableVolume::write_stored(std::int64_t z0, std::int64_t z1, const void* slices) {
  volume_->write_stored(z0, z1, slices);
  was_written({z0, z1});
}

void ResumableVolume::was_written(VolumeSlices slices) {
  {
    const std::scoped_lock lock(mutex_);
    if (failure_) std::rethrow_exception(failure_);
    written_.push_back(slices);
  }
  wake_.notify_all();
}

std::int64_t ResumableVolume::cut_off() const { return cut_off_before_ + (volume_ ? volume_->cut_off() : 0); }

Error ResumableVolume::ended_by(const Error& error) {
  stop_recording();
  if (!stays() || !unfinished_exists(path_)) return error;
  ErrorParts parts = error.parts();
  parts.hint += parts.hint.empty() ? "" : "; ";
  parts.hint +=
      "what is finished is kept beside the output: the same command goes on from there, with --restart it "
      "begins anew";
  return Error(error.kind(), parts);
}

// Ends when it is asked to and everything is recorded, or at the first failure.
void ResumableVolume::keep_recording() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [&] { return ending_ || !written_.empty(); });
    if (written_.empty()) return;
    std::vector<VolumeSlices> batch = std::exchange(written_, {});
    lock.unlock();
    const auto start = Clock::now();
    std::exception_ptr failure;
    try {
      record(std::move(batch));
    } catch (...) {
      failure = std::current_exception();
    }
    const std::chrono::duration<double> taken = Clock::now() - start;
    lock.lock();
    failure_ = failure;
    if (failure_) return;
    wake_.wait_for(lock, std::min(rest_factor * taken, longest_rest), [&] { return ending_; });
  }
}

// The voxels first, then what must be known with them, then that they count.
void ResumableVolume::record(std::vector<VolumeSlices> batch) {
  const std::vector<VolumeSlices> slabs = joined(std::move(batch));
  volume_->require_there();  // not only at the end of a long run
  for (const VolumeSlices slab : slabs) volume_->flush(slab.z0, slab.z1);
  const std::scoped_lock lock(noting_);
  if (state_) journal_->append({state_kind, state_()});
  const double seconds = std::chrono::duration<double>(Clock::now() - opened_).count();
  for (const VolumeSlices slab : slabs)
    journal_->append(
        slab_record({slab, volume_->checksum(slab.z0, slab.z1), seconds, volume_->cut_off_in(slab.z0, slab.z1)}));
  journal_->flush();
  made_.insert(made_.end(), slabs.begin(), slabs.end());
  worth_keeping_ = true;
}

void ResumableVolume::finish(const std::string& provenance) {
  stop_recording();
  if (failure_) std::rethrow_exception(failure_);
  if (!run_.part.empty()) return finish_together(provenance);
  complete_volume(provenance);
}

void ResumableVolume::complete_volume(const std::string& provenance) {
  volume_->finish(provenance);
  finished_ = true;
  if (!run_.keep_journals) return remove_journals(path_);
  for (const fs::path& file : journals_of(path_)) remove_kept(file);  // of no use any more
}

// Whoever is the last finds all slices recorded.
void ResumableVolume::finish_together(const std::string& provenance) {
  const FileNumber number = volume_->number();
  volume_.reset();  // who finishes it waits for those that have it open
  const OutputLock turn = wait_for_turn(path_);
  if (!unfinished_exists(path_)) {
    if (number && number_of_finished(path_) == number) return;
    throw_unfinished_gone(path_);
  }
  SlabsByPlace recorded, elsewhere;
  for (const fs::path& file : journals_of(path_)) {
    const JournalContents journal = read_journal(file);
    add_slabs(recorded, journal);
    if (!is_written_into(journal, marking_file(path_))) add_slabs(elsewhere, journal);
  }
  cut_off_before_ = 0;
  for (const auto& [place, slab] : recorded) cut_off_before_ += slab.cut_off;
  if (!all_recorded(recorded, grid_.nz)) return;
  volume_ = open_slab_writer(path_, grid_, options_, Unfinished::joined, run_.slices);
  require_written(*volume_, elsewhere, path_,
                  {"another process has replaced it: the locks of this file system do not reach all nodes",
                   "the same command makes what is missing; start its processes with mpirun or srun"});
  // Ranks have looked at all that was there when they began; a share only at its own.
  if (run_.own) {
    for (const VolumeSlices slab : made_) recorded.erase({slab.z0, slab.z1});
    require_written(*volume_, recorded, path_,
                    {"they have changed since their share was made, or it was ended while it made them again",
                     "run the commands of all shares again: what is as it was written is not made anew"});
  }
  volume_->written_elsewhere(0, grid_.nz);
  complete_volume(provenance);
}

}  // namespace lepus
