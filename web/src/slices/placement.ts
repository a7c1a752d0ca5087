// SPDX-License-Identifier: Apache-2.0
// Where voxels lie on a pane's canvas. Everything passes through millimetres, so that volumes with different grids lie right on
// each other.
import { NUMBER, PLANE, UPWARDS, middle, toMm } from '../core/axes';
import type { Axis, Level, Triple, Volume } from '../core/protocol';
import type { ViewState } from '../core/state';

export interface Placement {
  axis: Axis;
  volume: Volume;
  /** Of the part of the canvas that is used, in device pixels. */
  left: number;
  width: number;
  height: number;
  /** Device pixels per millimetre. */
  scale: number;
  /** Millimetres in the middle. */
  centre: [number, number];
}

const MARGIN = 0.94;

export function place(view: ViewState, volume: Volume, axis: Axis, left: number, width: number, height: number): Placement {
  const [a, b] = PLANE[axis];
  // Beside each other the three have one scale: that of the one that needs most.
  const axes: Axis[] = view.layout === axis ? [axis] : ['x', 'y', 'z'];
  const mm = (which: 0 | 1): number => Math.max(...axes.map((one) => volume.size[PLANE[one][which]] * volume.step_mm[PLANE[one][which]]));
  const fit = MARGIN * Math.min(width / mm(0), height / mm(1));
  const half = volume.size.map((n) => (n - 1) / 2) as Triple;
  const centre = toMm(volume, view.centre ?? half);
  return { axis, volume, left, width, height, scale: fit * view.zoom, centre: [centre[a], centre[b]] };
}

export function mmToCanvas(at: Placement, a: number, b: number): [number, number] {
  const down = UPWARDS[at.axis] ? -1 : 1;
  return [at.left + at.width / 2 + (a - at.centre[0]) * at.scale, at.height / 2 + down * (b - at.centre[1]) * at.scale];
}

export function voxelToCanvas(at: Placement, voxel: readonly number[]): [number, number] {
  const mm = toMm(at.volume, voxel);
  const [a, b] = PLANE[at.axis];
  return mmToCanvas(at, mm[a], mm[b]);
}

/** The voxel (with fractions) under a point of the canvas; the third coordinate is that of the slice. */
export function canvasToVoxel(at: Placement, x: number, y: number, slice: number): Triple {
  const [a, b] = PLANE[at.axis];
  const down = UPWARDS[at.axis] ? -1 : 1;
  const mm = [at.centre[0] + (x - at.left - at.width / 2) / at.scale, at.centre[1] + (down * (y - at.height / 2)) / at.scale];
  const voxel = middle(at.volume);
  voxel[NUMBER[at.axis]] = slice;
  voxel[a] = (mm[0] - at.volume.origin_mm[a]) / at.volume.step_mm[a];
  voxel[b] = (mm[1] - at.volume.origin_mm[b]) / at.volume.step_mm[b];
  return voxel;
}

const WHOLE_UP_TO = 2048;
const GRID = 256;

/** The level that the server takes: the finest of which no side passes `max`, else the coarsest. */
export function levelFor(levels: Level[], axis: Axis, box: [number, number, number, number] | null, max: number): Level | undefined {
  const length = ({ factor, size }: Level, i: number, from: number, to: number) => Math.min(size[i], Math.ceil(to / factor)) - Math.min(size[i] - 1, Math.floor(from / factor));
  const side = (level: Level) => Math.max(...PLANE[axis].map((i, which) => (box ? length(level, i, box[2 * which], box[2 * which + 1]) : level.size[i])));
  return levels.find((level) => side(level) <= max) ?? levels.at(-1);
}

/** What to fetch of a slice: all of it where that is affordable, else what is seen, in steps so that panning reuses it. */
export function cutFor(at: Placement, volume: Volume): { box: [number, number, number, number] | null; max: number } {
  const [a, b] = PLANE[at.axis];
  const voxels_per_pixel = 1 / (at.scale * Math.min(volume.step_mm[a], volume.step_mm[b]));
  const factor = 2 ** Math.max(0, Math.floor(Math.log2(voxels_per_pixel) + 0.25));
  const [columns, rows] = [volume.size[a], volume.size[b]];
  const whole = Math.ceil(Math.max(columns, rows) / factor);
  if (whole <= WHOLE_UP_TO) return { box: null, max: whole };
  const grid = GRID * factor;
  const corner = [canvasToVoxel({ ...at, volume }, at.left, 0, 0), canvasToVoxel({ ...at, volume }, at.left + at.width, at.height, 0)];
  const range = (i: 0 | 1 | 2, size: number): [number, number] => {
    const low = Math.max(0, Math.floor(Math.min(corner[0][i], corner[1][i]) / grid) * grid);
    const high = Math.min(size, Math.ceil(Math.max(corner[0][i], corner[1][i]) / grid) * grid);
    return [Math.min(low, size - 1), Math.max(high, Math.min(low, size - 1) + 1)];
  };
  const box: [number, number, number, number] = [...range(a, columns), ...range(b, rows)];
  return { box, max: Math.ceil(Math.max(box[1] - box[0], box[3] - box[2]) / factor) };
}
