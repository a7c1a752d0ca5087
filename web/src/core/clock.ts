// SPDX-License-Identifier: Apache-2.0
// The page's own clock: how many slices it drew and when, for the test of the scrolling rate (window.lepusClock).
import { state } from './state';
import { NUMBER } from './axes';
import type { Axis, Triple } from './protocol';

interface Drawn {
  axis: Axis;
  index: number;
  width: number;
  height: number;
  /** Columns of the picture that was drawn. */
  pixels: number;
}

const waiting: ((drawn: Drawn) => void)[] = [];
const drawn: { axis: Axis; index: number; time: number }[] = [];

/** A pane drew a picture of this slice. */
export function tick(now: Drawn): void {
  drawn.push({ axis: now.axis, index: now.index, time: performance.now() });
  if (drawn.length > 1000) drawn.shift();
  for (const wake of waiting.splice(0)) wake(now);
}

/** Goes through `count` slices, each as soon as the one before is on the screen; resolves to slices per second, the longest time that one took, and how many columns
 * the median picture had. */
async function scroll(axis: Axis, from: number, count: number): Promise<{ rate: number; slices: number; seconds: number; longest_ms: number; pixels: number; canvas: [number, number] }> {
  const start = performance.now();
  const times = [start];
  const pixels: number[] = [];
  let canvas: [number, number] = [0, 0];
  for (let index = from; index < from + count; index++) {
    const at = [...state.get().at] as Triple;
    at[NUMBER[axis]] = index;
    state.set({ at });
    for (;;) {
      const seen = await new Promise<Drawn>((wake) => waiting.push(wake));
      canvas = [seen.width, seen.height];
      if (seen.axis !== axis || seen.index !== index) continue;
      pixels.push(seen.pixels);
      times.push(performance.now());
      break;
    }
  }
  const seconds = (performance.now() - start) / 1000;
  const longest_ms = Math.max(...times.slice(1).map((time, i) => time - times[i]));
  return { rate: count / seconds, slices: count, seconds, longest_ms, pixels: pixels.sort((a, b) => a - b)[Math.floor(count / 2)], canvas };
}

export const clock = { drawn, scroll };
declare global {
  interface Window {
    lepusClock: typeof clock;
  }
}
window.lepusClock = clock;
