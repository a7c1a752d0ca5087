// SPDX-License-Identifier: Apache-2.0
#include "run/counts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/format.h"
#include "core/json.h"
#include "project/grey_levels.h"
#include "run/air_level.h"
#include "run/count_marks.h"
#include "run/count_sample.h"

namespace lepus {
namespace {

// A standard error that the pixels of a block tell of their mean; the block's own slope is in it, which only widens it.
struct BlockMean {
  double mean = 0, error = 0;
};

class Looking {
public:
  Looking(const Scan& scan, CountSample::Rows rows, const CancelFlag& cancel)
      : sample_(scan, rows, cancel), lines_(scan.content == FrameContent::line_integrals) {
    block_columns_ = std::clamp<std::int64_t>(sample_.columns() / 64, 1, 8);
    for (const std::int64_t view : sample_.views()) {
      cancel.check();
      look_at_view(view);
    }
  }

  const CountSample& sample() const { return sample_; }
  CountFigures figures() const {
    CountFigures f;
    const auto share = [&](std::int64_t count) { return static_cast<double>(count) / static_cast<double>(pixels_); };
    f.views = static_cast<std::int64_t>(sample_.views().size());
    f.pixels = pixels_;
    f.at_dark = share(at_dark_);
    f.saturated = share(saturated_);
    f.above_flat = static_cast<double>(blocks_above_) / static_cast<double>(std::max<std::int64_t>(1, blocks_));
    f.constant = lowest_ == highest_;
    if (2 * air_.size() > sample_.views().size()) {
      std::vector<double> sorted(air_);
      std::sort(sorted.begin(), sorted.end());
      f.air = {sorted[sorted.size() / 2], sorted.front(), sorted.back()};
    }
    return f;
  }
  double lowest() const { return lowest_; }
  double highest() const { return highest_; }
  double negative() const { return static_cast<double>(negative_) / static_cast<double>(pixels_); }
  // The mean transmission of the outer sixths over that of the middle third.
  double sides_to_middle() const { return sides_ / middle_; }
  // Of frames that are said to be line integrals: about 1 at the sides, and less in the middle.
  bool looks_like_transmission() const {
    return highest_ < 1.5 && lowest_ > -0.1 && sides_to_middle() < 0.9 &&
           std::abs(sides_ / side_blocks_ - std::exp(-1.0)) < 0.05;
  }
  bool sees_object() const { return darkest_block_ < brightest_block_ - std::max(0.005, 6 * largest_error_); }
  // Shares of pixels that flats or darks show to be dead or stuck; they are not held against the frames.
  double defective() const { return static_cast<double>(defective_) / static_cast<double>(pixels_); }
  double stuck() const { return static_cast<double>(stuck_) / static_cast<double>(pixels_); }
  double dark_in_good_pixels() const { return static_cast<double>(at_dark_ - dead_) / static_cast<double>(pixels_); }
  double saturated_in_good_pixels() const {
    return static_cast<double>(saturated_ - stuck_) / static_cast<double>(pixels_);
  }

private:
  void look_at_view(std::int64_t view) {
    std::vector<float> means;
    std::vector<BlockMean> blocks;
    for (std::size_t g = 0; g < sample_.groups().size(); ++g) look_at_group(view, g, blocks);
    std::sort(blocks.begin(), blocks.end(), [](const BlockMean& a, const BlockMean& b) { return a.mean > b.mean; });
    means.reserve(blocks.size());
    for (const BlockMean& b : blocks) means.push_back(static_cast<float>(b.mean));
    const auto bright = blocks.begin(), end = bright + static_cast<std::ptrdiff_t>((blocks.size() + 4) / 5);
    if (bright == end) return;
    std::nth_element(bright, bright + (end - bright) / 2, end,
                     [](const BlockMean& a, const BlockMean& b) { return a.error < b.error; });
    const double error = (bright + (end - bright) / 2)->error;
    if (const auto air = air_level(means, error)) air_.push_back(*air);
    largest_error_ = std::max(largest_error_, error);
    blocks_ += static_cast<std::int64_t>(means.size());
    blocks_above_ +=
        std::count_if(means.begin(), means.end(), [&](float t) { return static_cast<double>(t) > 1.1 + 5 * error; });
    brightest_block_ = std::max(brightest_block_, static_cast<double>(means.front()));
    darkest_block_ = std::min(darkest_block_, static_cast<double>(means.back()));
  }

  void look_at_group(std::int64_t view, std::size_t group, std::vector<BlockMean>& blocks) {
    const RowBand rows = sample_.groups()[group];
    const std::int64_t columns = sample_.columns();
    std::vector<float> values(static_cast<std::size_t>(rows.size() * columns));
    sample_.frames().read(view, rows.first, rows.last, values.data());
    const std::vector<float> open = sample_.open_beam(group, view);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto value = static_cast<double>(values[i]), dark = static_cast<double>(sample_.dark(group)[i]);
      ++pixels_;
      if (!std::isfinite(value)) continue;
      lowest_ = std::min(lowest_, value);
      highest_ = std::max(highest_, value);
      negative_ += value < 0;
      const bool at_dark = !lines_ && value <= dark, saturated = value >= sample_.saturation_level();
      at_dark_ += at_dark;
      saturated_ += saturated;
      const bool dead = at_dark && !(static_cast<double>(open[i]) > 0);  // stuck ones are most often this, too
      const bool stuck = saturated && dark > 0.5 * sample_.saturation_level();
      dead_ += dead;
      stuck_ += stuck;
      defective_ += dead || stuck;
      values[i] = static_cast<float>(lines_ ? std::exp(-std::clamp(value, -50.0, 50.0))
                                            : (value - dark) / static_cast<double>(open[i]));
    }
    for (std::int64_t first = 0; first + block_columns_ <= columns; first += block_columns_)
      if (const auto block = look_at_block(values, rows.size(), first)) blocks.push_back(*block);
  }

  // None where no pixel of it has a transmission, as in dead columns.
  std::optional<BlockMean> look_at_block(const std::vector<float>& values, std::int64_t rows, std::int64_t first) {
    double sum = 0, squares = 0, n = 0;
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t column = first; column < first + block_columns_; ++column) {
        const auto t = static_cast<double>(values[static_cast<std::size_t>(row * sample_.columns() + column)]);
        if (!std::isfinite(t)) continue;
        sum += t;
        squares += t * t;
        ++n;
      }
    if (n == 0) return std::nullopt;
    const double mean = sum / n, variance = std::max(0.0, squares / n - mean * mean);
    const double error = std::sqrt(variance / std::max(1.0, n - 1));
    const double place = (static_cast<double>(first) + 0.5 * static_cast<double>(block_columns_)) /
                         static_cast<double>(sample_.columns());
    if (place < 1.0 / 6 || place > 5.0 / 6) {
      sides_ += mean;
      ++side_blocks_;
    }
    if (place > 1.0 / 3 && place < 2.0 / 3) middle_ += mean;
    return BlockMean{mean, error};
  }

  CountSample sample_;
  bool lines_;
  std::int64_t block_columns_ = 1;
  std::int64_t pixels_ = 0, at_dark_ = 0, saturated_ = 0, negative_ = 0, blocks_ = 0, blocks_above_ = 0, dead_ = 0,
               stuck_ = 0, defective_ = 0;
  double lowest_ = std::numeric_limits<double>::infinity(), highest_ = -std::numeric_limits<double>::infinity();
  double sides_ = 0, side_blocks_ = 0, middle_ = 0, brightest_block_ = 0, largest_error_ = 0,
         darkest_block_ = std::numeric_limits<double>::infinity();
  std::vector<double> air_;
};

bool corrects(const Scan& scan, std::initializer_list<const char*> kinds) {
  return std::any_of(scan.corrections.begin(), scan.corrections.end(), [&](const CorrectionSpec& c) {
    return std::any_of(kinds.begin(), kinds.end(), [&](const char* kind) { return c.kind == kind; });
  });
}

// Without flats nothing finds them.
const char* kind_for_dead(const Scan& scan) {
  return scan.intensity == Intensity::flats ? "dead-pixels" : "defect-map";
}

std::string why_at_dark(const Scan& scan, const Looking& seen, const CountFigures& f) {
  const std::string share = format("{:.3g} % of the frames' pixels are at or below the dark", 100 * f.at_dark);
  const PixelType type = seen.sample().frames().pixel_type();
  if (f.at_dark > 0.95)
    return share + ": the frames are black; was the beam off, are they darks, were they divided by the flats already?";
  if ((type == PixelType::i8 || type == PixelType::i16 || type == PixelType::i32) && seen.negative() > 0.5 * f.at_dark)
    return share + format(", most of them negative: pixels without a sign seem to be read as {}; set frames.raw.type",
                          name_of(type));
  if (seen.sides_to_middle() < 0.7)
    return share +
           ", and the sides are darker than the middle: these look like line integrals; say frames.content = "
           "\"line-integrals\"";
  if (scan.darks)
    return share +
           ": the darks seem to be of another exposure or gain; check them, set frames.darks_scale, or leave "
           "them out";
  return share + format(
                     ": no light came through there, or the detector is dead there; add [[correct]] kind = \"{}\" or "
                     "\"hot-pixels\", or expose longer",
                     kind_for_dead(scan));
}

std::string why_not_at_one(const Scan& scan, double level) {
  if (scan.content == FrameContent::line_integrals)
    return format(
        "the open beam beside the object has the line integral {:.3g} instead of 0: the volume will be off by a "
        "share of it; were the frames divided by the flats?",
        -std::log(level));
  const bool flats = scan.intensity == Intensity::flats;
  return format(
      "the open beam in the frames is at {:.3g} of {}: another exposure, current or scale? Set {} = {:.4g}, or "
      "add [[correct]] kind = \"drift\" or \"dose\"; if the object fills every frame, this is no air",
      level, flats ? "the flats" : "intensity.from's I0", flats ? "frames.flats_scale" : "frames.frames_scale",
      flats ? level * scan.scales.flats : scan.scales.frames / level);
}

void warn(const Scan& scan, const Looking& seen, const CancelFlag& cancel, CountFigures& f) {
  const auto say = [&](std::string sentence) { f.warnings.push_back(std::move(sentence)); };
  if (f.constant)
    return say(format("every pixel that was looked at is {:g}: were the frames ever written, is it the right dataset?",
                      seen.lowest()));
  if (const auto mark = mark_of_wrong_reading(seen.sample(), scan.frames.raw.has_value(), cancel))
    return say(*mark);  // the cause of all that follows
  const bool lines = scan.content == FrameContent::line_integrals;
  if (lines && seen.lowest() < static_cast<double>(lowest_line))
    say(format(
        "line integrals reach down to {:.4g}, for which no beam is bright enough: does that stand for pixels that were "
        "not measured? Name them with [[correct]] kind = \"defect-map\", or write NaN, which neighbours replace",
        seen.lowest()));
  if (lines && seen.highest() > 50)
    return say(
        format("line integrals reach {:.4g}, which nothing shines through: are the frames counts?", seen.highest()));
  if (lines && seen.looks_like_transmission())
    return say(
        "the frames are 1 at the sides and lower where the object is: they look like transmissions; say "
        "frames.content = \"counts\" with intensity.from = \"value\" and value = 1");
  if (seen.dark_in_good_pixels() > 0.01) say(why_at_dark(scan, seen, f));
  if (seen.saturated_in_good_pixels() > 0.001)
    say(format("{:.3g} % of the frames' pixels are saturated: what they saw is lost; expose less", 100 * f.saturated));
  if (seen.defective() > 0.0001 && !corrects(scan, {"dead-pixels", "hot-pixels", "defect-map"}))
    say(format(
        "{:.3g} % of the pixels are dead or stuck in the flats and darks: add [[correct]] kind = \"{}\" before they "
        "draw rings",
        100 * seen.defective(), kind_for_dead(scan)));
  if (seen.sample().saturated_flats() > seen.stuck() + 0.001)
    say(
        format("{:.3g} % of the flats' pixels are saturated: the true intensity there is higher; expose the flats less "
               "and set frames.flats_scale",
               100 * seen.sample().saturated_flats()));
  if (!lines && seen.sample().dark_to_open() > 1)
    say(format("the darks are {:.3g} times the flats above them: are they darks of this detector mode?",
               seen.sample().dark_to_open()));
  if (f.at_dark > 0.95) return;
  const bool levelled = corrects(scan, {"drift", "dose"});
  const bool off = f.air && std::abs(f.air->level - 1) > 0.1 && !levelled;
  if (off) say(why_not_at_one(scan, f.air->level));
  if (f.air && f.air->highest > 1.1 * f.air->lowest && !levelled)
    say(
        format("the open beam changes from {:.3g} to {:.3g} of I0 between views; add [[correct]] kind = \"drift\" or "
               "\"dose\"",
               f.air->lowest, f.air->highest));
  if (!off && !levelled && f.above_flat > 0.005)
    say(format(
        "{:.3g} % of the frames are brighter than the open beam by more than a tenth: was the object in the beam "
        "when the flats were taken, did the detector move?",
        100 * f.above_flat));
  if (!seen.sees_object()) say("no object is seen in the frames: are they flats?");
}

}  // namespace

std::string CountFigures::text() const {
  const std::string level = !air ? "not seen, so that its level cannot be checked"
                            : air->highest - air->lowest > 0.01
                                ? format("at {:.3f} of I0 ({:.3f} to {:.3f})", air->level, air->lowest, air->highest)
                                : format("at {:.3f} of I0", air->level);
  return format("{:.3g} % at dark, {:.3g} % saturated, {:.3g} % above the open beam; air {} (in {} views)",
                100 * at_dark, 100 * saturated, 100 * above_flat, level, views);
}

std::string CountFigures::json() const {
  nlohmann::ordered_json all{{"views", views},         {"pixels", pixels},         {"at_dark", at_dark},
                             {"saturated", saturated}, {"above_flat", above_flat}, {"air", nullptr}};
  if (air) all["air"] = {{"level", air->level}, {"lowest", air->lowest}, {"highest", air->highest}};
  return json_text(all);
}

CountFigures look_at_counts(const Scan& scan, const CancelFlag& cancel) {
  const auto judged = [&](const Looking& seen) {
    CountFigures figures = seen.figures();
    warn(scan, seen, cancel, figures);
    return figures;
  };
  const Looking seen(scan, CountSample::Rows::some, cancel);
  if (seen.sees_object()) return judged(seen);
  return judged(Looking(scan, CountSample::Rows::all, cancel));  // a small object may lie between the rows
}

}  // namespace lepus
