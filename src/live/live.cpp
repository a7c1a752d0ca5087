// SPDX-License-Identifier: Apache-2.0
// The whole way of a live reconstruction: wait for a frame and the flats -> read the scan -> take views as they come ->
// add them to the volume, show it -> write it when the last is in.
#include "live/live.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <utility>

#include "core/format.h"
#include "core/json.h"
#include "core/output_file.h"
#include "io/pixels.h"
#include "io/stack.h"
#include "io/volume_file.h"
#include "live/arrivals.h"
#include "live/live_display.h"
#include "live/live_volume.h"
#include "live/scan_ahead.h"
#include "run/provenance.h"
#include "run/scan_reports.h"
#include "preprocess/row_audit.h"

namespace lepus {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double seconds_until_now(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Says again, less and less often, what is waited for.
class WaitingNotes {
public:
  void say(double waited_s, const std::string& what, Context& context) {
    if (waited_s < asked_at_s_) next_s_ = 2;  // something came in between
    asked_at_s_ = waited_s;
    if (waited_s < next_s_) return;
    context.progress.note(format("waiting for {}, {:.0f} s", what, waited_s));
    while (next_s_ <= waited_s) next_s_ = std::min(2 * next_s_, next_s_ + 60);
  }

private:
  double next_s_ = 2, asked_at_s_ = 0;
};

class LiveRun {
public:
  LiveRun(const fs::path& scan_file, fs::path volume_file, const LiveOptions& options, Context& context)
      : ahead_(scan_file),
        volume_file_(std::move(volume_file)),
        options_(options),
        context_(context),
        frames_(ahead_.frames(options.views)),
        series_(ahead_.folder(), ahead_.frame_names(), frames_, options.first_number),
        arrivals_(series_, options.settle_s),
        display_(options_, context.progress) {
    refuse_outputs_among_frames();
  }

  LiveReport run() {
    try {
      const fs::path first = wait_for_first_frame();
      Scan scan = ahead_.read(first, frames_);
      const auto writer =
          create_volume(volume_file_, scan.grid, {.force = options_.call.force, .unit = "1/mm", .provenance_room = 0});
      start_volume(std::move(scan), first);
      say_what_computes();
      collect();
      if (!missing_.empty()) start_again_without_missing();
      write(*writer);
      return std::move(report_);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::cancelled) explain_interruption();
      throw;
    }
  }

private:
  std::int64_t views() const { return scan_.geometry.views(); }
  std::int64_t frame_of(std::int64_t view) const { return scan_.selection.frames[static_cast<std::size_t>(view)]; }

  // They would be views of this scan.
  void refuse_outputs_among_frames() const {
    std::vector<fs::path> outputs = files_of_volume(volume_file_);
    outputs.push_back(slice_pattern(volume_file_, 1));
    for (const fs::path& shown : {options_.preview, options_.status})
      if (!shown.empty()) outputs.push_back(shown);
    for (const fs::path& output : outputs)
      if (ahead_.takes(output) || ahead_.takes(partial_name(output)))
        throw Error(ErrorKind::usage, {.what = "this name cannot be written to",
                                       .where = output.string(),
                                       .why = "it would be taken for one of the scan's images",
                                       .hint = "choose another folder"});
  }

  // Any frame that is whole; and all flats and darks are to be there.
  fs::path wait_for_first_frame() {
    fs::path first;
    for (;;) {
      context_.cancel.check();
      for (const Arrived& arrived : arrivals_.look(1)) try {
          const auto source = open_frames(ahead_.as_frame(arrived.file));
          Buffer<unsigned char> pixels(source->columns() * source->rows() * bytes_per_pixel(source->pixel_type()));
          source->read_native(0, 0, source->rows(), pixels.data());
          first = arrived.file;
        } catch (const Error& error) {
          if (error.kind() != ErrorKind::input && error.kind() != ErrorKind::unsupported) throw;
          arrivals_.not_readable(arrived.frame, error.what());
        }
      const std::string flats = ahead_.missing_flats();
      if (!first.empty() && flats.empty()) return first;
      const double waited = arrivals_.since_last_change_s();
      const std::string wanted = first.empty() ? "the first view, " + series_.name(0) : "flats and darks, " + flats;
      const std::string known = unplaced_or_broken();
      notes_.say(waited, known.empty() ? wanted : format("{} ({})", wanted, known), context_);
      display_.show({"waiting", frames_, 0, {wanted}, waited}, nullptr);
      if (waited > options_.timeout_s)
        throw Error(ErrorKind::input,
                    {.what = format("waited in vain for {}", wanted),
                     .where = series_.folder().string(),
                     .why = known.empty() ? format("nothing came for {:g} s", options_.timeout_s) : known,
                     .hint = "check frames in the scan file, or wait longer with --timeout"});
      arrivals_.wait(options_.timeout_s);
    }
  }

  std::string unplaced_or_broken() const {
    if (!series_.unplaced().empty()) return series_.unplaced();
    for (std::int64_t frame = 0; frame < frames_; ++frame)
      if (std::string trouble = arrivals_.trouble(frame); !trouble.empty()) return trouble;
    return {};
  }

  void start_volume(Scan scan, const fs::path& one_frame) {
    scan_ = std::move(scan);
    std::vector<FrameFiles> files;
    files.reserve(static_cast<std::size_t>(views()));
    view_of_.clear();
    ready_.clear();
    (void)arrivals_.take_renumbered();  // nothing is in yet
    FrameFiles like_all = scan_.frames;
    like_all.files = {};  // a copy of all names for every view would grow with their square
    for (std::int64_t view = 0; view < views(); ++view) {
      FrameFiles file = like_all;
      file.files = {series_.name(frame_of(view))};
      files.push_back(std::move(file));
      view_of_[frame_of(view)] = view;
    }
    for (std::int64_t frame = 0; frame < frames_; ++frame)
      if (!view_of_.contains(frame)) arrivals_.taken(frame);  // not selected
    volume_.reset();
    volume_ = std::make_unique<LiveVolume>(scan_, one_frame, options_.compute, context_);
    auto frames = std::make_unique<LiveFrames>(scan_, std::move(files));
    live_frames_ = frames.get();
    first_frame_ = std::exchange(volume_->pre().frames, std::move(frames));
    audit_ =
        std::make_unique<RowAudit>(*live_frames_, BadPixelLimits{scan_.maximum_bad_fraction, scan_.saturation_level});
    // Corrections may replace pixels at the dark, and what they leave of them is not counted view by view.
    const PrePass& pre = volume_->pre();
    if (pre.normalisation && pre.only_dead_pixels) audit_->watch_dark(*pre.normalisation, *pre.only_dead_pixels);
    is_in_.assign(static_cast<std::size_t>(views()), false);
    views_in_ = 0;
    say_warnings();
  }

  // Each once: a second start has some of its own.
  void say_warnings() {
    std::vector<std::string> all = scan_.warnings;
    report_.left_out.clear();
    for (const auto& left : volume_->corrections().left_out) {
      report_.left_out.push_back(left.kind);
      all.push_back(format("\"{}\" (line {} of the scan file) is left out live: {}; lepus reconstruct does it",
                           left.kind, left.line, left.why));
    }
    if (!scan_.post.empty())
      all.emplace_back("the [[post]] steps of the scan file are not run live: use lepus post on the volume");
    for (const auto& list : {volume_->pre().warnings, volume_->fdk().weights().warnings()})
      all.insert(all.end(), list.begin(), list.end());
    say_once(all);
  }

  void say_once(const std::vector<std::string>& warnings) {
    for (const auto& warning : warnings) {
      if (std::find(report_.warnings.begin(), report_.warnings.end(), warning) != report_.warnings.end()) continue;
      report_.warnings.push_back(warning);
      context_.progress.warning(warning);
    }
  }

  void say_what_computes() {
    if (const std::string why = why_the_host_computes(options_.compute); !why.empty())
      context_.progress.note(format("no GPU can be used ({}): the CPU computes", why));
  }

  // As many as are added at once. Where more are there (after a restart, say) the folder is not looked at again before
  // they are in, and the host's kernel likes views a quarter of the turn apart: in a full scan of equal steps they
  // share their coordinates.
  std::vector<Arrived> next_block() {
    const auto block = static_cast<std::size_t>(volume_->block());
    if (ready_.empty()) {
      const std::vector<Arrived> arrived = arrivals_.look(views());
      if (arrivals_.take_renumbered()) {
        start_again_from_zero();
        return {};
      }
      ready_.assign(arrived.begin(), arrived.end());
      const std::int64_t apart = views() % 4 == 0 ? views() / 4 : views() % 2 == 0 ? views() / 2 : views();
      if (ready_.size() > block && volume_->sum().device().host)
        std::stable_sort(ready_.begin(), ready_.end(), [&](const Arrived& a, const Arrived& b) {
          return view_of_.at(a.frame) % apart < view_of_.at(b.frame) % apart;
        });
    }
    const auto end = ready_.begin() + static_cast<std::ptrdiff_t>(std::min(block, ready_.size()));
    std::vector<Arrived> next(ready_.begin(), end);
    ready_.erase(ready_.begin(), end);
    std::sort(next.begin(), next.end(), [](const Arrived& a, const Arrived& b) { return a.frame < b.frame; });
    return next;
  }

  // Views that are whole, at most a block of them. What cannot be read is tried again later.
  std::vector<LiveView> take_views() {
    const std::vector<Arrived> arrived = next_block();
    LiveFrames& frames = *live_frames_;
    const std::int64_t pixels = frames.columns() * frames.rows();
    std::vector<LiveView> all(arrived.size());
    std::vector<std::string> trouble(arrived.size());
    for (std::size_t i = 0; i < arrived.size(); ++i) {
      all[i].view = view_of_.at(arrived[i].frame);
      frames.set_file(all[i].view, arrived[i].file);
    }
    context_.threads.parallel_for(0, static_cast<std::int64_t>(arrived.size()), 1,
                                  [&](std::int64_t begin, std::int64_t end, int) {
                                    for (std::int64_t i = begin; i < end; ++i) {
                                      LiveView& view = all[static_cast<std::size_t>(i)];
                                      Buffer<unsigned char> native(pixels * bytes_per_pixel(frames.pixel_type()));
                                      try {
                                        frames.read_native(view.view, 0, frames.rows(), native.data());
                                      } catch (const Error& error) {
                                        if (error.kind() != ErrorKind::input && error.kind() != ErrorKind::unsupported)
                                          throw;
                                        trouble[static_cast<std::size_t>(i)] = error.what();
                                        continue;
                                      }
                                      view.counts = Buffer<float>(pixels);
                                      convert_to_float(frames.pixel_type(), native.data(), pixels, view.counts.data());
                                      audit_->record(view.view, 0, frames.rows(), native.data(), view.counts.data());
                                    }
                                  });
    std::vector<LiveView> whole;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!trouble[i].empty()) {
        arrivals_.not_readable(arrived[i].frame, trouble[i]);
        continue;
      }
      arrivals_.taken(arrived[i].frame);
      whole.push_back(std::move(all[i]));
    }
    return whole;
  }

  void collect() {
    context_.progress.begin("live", views());
    while (views_in_ < views()) {
      context_.cancel.check();
      std::vector<LiveView> arrived = take_views();
      if (arrived.empty()) {
        if (!wait_for_more()) break;
        continue;
      }
      volume_->add(arrived, context_);
      for (const LiveView& view : arrived) is_in_[static_cast<std::size_t>(view.view)] = true;
      views_in_ += static_cast<std::int64_t>(arrived.size());
      context_.progress.advance(static_cast<std::int64_t>(arrived.size()));
      display_.show(state(views_in_ < views() ? "running" : "finished"), volume_.get());
    }
    volume_->wait();
    report_.ready_seconds = arrivals_.since_last_change_s();
    context_.progress.end();
  }

  // False where the patience is at its end.
  bool wait_for_more() {
    const double waited = arrivals_.since_last_change_s();
    const std::vector<std::int64_t> waiting = views_not_in();
    const std::int64_t next = waiting.front();
    const std::string trouble = arrivals_.trouble(frame_of(next));
    std::string what = format("view {} of {}, {}", next + 1, views(), series_.name(frame_of(next)));
    if (!trouble.empty()) what += " (not readable yet: " + trouble + ")";
    if (const std::int64_t later = views_in_ - next; later > 0) what += format(", {} later ones are in", later);
    notes_.say(waited, what, context_);
    display_.show(state("waiting"), volume_.get());
    if (waited <= options_.timeout_s) {
      arrivals_.wait(options_.timeout_s);
      return true;
    }
    missing_ = waiting;
    explain_missing();
    return false;
  }

  std::vector<std::int64_t> views_not_in() const {
    std::vector<std::int64_t> views;
    for (std::size_t i = 0; i < is_in_.size(); ++i)
      if (!is_in_[i]) views.push_back(static_cast<std::int64_t>(i));
    return views;
  }

  LiveState state(const std::string& word) const {
    constexpr std::size_t few = 10;
    LiveState now{word, views(), views_in_, {}, word == "waiting" ? arrivals_.since_last_change_s() : 0};
    for (std::size_t view = 0; view < is_in_.size() && now.missing.size() < few; ++view)
      if (!is_in_[view]) now.missing.push_back(series_.name(frame_of(static_cast<std::int64_t>(view))));
    return now;
  }

  // A warning, or the end.
  void explain_missing() {
    std::string broken;
    for (const std::int64_t view : missing_) {
      report_.missing.push_back(series_.name(frame_of(view)));
      if (broken.empty()) broken = arrivals_.trouble(frame_of(view));
    }
    const std::string which = format("{} of {} views did not come: {} (counted from 0), the first is {}",
                                     missing_.size(), views(), ranges_of(missing_), report_.missing.front());
    const bool none = static_cast<std::int64_t>(missing_.size()) == views();
    if (options_.finish_incomplete && !none) {
      std::string warning = broken.empty() ? which : format("{}; {}", which, broken);
      if (series_.first_number_is_a_guess() && missing_.back() == views() - 1)
        warning +=
            "; if the series began with 0 and that frame was lost, all angles are wrong by one: --first-number 0";
      context_.progress.warning(warning);
      report_.warnings.push_back(warning);
      return;
    }
    display_.show_now(state("incomplete"), volume_.get());
    throw Error(
        ErrorKind::input,
        {.what = which,
         .where = broken.empty() ? series_.folder().string() : report_.missing.front(),
         .why = broken.empty() ? format("nothing came for {:g} s", options_.timeout_s) : broken,
         .hint =
             "start again when they are there, wait longer with --timeout, or take the others with --missing finish"});
  }

  // The first frame is number 0 after all: every file is another view than it was taken for.
  void start_again_from_zero() {
    context_.progress.note(
        format("{} has come: the series begins with 0, and the views are taken again", series_.name(0)));
    context_.progress.end();
    start_volume(Scan(scan_), first_frame_->name(0));
    context_.progress.begin("live", views());
  }

  // What each view counts depends on its neighbours: without some of them the sum is made anew.
  void start_again_without_missing() {
    context_.progress.note("the weights change without these views: the others are taken again");
    std::vector<std::int64_t> came;
    for (std::int64_t view = 0; view < views(); ++view)
      if (is_in_[static_cast<std::size_t>(view)]) came.push_back(view);
    Scan fewer = scan_of_views(scan_, came);
    fewer.resolved += format("\n# views left out because their frames did not come: {}\n", ranges_of(missing_));
    missing_.clear();
    const fs::path any = live_frames_->name(came.front());
    arrivals_.forget_taken();
    start_volume(std::move(fewer), any);
    collect();
  }

  [[noreturn]] void explain_interruption() {
    if (volume_) display_.show_now(state("interrupted"), volume_.get());
    const bool shown = volume_ && views_in_ > 0 && !options_.preview.empty();
    throw Error(ErrorKind::cancelled,
                {.what = "interrupted",
                 .where = {},
                 .why = format("{} of {} views were in{}", views_in_, volume_ ? views() : frames_,
                               shown ? format("; {} shows them", options_.preview.string()) : ""),
                 .hint = "start the same command again: it takes the views that are there and goes on"});
  }

  void write(VolumeWriter& writer) {
    const VolumeGrid& grid = scan_.grid;
    const std::int64_t slices = LiveVolume::slices_at_once(grid);
    Buffer<float> slab(slices * grid.nx * grid.ny);
    for (std::int64_t z = 0; z < grid.nz; z += slices) {
      context_.cancel.check();
      const std::int64_t end = std::min(grid.nz, z + slices);
      volume_->read({0, grid.nx, 0, grid.ny, z, end}, slab.data(), false);
      writer.write(z, end, slab.data());
    }
    say_once(audit_warnings(scan_, volume_->pre(), *audit_));
    fill_report();
    writer.finish(report_.provenance);
    report_.written_seconds = arrivals_.since_last_change_s();
    report_.seconds = seconds_until_now(start_);
    display_.show_now(state("finished"), volume_.get());
    report_.previews = display_.previews();
  }

  void fill_report() {
    const ViewAccumulator& sum = volume_->sum();
    report_.output = volume_file_;
    report_.grid = scan_.grid;
    report_.backend = sum.device().kind;
    report_.device = sum.device().name;
    report_.kernel = sum.kernel();
    report_.views = views_in_;
    report_.filter_seconds = volume_->filter_seconds();
    report_.backproject_seconds = volume_->add_seconds();
    report_.memory_limit_bytes = volume_->memory_limit_bytes();
    report_.peak_memory_bytes = peak_resident_bytes();
    ReconstructReport usual;
    usual.kernel = report_.kernel;
    usual.warnings = report_.warnings;
    usual.seconds = seconds_until_now(start_);
    usual.peak_memory_bytes = report_.peak_memory_bytes;
    auto made = parse_ordered_json(provenance(scan_, volume_->pre(), nullptr, *audit_, usual));
    made["backend"] = report_.backend;
    made["device"] = report_.device;
    made["live"] = {
        {"ready_seconds", report_.ready_seconds}, {"left_out", report_.left_out}, {"missing", report_.missing}};
    report_.provenance = json_text(made);
  }

  const Clock::time_point start_ = Clock::now();
  ScanAhead ahead_;
  fs::path volume_file_;
  const LiveOptions& options_;
  Context& context_;
  std::int64_t frames_;
  FrameSeries series_;
  Arrivals arrivals_;
  LiveDisplay display_;
  WaitingNotes notes_;
  Scan scan_;
  std::unique_ptr<FrameSource> first_frame_;  // that the pre-pass looked at
  std::unique_ptr<LiveVolume> volume_;
  LiveFrames* live_frames_ = nullptr;  // of volume_
  std::unique_ptr<RowAudit> audit_;
  std::map<std::int64_t, std::int64_t> view_of_;  // frame
  std::deque<Arrived> ready_;                     // seen and whole, not yet taken
  std::vector<bool> is_in_;                       // by view
  std::int64_t views_in_ = 0;
  std::vector<std::int64_t> missing_;
  LiveReport report_;
};

}  // namespace

LiveReport reconstruct_live(const fs::path& scan_file, const fs::path& volume_file, const LiveOptions& options,
                            Context& context) {
  const auto locks = reserve_volume(volume_file, options.call.force, context.progress);
  // Replaced again and again; that they can be is found out now.
  const OutputLock preview = reserve_output(options.preview, true, context.progress);
  const OutputLock status = reserve_output(options.status, true, context.progress);
  return LiveRun(scan_file, volume_file, options, context).run();
}

}  // namespace lepus
