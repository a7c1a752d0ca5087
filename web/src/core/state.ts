// SPDX-License-Identifier: Apache-2.0
// All that a shared address brings back: where one looks, how, and what was measured. Everything in it is plain JSON.
import { createStore, useStore } from './store';
import type { Axis, Box, Triple } from './protocol';

export type Tool = 'cross' | 'pan' | 'window' | 'distance' | 'angle' | 'area' | 'profile' | 'box' | 'ellipsoid';
export type Pane = Axis | 'volume' | 'oblique';

export interface Measure {
  kind: 'distance' | 'angle' | 'area' | 'profile';
  axis: Axis;
  points: Triple[];
}

export interface Region {
  shape: 'box' | 'ellipsoid';
  box: Box;
}

export interface ViewState {
  volume: number;
  /** The crosshair, in voxels. */
  at: Triple;
  /** 1 fits the slice into its pane. */
  zoom: number;
  /** What lies in the middle of the panes, in voxels; null: the volume's middle. */
  centre: Triple | null;
  tool: Tool;
  layout: 'grid' | 'row' | Pane;
  fourth: 'volume' | 'oblique';
  crosshair: boolean;
  smooth: boolean;

  window: [number, number] | null;
  normalise: 'window' | 'global' | 'slice';
  percentiles: [number, number];
  map: string;
  invert: boolean;
  gamma: number;

  slab: number;
  slabMode: 'one' | 'max' | 'min' | 'mean';
  /** Turn and tilt of the oblique plane, degrees. */
  plane: [number, number];

  measures: Measure[];
  region: Region | null;

  compare: 'off' | 'side' | 'swipe' | 'difference';
  other: number | null;
  swipe: number;

  labels: boolean;
  blobNumbers: boolean;
  blob: number | null;
  overlay: number | null;
  overlayMap: string;
  opacity: number;
  fieldOfView: boolean;

  render: 'volume' | 'mip' | 'surface';
  /** Opacity over the window: pairs of place (0..1) and opacity (0..1). */
  transfer: [number, number][];
  density: number;
  volumeMap: string;
  lit: boolean;
  ambient: number;
  iso: number | null;
  clip: Box | null;
  cut: 'none' | 'x' | 'y' | 'z' | 'oblique';
  texels: number;
  /** At rest every pixel of the screen is drawn, however long it takes. */
  sharp: boolean;
  camera: number[] | null;

  panels: string;
  theme: 'auto' | 'light' | 'dark';
  large: boolean;

  scanView: number;
  scanRow: number | null;
  scanZ: number | null;
  stage: string;
  /** The scan file as it was changed here; null: as it is on the disk. */
  toml: string | null;
}

export const initial: ViewState = {
  volume: 0, at: [0, 0, 0], zoom: 1, centre: null, tool: 'cross', layout: 'grid', fourth: 'volume', crosshair: true, smooth: false,
  window: null, normalise: 'window', percentiles: [0.1, 99.9], map: 'grey', invert: false, gamma: 1,
  slab: 1, slabMode: 'max', plane: [45, 45],
  measures: [], region: null,
  compare: 'off', other: null, swipe: 0.5,
  labels: false, blobNumbers: false, blob: null, overlay: null, overlayMap: 'viridis', opacity: 0.5, fieldOfView: false,
  render: 'volume', transfer: [[0, 0], [0.15, 0], [0.45, 0.12], [1, 0.85]], density: 1, volumeMap: 'bone', lit: true, ambient: 0.4, iso: null,
  clip: null, cut: 'none', texels: 256, sharp: false, camera: null,
  panels: 'display', theme: 'auto', large: false,
  scanView: 0, scanRow: null, scanZ: null, stage: 'corrected', toml: null,
};

export const state = createStore<ViewState>({ ...initial });
export const useView = <P>(pick: (value: ViewState) => P): P => useStore(state, pick);
