// SPDX-License-Identifier: Apache-2.0
// What RabbitCT's runners and their modules agree on: five functions of C, and a structure that tells them what comes.
// Two runners are about, with different structures under the same names: the original one (rabbitct.com, files of
// version 1 and 2), and the one of NHR@FAU in Erlangen. Both structures start with the volume's size and the view's
// width and height, and both give the voxel size and the first voxel's place, by which a module can tell them apart.
#pragma once

#include <cstdint>

namespace lepus::rabbitct {

// The original. The runner clears it, and calls prepare, load, backproject for each view in order, finish, unload.
// Older ones (1.0.2) do not call prepare, do not clear it, and their structure ends before `views`.
struct OriginalData {
  std::uint32_t size;
  std::uint32_t columns, rows;
  double* matrix;               // of the view, column by column
  float* view;                  // u fastest
  float voxel_mm;               // 256 / size
  float origin_mm;              // of voxel 0: -voxel_mm (size - 1) / 2
  float* volume;                // null after load: the runner provides one, cleared
  std::uint32_t view_buffers;   // how many views are read ahead
  float** views_ahead;          // null after load: the runner provides them
  std::uint32_t views;          // in all
  std::uint32_t view_number;    // of this one
  double** matrices;            // of all views
  std::uint32_t views_read;     // how many of the buffers hold views now
  std::uint32_t first_of_read;  // not 0: this is the first of them
};

// Erlangen's. Several views may come in one call; `volume` is the runner's.
struct ErlangenView {
  std::int32_t number;  // counted from 1
  double* matrix;
  float* pixels;
};
struct ErlangenData {
  std::uint32_t size;
  std::uint32_t columns, rows;
  float voxel_mm;
  float origin_mm;
  float* volume;
  std::uint32_t views;  // prepare: in all, or 0 where that is not known; backproject: of this call
  double* matrices;
  ErlangenView* view;
  char* clipping_file;
};

// bool in the original, int in Erlangen's: an int of 0 or 1 serves both.
using ModuleFunction = int (*)(void*);
inline constexpr const char* module_functions[] = {"RCTPrepareAlgorithm", "RCTLoadAlgorithm",
                                                   "RCTAlgorithmBackprojection", "RCTFinishAlgorithm",
                                                   "RCTUnloadAlgorithm"};

}  // namespace lepus::rabbitct
