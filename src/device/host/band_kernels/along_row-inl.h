// SPDX-License-Identifier: Apache-2.0
// A loop over the pixels [first, last) of a row in whole vectors, then one by one: body(tag, x). Included inside the
// namespace of each SIMD target, whose functions cannot share a template.

template <class Body>
void along_row(std::int64_t first, std::int64_t last, const Body& body) {
  const hn::ScalableTag<float> wide;
  const hn::CappedTag<float, 1> single;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(wide));
  std::int64_t x = first;
  for (; x + lanes <= last; x += lanes) body(wide, x);
  for (; x < last; ++x) body(single, x);
}
