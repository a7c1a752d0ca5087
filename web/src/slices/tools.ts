// SPDX-License-Identifier: Apache-2.0
// What a press, a drag or a key does to the view: points of measures, the region, window and level, panning and zooming.
import { currentVolume } from '../core/session';
import { clampTo, inside, NUMBER, PLANE } from '../core/axes';
import { POINTS } from '../core/measure';
import { defaultWindow, windowFor } from '../core/histogram';
import { pointer } from './pointer';
import { state, type Measure, type Region } from '../core/state';
import type { Axis, Box, Triple, Volume } from '../core/protocol';

export function goTo(at: readonly number[]): void {
  const volume = currentVolume();
  if (volume) state.set({ at: inside(volume, at) });
}

export function step(axis: Axis, by: number): void {
  const at = [...state.get().at] as Triple;
  at[NUMBER[axis]] += by;
  goTo(at);
}

/** Zooms by a factor so that `fixed` (voxels) stays where it is. */
export function zoomBy(factor: number, fixed: Triple | null = null): void {
  const volume = currentVolume();
  const { zoom, centre } = state.get();
  if (!volume) return;
  const next = clampTo(zoom * factor, 0.2, 400);
  const half = volume.size.map((n) => (n - 1) / 2) as Triple;
  const from = centre ?? half;
  const about = fixed ?? from;
  state.set({ zoom: next, centre: next === 1 && !fixed ? centre : (from.map((c, i) => about[i] + (c - about[i]) * (zoom / next)) as Triple) });
}

export const fit = (): void => state.set({ zoom: 1, centre: null });

export function panBy(axis: Axis, columns: number, rows: number): void {
  const volume = currentVolume();
  if (!volume) return;
  const centre = [...(state.get().centre ?? volume.size.map((n) => (n - 1) / 2))] as Triple;
  const [a, b] = PLANE[axis];
  centre[a] = clampTo(centre[a] - columns, 0, volume.size[a] - 1);
  centre[b] = clampTo(centre[b] - rows, 0, volume.size[b] - 1);
  state.set({ centre });
}

/** Moves the window's middle and width by shares of its width. */
export function windowBy(level: number, width: number, from?: [number, number]): void {
  const volume = currentVolume();
  if (!volume) return;
  const [low, high] = from ?? windowFor(state.get(), volume, null);
  const size = (high - low) * Math.exp(width);
  const centre = (low + high) / 2 + level * (high - low);
  setWindow([centre - size / 2, centre + size / 2]);
}

export function setWindow(window: [number, number] | null): void {
  state.set({ window, normalise: 'window' });
}

export interface Preset {
  name: string;
  window: (volume: Volume) => [number, number] | null;
}

const hu = (low: number, high: number) => (volume: Volume): [number, number] | null => {
  if (volume.unit === 'HU') return [low, high];
  const water = volume.hu?.water_per_mm;
  return water && volume.unit === '1/mm' ? [water * (1 + low / 1000), water * (1 + high / 1000)] : null;
};

export const PRESETS: Preset[] = [
  { name: '0.1–99.9 %', window: defaultWindow },
  { name: '1–99 %', window: ({ percentiles }) => percentiles && [percentiles['1'], percentiles['99']] },
  { name: 'Full range', window: ({ range }) => range },
  { name: 'Bone', window: hu(-500, 1500) },
  { name: 'Soft tissue', window: hu(-160, 240) },
  { name: 'Lung', window: hu(-1350, 150) },
];

export function addPoint(axis: Axis, point: Triple, kind: Measure['kind']): void {
  const { draft } = pointer.get();
  const points = [...(draft?.axis === axis && draft.kind === kind ? draft.points : []), point];
  if (points.length >= POINTS[kind]) finish({ kind, axis, points });
  else pointer.set({ draft: { kind, axis, points } });
}

function finish(measure: Measure): void {
  pointer.set({ draft: null });
  state.set({ measures: [...state.get().measures, measure], panels: openPanel('measure') });
}

/** Ends a polygon. */
export function closeDraft(): void {
  const { draft } = pointer.get();
  if (draft && draft.kind === 'area' && draft.points.length >= 3) finish(draft);
}

export function openPanel(name: string): string {
  const panels = state.get().panels.split(',').filter(Boolean);
  return (panels.includes(name) ? panels : [...panels, name]).join(',');
}

/** A region from two corners in a slice; along the third axis it is as deep as its shorter side. */
export function regionFrom(volume: Volume, axis: Axis, from: Triple, to: Triple, shape: Region['shape'], depth: [number, number] | null): Region {
  const [a, b] = PLANE[axis];
  const n = NUMBER[axis];
  const box: Box = [0, 0, 0, 0, 0, 0];
  const put = (i: number, low: number, high: number) => {
    box[2 * i] = clampTo(Math.round(low), 0, volume.size[i] - 1);
    box[2 * i + 1] = clampTo(Math.round(high), box[2 * i] + 1, volume.size[i]);
  };
  for (const i of [a, b]) put(i, Math.min(from[i], to[i]), Math.max(from[i], to[i]) + 1);
  const side = Math.min(...[a, b].map((i) => (box[2 * i + 1] - box[2 * i]) * volume.step_mm[i])) / volume.step_mm[n];
  if (depth) put(n, depth[0], depth[1]);
  else put(n, from[n] - side / 2, from[n] - side / 2 + side);
  return { shape, box };
}
