// SPDX-License-Identifier: Apache-2.0
#include "correct/apply_correction.h"

namespace lepus {

void apply_correction(Correction& correction, const SinogramBand& band, RowBand wanted, Queue& queue, Queue& host) {
  Device& device = queue.device();
  if (correction.works_with(device.band_kernels(), band)) return correction.apply(band, wanted, queue);
  constexpr auto value_bytes = static_cast<std::int64_t>(sizeof(float));
  const Block memory = device.allocate(band.floats() * value_bytes, Place::host);
  SinogramBand here = band;
  here.data = reinterpret_cast<float*>(memory.get());
  device.copy(here.data, band.data, band.floats() * value_bytes, queue);
  queue.wait();
  correction.apply(here, wanted, host);
  const Planes from = here.sinograms(wanted), to = band.sinograms(wanted);
  device.copy(to.data, from.data, wanted.size() * band.views * band.columns * value_bytes, queue);
  queue.wait();  // `memory` is given back
}

}  // namespace lepus
