// SPDX-License-Identifier: Apache-2.0
#include "align/calibrate.h"
#include "run/prepass.h"

namespace lepus {

void each_frame(const Scan& scan, Context& context,
                const std::function<void(std::int64_t, std::span<const float>)>& use) {
  const PrePass pre = pre_pass(scan, context);
  const FrameSource& frames = *pre.frames;
  std::vector<float> frame(static_cast<std::size_t>(frames.columns() * frames.rows()));
  context.progress.begin("frames", frames.frames());
  for (std::int64_t view = 0; view < frames.frames(); ++view) {
    context.cancel.check();
    frames.read(view, 0, frames.rows(), frame.data());
    if (pre.normalisation) pre.normalisation->apply(0, frames.rows(), frame.data());
    use(view, frame);
    context.progress.advance();
  }
  context.progress.end();
}

}  // namespace lepus
