// SPDX-License-Identifier: Apache-2.0
// What the fuzzers call: the bytes of a file -> opened and read as lepus would. Any result is fine but a crash, a hang,
// a sanitizer's report, or an exception other than lepus::Error.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lepus::fuzz {

void mha(const std::uint8_t* data, std::size_t size);
void nrrd(const std::uint8_t* data, std::size_t size);
void tiff(const std::uint8_t* data, std::size_t size);
void hdf5(const std::uint8_t* data, std::size_t size);
void dicom(const std::uint8_t* data, std::size_t size);
void arrays(const std::uint8_t* data, std::size_t size);  // NumPy, MATLAB
void raw_sidecar(const std::uint8_t* data, std::size_t size);
void stl(const std::uint8_t* data, std::size_t size);
void zarr(const std::uint8_t* data, std::size_t size);
void journal(const std::uint8_t* data, std::size_t size);
void rabbitct(const std::uint8_t* data, std::size_t size);
void zeiss(const std::uint8_t* data, std::size_t size);
void varian(const std::uint8_t* data, std::size_t size);  // .xim, .hnd or .hnc by the first byte
void his(const std::uint8_t* data, std::size_t size);
void edf(const std::uint8_t* data, std::size_t size);
void sinogram(const std::uint8_t* data, std::size_t size);
void view_request(const std::uint8_t* data, std::size_t size);
void nikon_header(const std::uint8_t* data, std::size_t size);
void skyscan_header(const std::uint8_t* data, std::size_t size);
void phoenix_header(const std::uint8_t* data, std::size_t size);
void yxlon_header(const std::uint8_t* data, std::size_t size);
void diondo_header(const std::uint8_t* data, std::size_t size);
void northstar_header(const std::uint8_t* data, std::size_t size);
void xrad_header(const std::uint8_t* data, std::size_t size);
void iba_header(const std::uint8_t* data, std::size_t size);

}  // namespace lepus::fuzz
