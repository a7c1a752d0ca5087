// SPDX-License-Identifier: Apache-2.0
// The histogram of each volume, asked for once, and the window that follows from it.
import { api } from './api';
import { createStore } from './store';
import { report } from './session';
import type { Histogram, Volume } from './protocol';
import type { ViewState } from './state';

export const BINS = 256;
export const histograms = createStore<Record<string, Histogram>>({});
const asked = new Set<string>();

export const histogramKey = (volume: Volume): string => `${volume.id}:${volume.changed}`;

export function wantHistogram(volume: Volume): void {
  const key = histogramKey(volume);
  if (asked.has(key)) return;
  asked.add(key);
  api.histogram(volume.id, BINS).then((histogram) => histograms.set({ [key]: histogram }), (error) => report(error, 'The histogram is missing'));
}

export function percentileOf({ low, high, counts }: Histogram, percent: number): number {
  const total = counts.reduce((sum, count) => sum + count, 0);
  let below = 0;
  const target = (percent / 100) * total;
  for (let bin = 0; bin < counts.length; bin++) {
    if (counts[bin] > 0 && below + counts[bin] >= target) return low + ((bin + (target - below) / counts[bin]) / counts.length) * (high - low);
    below += counts[bin];
  }
  return high;
}

/** Percentiles of a picture, of every n-th pixel. */
export function picturePercentiles(pixels: ArrayLike<number>, [low, high]: readonly [number, number]): [number, number] | null {
  const stride = Math.max(1, Math.floor(pixels.length / 20000));
  const sample: number[] = [];
  for (let i = 0; i < pixels.length; i += stride) if (Number.isFinite(pixels[i])) sample.push(pixels[i]);
  if (!sample.length) return null;
  sample.sort((a, b) => a - b);
  const at = (percent: number) => sample[Math.min(sample.length - 1, Math.floor((percent / 100) * sample.length))];
  return spread([at(low), at(high)]);
}

/** A window is never empty. */
export function spread([low, high]: [number, number]): [number, number] {
  if (high > low) return [low, high];
  const half = Math.max(Math.abs(low) * 1e-3, 1e-6);
  return [low - half, low + half];
}

export function defaultWindow(volume: Volume): [number, number] {
  if (volume.percentiles) return spread([volume.percentiles['0.1'], volume.percentiles['99.9']]);
  return volume.range ? spread(volume.range) : [0, 1];
}

/** The window for a picture (null: for the volume as a whole). */
export function windowFor(view: ViewState, volume: Volume, pixels: ArrayLike<number> | null): [number, number] {
  if (view.normalise === 'slice' && pixels) return picturePercentiles(pixels, view.percentiles) ?? defaultWindow(volume);
  const histogram = histograms.get()[histogramKey(volume)];
  if (view.normalise !== 'window' && histogram) return spread([percentileOf(histogram, view.percentiles[0]), percentileOf(histogram, view.percentiles[1])]);
  return view.window ?? defaultWindow(volume);
}
