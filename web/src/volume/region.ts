// SPDX-License-Identifier: Apache-2.0
// Which part of the volume the camera looks at, and which planes cut it.
import { toMm, wholeBox } from '../core/axes';
import { planeNormal } from '../core/plane';
import type { Box, Triple, Volume } from '../core/protocol';
import type { ViewState } from '../core/state';
import type { Plane } from './scene';

interface Camera {
  getPosition(): number[];
  getDirectionOfProjection(): number[];
  getViewUp(): number[];
  getViewAngle(): number;
}

const cross = (a: number[], b: number[]): number[] => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const dot = (a: number[], b: number[]): number => a.reduce((sum, value, i) => sum + value * b[i], 0);
const SNAP = 32;

/** Edges of a box of voxels in millimetres. */
export function edges(volume: Volume, box: Box): { low: Triple; high: Triple } {
  return {
    low: toMm(volume, [box[0] - 0.5, box[2] - 0.5, box[4] - 0.5]),
    high: toMm(volume, [box[1] - 0.5, box[3] - 0.5, box[5] - 0.5]),
  };
}

/** The part of `box` that can be seen, in steps of some voxels; `box` itself where most of it can. */
export function seen(volume: Volume, box: Box, camera: Camera, aspect: number): Box {
  const { low, high } = edges(volume, box);
  const position = camera.getPosition();
  const direction = camera.getDirectionOfProjection();
  const up = camera.getViewUp();
  const right = cross(direction, up);
  const corners = [0, 1, 2, 3, 4, 5, 6, 7].map((bits) => [bits & 1 ? high[0] : low[0], bits & 2 ? high[1] : low[1], bits & 4 ? high[2] : low[2]]);
  const depths = corners.map((corner) => dot(corner.map((value, i) => value - position[i]), direction));
  const reach = Math.tan((camera.getViewAngle() * Math.PI) / 360);
  const frustum = [Math.max(0, Math.min(...depths)), Math.max(0, ...depths)].flatMap((depth) =>
    [[-1, -1], [-1, 1], [1, -1], [1, 1]].map(([u, v]) => [0, 1, 2].map((i) => position[i] + depth * (direction[i] + reach * (v * up[i] + u * aspect * right[i])))));
  const part = [...box] as Box;
  for (const i of [0, 1, 2] as const) {
    const values = frustum.map((point) => (point[i] - volume.origin_mm[i]) / volume.step_mm[i]);
    part[2 * i] = Math.max(box[2 * i], Math.floor(Math.min(...values) / SNAP) * SNAP);
    part[2 * i + 1] = Math.min(box[2 * i + 1], Math.ceil((Math.max(...values) + 1) / SNAP) * SNAP);
    if (part[2 * i + 1] <= part[2 * i]) return box;
  }
  const voxels = (one: Box) => (one[1] - one[0]) * (one[3] - one[2]) * (one[5] - one[4]);
  return voxels(part) < 0.5 * voxels(box) ? part : box;
}

/** The clipping box's sides that cut, and the plane through the crosshair. */
export function planes(view: ViewState, volume: Volume): Plane[] {
  const found: Plane[] = [];
  const at = toMm(volume, view.at);
  if (view.cut !== 'none') {
    const normal = view.cut === 'oblique' ? (planeNormal(view.plane).map((value) => -value) as Triple)
      : ([0, 1, 2].map((i) => ('xyz'[i] === view.cut ? (view.cut === 'y' ? 1 : -1) : 0)) as Triple);
    found.push({ origin: at, normal });
  }
  if (view.clip) {
    const { low, high } = edges(volume, view.clip);
    const whole = wholeBox(volume);
    for (const i of [0, 1, 2]) {
      const unit = (sign: number) => [0, 1, 2].map((j) => (j === i ? sign : 0)) as Triple;
      if (view.clip[2 * i] > whole[2 * i]) found.push({ origin: low, normal: unit(1) });
      if (view.clip[2 * i + 1] < whole[2 * i + 1]) found.push({ origin: high, normal: unit(-1) });
    }
  }
  return found;
}
