// SPDX-License-Identifier: Apache-2.0
// Rows of bits in words of 64, the first voxel in the lowest bit; bits behind the last voxel are zero.
#pragma once

#include <bit>
#include <cstdint>

namespace lepus::analysis {

using Word = std::uint64_t;
inline constexpr std::int64_t word_bits = 64;

inline std::int64_t words_for(std::int64_t bits) { return (bits + word_bits - 1) / word_bits; }

inline bool bit_at(const Word* row, std::int64_t i) { return (row[i / word_bits] >> (i % word_bits) & 1) != 0; }

// Bits [first, last) of one word, 0 <= first < last <= 64.
inline Word bits_between(std::int64_t first, std::int64_t last) {
  const Word up_to_last = last == word_bits ? ~Word{0} : (Word{1} << last) - 1;
  return up_to_last & ~((Word{1} << first) - 1);
}

// Calls f(word, mask) for each word that bits [first, last) of a row touch.
template <class F>
void each_word(std::int64_t first, std::int64_t last, F&& f) {
  while (first < last) {
    const std::int64_t word = first / word_bits, from = first % word_bits;
    const std::int64_t to = last - word * word_bits < word_bits ? last - word * word_bits : word_bits;
    f(word, bits_between(from, to));
    first = (word + 1) * word_bits;
  }
}

inline void set_bits(Word* row, std::int64_t first, std::int64_t last) {
  each_word(first, last, [&](std::int64_t word, Word mask) { row[word] |= mask; });
}

inline bool any_bit(const Word* row, std::int64_t first, std::int64_t last) {
  Word found = 0;
  each_word(first, last, [&](std::int64_t word, Word mask) { found |= row[word] & mask; });
  return found != 0;
}

inline std::int64_t count_bits(const Word* words, std::int64_t n) {
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < n; ++i) count += std::popcount(words[i]);
  return count;
}

// Calls f(first, last) for every run of ones in a row, from left to right: where a bit differs from the one before it a
// run begins or ends, so only these places are visited.
template <class F>
void each_run(const Word* row, std::int64_t words, F&& f) {
  Word before = 0;  // the last bit of the word before, as bit 0
  std::int64_t begin = -1;
  for (std::int64_t w = 0; w < words; ++w) {
    Word edges = row[w] ^ (row[w] << 1 | before);
    before = row[w] >> 63;
    while (edges != 0) {
      const std::int64_t at = w * word_bits + std::countr_zero(edges);
      edges &= edges - 1;
      if (begin < 0) {
        begin = at;
      } else {
        f(begin, at);
        begin = -1;
      }
    }
  }
  if (begin >= 0) f(begin, words * word_bits);
}

}  // namespace lepus::analysis
