// SPDX-License-Identifier: Apache-2.0
// What the server says, as docs/view-protocol.md has it. Voxels are those of level 0, boxes half open.

export type Triple = [number, number, number];
export type Axis = 'x' | 'y' | 'z';
/** x0,x1,y0,y1,z0,z1 in voxels, half open. */
export type Box = [number, number, number, number, number, number];
export type Percentiles = Record<'0.1' | '1' | '50' | '99' | '99.9', number>;

export interface Level {
  factor: number;
  size: Triple;
  /** Voxels lie one by one in a file, so that a slice across x is a read per voxel. */
  plain?: boolean;
}

export interface Volume {
  id: number;
  name: string;
  size: Triple;
  step_mm: Triple;
  origin_mm: Triple;
  type: string;
  unit: string;
  range: [number, number] | null;
  percentiles: Percentiles | null;
  not_finite?: number;
  levels: Level[];
  hu: { water_per_mm: number } | null;
  labels: { volume: number; blobs: number } | null;
  pyramid: { state: 'none' | 'writing' | 'there'; done: number; why?: string };
  changed: number;
  gone?: '' | 'vanished' | 'changed';
  /** Where the scan saw the object in every view: a cylinder along z. */
  field_of_view?: { center_mm: [number, number]; radius_mm: number } | null;
  role?: string;
}

export interface Correction {
  kind: string;
  options: Record<string, unknown>;
}

export interface Scan {
  file: string;
  views: number;
  columns: number;
  rows: number;
  angles: number[];
  corrections: Correction[];
  toml: string;
  axis_column: number;
  stages?: string[];
  flats?: number;
  grid?: { size: Triple; step_mm: Triple; origin_mm: Triple };
}

export interface Run {
  output: string;
  state?: 'running' | 'finished' | 'stopped';
  slices: number;
  finished: [number, number][];
  seconds_left: number | null;
  rate: number | null;
  residual: number[];
  views?: number | null; // of lepus live
  views_in?: number;
  iterations?: number; // of an iterative method
  iterations_done?: number;
}

export interface Session {
  version: string;
  kind: 'volume' | 'scan' | 'run';
  volumes: Volume[];
  scan: Scan | null;
  run: Run | null;
}

export interface Histogram {
  low: number;
  high: number;
  counts: number[];
  percentiles: Percentiles | null;
}

export interface Statistics {
  voxels: number;
  not_finite?: number;
  mean: number | null;
  sd: number | null;
  min: number | null;
  max: number | null;
  mm3: number;
}

export interface BlobTable {
  columns: string[];
  rows: (number | string | null)[][];
}

/** Values as they were sent: in 16 bits 1 is low, 65535 is high, 0 is no number; in 8 bits 0 is low and below (and no number), 255 is high and above. */
export interface Steps {
  of: Uint8Array | Uint16Array;
  low: number;
  high: number;
}

/** Pixels row after row; `factor` voxels of level 0 per pixel. */
export interface Picture {
  width: number;
  height: number;
  factor: number;
  /** Unpacked from the steps, where there are some, when they are asked for. */
  readonly pixels: Float32Array | Uint8Array | Uint32Array;
  steps?: Steps;
}
