// SPDX-License-Identifier: Apache-2.0
// Lengths, angles and areas of points given in voxels, in millimetres and degrees.
import { lengthText, digits, toMm } from './axes';
import type { Triple, Volume } from './protocol';
import type { Measure } from './state';

const minus = (a: Triple, b: Triple): Triple => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const dot = (a: Triple, b: Triple): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a: Triple, b: Triple): Triple => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const size = (a: Triple): number => Math.sqrt(dot(a, a));

export const POINTS: Record<Measure['kind'], number> = { distance: 2, profile: 2, angle: 3, area: Infinity };

/** Millimetres, degrees (the angle at the second point) or square millimetres; null while points are missing. */
export function measured(volume: Volume, { kind, points }: Pick<Measure, 'kind' | 'points'>): number | null {
  const mm = points.map((point) => toMm(volume, point));
  if (kind === 'distance' || kind === 'profile') return mm.length < 2 ? null : size(minus(mm[1], mm[0]));
  if (mm.length < 3) return null;
  if (kind === 'angle') {
    const [a, b] = [minus(mm[0], mm[1]), minus(mm[2], mm[1])];
    return (Math.acos(Math.min(1, Math.max(-1, dot(a, b) / (size(a) * size(b) || 1)))) * 180) / Math.PI;
  }
  let sum: Triple = [0, 0, 0];
  for (let i = 1; i + 1 < mm.length; i++) {
    const part = cross(minus(mm[i], mm[0]), minus(mm[i + 1], mm[0]));
    sum = [sum[0] + part[0], sum[1] + part[1], sum[2] + part[2]];
  }
  return size(sum) / 2;
}

export function measureText(volume: Volume, measure: Pick<Measure, 'kind' | 'points'>): string {
  const value = measured(volume, measure);
  if (value === null) return '';
  if (measure.kind === 'angle') return `${digits(value)}°`;
  return measure.kind === 'area' ? `${digits(value)} mm²` : lengthText(value);
}
