// SPDX-License-Identifier: Apache-2.0
#include "io/headed_stack.h"

#include "io/file.h"
#include "io/json_text.h"

namespace lepus {
namespace fs = std::filesystem;

namespace {

fs::path voxel_file(const StackTarget& target, const std::string& detached_ending) {
  if (target.unfinished != Unfinished::joined) check_target(target.path, target.force);
  return lower_extension(target.path) == detached_ending ? fs::path(target.path).replace_extension(".raw")
                                                         : target.path;
}

}  // namespace

HeadedStack::HeadedStack(const StackTarget& target, const std::string& detached_ending, std::int64_t room)
    : PlainStack(target, voxel_file(target, detached_ending), target.shape.bytes() + room), room_(room) {
  if (lower_extension(target.path) == detached_ending)
    header_ = std::make_unique<PartialFile>(target.path, target.force, 0, target.unfinished, target.sharing);
}

void HeadedStack::begin(std::string start, std::string end) {
  start_ = std::move(start);
  end_ = std::move(end);
  if (detached()) return begin_data(0);
  const auto fixed = static_cast<std::int64_t>(start_.size() + end_.size());
  if (is_joined()) {
    // The room is that of the run that began it, which may have thought of another provenance.
    room_ = data_.end() - target_.shape.bytes() - fixed;
    if (room_ < 0 || !holds(0, start_) || !holds(room_ + static_cast<std::int64_t>(start_.size()), end_))
      throw_other_unfinished(data_.partial(), "its header speaks of another volume");
  } else {
    data_.append(start_ + filler(room_) + end_);
  }
  begin_data(fixed + room_);
}

bool HeadedStack::holds(std::int64_t offset, const std::string& text) const {
  std::string there(text.size(), '\0');
  data_.read(offset, there.data(), static_cast<std::int64_t>(there.size()));
  return there == text;
}

void HeadedStack::finish(const std::string& provenance) {
  const std::string text = provenance_text(provenance);
  if (detached()) {
    const std::string header = start_ + text + end_;
    header_->resize(0);
    header_->append(header);
    return commit_together({&data_, header_.get()});
  }
  const std::int64_t left = room_ - static_cast<std::int64_t>(text.size());
  std::unique_ptr<PartialFile> beside;
  if (can_fill(left)) {
    const std::string header = start_ + text + filler(left) + end_;
    data_.write(0, header.data(), static_cast<std::int64_t>(header.size()));
  } else if (!provenance.empty()) {
    beside = side_car(side_car_of(target_.path), provenance_side_car(provenance));
  }
  commit_together({beside.get(), &data_});
}

}  // namespace lepus
