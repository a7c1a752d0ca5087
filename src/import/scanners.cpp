// SPDX-License-Identifier: Apache-2.0
// The scanners that lepus knows. To add one: write its file beside this one, and name it here and in scanner.h.
#include "import/scanner.h"

namespace lepus {

const std::vector<const Scanner*>& scanners() {
  static const std::vector<const Scanner*> all{
      &nikon_scanner(),  &skyscan_scanner(),   &phoenix_scanner(), &yxlon_scanner(),
      &diondo_scanner(), &northstar_scanner(), &rtk_scanner(),     &zeiss_scanner(),
      &nxtomo_scanner(), &dxchange_scanner(),  &varian_scanner(),  &elekta_scanner(),
      &edf_scanner(),    &xrad_scanner(),      &iba_scanner(),     &sinograms_scanner()};
  return all;
}

}  // namespace lepus
