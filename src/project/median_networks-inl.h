// SPDX-License-Identifier: Apache-2.0
// Medians of 3, 5 and 7 values by exchanges: exchange(low, high) orders two values, or two vectors lane by lane.
// Included inside a namespace, once for floats and once for each SIMD target, whose functions cannot share a template.

template <class V, class Exchange>
LEPUS_HD inline V median_of_3(V a, V b, V c, const Exchange& exchange) {
  exchange(a, b);
  exchange(b, c);
  exchange(a, b);
  return b;
}

template <class V, class Exchange>
LEPUS_HD inline V median_of_5(V a, V b, V c, V d, V e, const Exchange& exchange) {
  exchange(a, b);
  exchange(c, d);
  exchange(a, c);
  exchange(b, d);
  // a is the least and d the largest of the four.
  return median_of_3(b, c, e, exchange);
}

template <class V, class Exchange>
LEPUS_HD inline V median_of_7(V a, V b, V c, V d, V e, V f, V g, const Exchange& exchange) {
  exchange(a, b);
  exchange(c, d);
  exchange(e, f);
  exchange(a, c);
  exchange(a, e);
  exchange(b, f);
  exchange(d, f);
  // a is the least and f the largest of the six: the median of seven is the median of the rest and g.
  return median_of_5(b, c, d, e, g, exchange);
}
