// SPDX-License-Identifier: Apache-2.0
// How a slice lies in the volume: which axis runs along its columns and rows, voxels to millimetres, values to HU.
import type { Axis, Triple, Volume } from './protocol';

export const AXES: Axis[] = ['z', 'y', 'x'];
export const NUMBER: Record<Axis, 0 | 1 | 2> = { x: 0, y: 1, z: 2 };
/** Columns and rows of the slice across each axis. */
export const PLANE: Record<Axis, [0 | 1 | 2, 0 | 1 | 2]> = { z: [0, 1], y: [0, 2], x: [1, 2] };
export const LETTER = ['x', 'y', 'z'] as const;

/** Seen along z, y points down as in the file; z points up in the other two, as the object stood. */
export const UPWARDS: Record<Axis, boolean> = { z: false, y: true, x: true };

export const toMm = (volume: Volume, at: readonly number[]): Triple => [0, 1, 2].map((i) => volume.origin_mm[i] + at[i] * volume.step_mm[i]) as Triple;
export const toVoxel = (volume: Volume, mm: readonly number[]): Triple => [0, 1, 2].map((i) => (mm[i] - volume.origin_mm[i]) / volume.step_mm[i]) as Triple;
export const middle = (volume: Volume): Triple => volume.size.map((n) => Math.floor(n / 2)) as Triple;
export const clampTo = (value: number, low: number, high: number): number => Math.min(Math.max(value, low), high);
export const inside = (volume: Volume, at: readonly number[]): Triple => at.map((value, i) => clampTo(Math.round(value), 0, volume.size[i] - 1)) as Triple;
export const wholeBox = (volume: Volume): [number, number, number, number, number, number] => [0, volume.size[0], 0, volume.size[1], 0, volume.size[2]];

/** The same value in HU and 1/mm, where the volume says how; `raw` is what the file holds. */
export function inUnits(volume: Volume, value: number): { perMm: number | null; hu: number | null; raw: number } {
  const water = volume.hu?.water_per_mm ?? null;
  if (volume.unit === 'HU') return { hu: value, perMm: water === null ? null : water * (1 + value / 1000), raw: value };
  if (volume.unit === '1/mm') return { perMm: value, hu: water === null ? null : 1000 * (value / water - 1), raw: value };
  return { perMm: null, hu: null, raw: value };
}

/** Four digits that tell values of this size apart. */
export function digits(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return value === null || value === undefined ? '–' : 'NaN';
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size >= 1e6 || size < 1e-4) return value.toExponential(2);
  if (size >= 1000) return value.toFixed(0);
  return value.toFixed(Math.max(0, 3 - Math.floor(Math.log10(size)))).replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '');
}

export function lengthText(mm: number): string {
  if (mm >= 1000) return `${digits(mm / 1000)} m`;
  if (mm >= 10) return `${digits(mm)} mm`;
  if (mm >= 0.1) return `${digits(mm)} mm`;
  return `${digits(mm * 1000)} µm`;
}
