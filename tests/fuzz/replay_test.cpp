// SPDX-License-Identifier: Apache-2.0
// The corpus of every fuzzer, replayed: each file must be read or refused.
#include "replay.h"

namespace lepus {
namespace {

TEST(FuzzCorpus, mha) { replay("mha", fuzz::mha); }
TEST(FuzzCorpus, nrrd) { replay("nrrd", fuzz::nrrd); }
TEST(FuzzCorpus, tiff) { replay("tiff", fuzz::tiff); }
TEST(FuzzCorpus, hdf5) { replay("hdf5", fuzz::hdf5); }
TEST(FuzzCorpus, dicom) { replay("dicom", fuzz::dicom); }
TEST(FuzzCorpus, arrays) { replay("arrays", fuzz::arrays); }
TEST(FuzzCorpus, raw_sidecar) { replay("raw_sidecar", fuzz::raw_sidecar); }
TEST(FuzzCorpus, zarr) { replay("zarr", fuzz::zarr); }
TEST(FuzzCorpus, stl) { replay("stl", fuzz::stl); }
TEST(FuzzCorpus, zeiss) { replay("zeiss", fuzz::zeiss); }
TEST(FuzzCorpus, varian) { replay("varian", fuzz::varian); }
TEST(FuzzCorpus, his) { replay("his", fuzz::his); }
TEST(FuzzCorpus, edf) { replay("edf", fuzz::edf); }
TEST(FuzzCorpus, sinogram) { replay("sinogram", fuzz::sinogram); }
TEST(FuzzCorpus, journal) { replay("journal", fuzz::journal); }
TEST(FuzzCorpus, rabbitct) { replay("rabbitct", fuzz::rabbitct); }

}  // namespace
}  // namespace lepus
