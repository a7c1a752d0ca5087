// SPDX-License-Identifier: Apache-2.0
// The options of corrections that are worth a control here; all others stay as the text has them. docs/scan-file.md has them all.

export type Option =
  | { key: string; kind: 'number'; min: number; max: number; step: number; start: number }
  | { key: string; kind: 'choice'; choices: string[] }
  | { key: string; kind: 'switch'; start: boolean };

const number = (key: string, min: number, max: number, step: number, start: number): Option => ({ key, kind: 'number', min, max, step, start });
const choice = (key: string, ...choices: string[]): Option => ({ key, kind: 'choice', choices });

export const OPTIONS: Record<string, Option[]> = {
  'dead-pixels': [number('threshold', 0.01, 0.5, 0.01, 0.05)],
  'hot-pixels': [choice('method', 'shifted-window', 'classic'), number('tolerance', 1, 12, 0.5, 4), number('window_px', 2, 12, 1, 6), number('gap_px', 1, 12, 1, 5), number('iterations', 1, 6, 1, 3), { key: 'below', kind: 'switch', start: false }],
  zingers: [number('tolerance', 2, 20, 0.5, 8), number('radius_views', 1, 6, 1, 2), choice('neighbours', 'both', 'views', 'row')],
  filter: [choice('filter', 'median', 'gaussian', 'box', 'bilateral'), number('radius_px', 1, 60, 1, 30), number('sigma_px', 0.5, 30, 0.5, 10)],
  rings: [choice('method', 'trend', 'wavelet-fourier', 'sorting', 'combined', 'auto'), number('iterations', 1, 5, 1, 1), number('radius_px', 2, 80, 1, 30), number('sigma_value', 0.01, 1, 0.01, 0.195), number('damping_sigma', 0.5, 10, 0.5, 2), number('small_px', 3, 81, 2, 21), number('snr', 1, 10, 0.5, 3)],
  drift: [number('lowest_level', 0.1, 1, 0.05, 0.8)],
  lag: [number('fraction', 0, 0.2, 0.005, 0.02), number('decay_frames', 0.5, 20, 0.5, 3)],
  hardening: [{ key: 'homogeneous', kind: 'switch', start: false }, number('degree', 1, 6, 1, 3)],
  phase: [number('energy_kev', 5, 150, 1, 20), number('delta_over_beta', 1, 3000, 10, 500)],
};

/** Of each kind the choice that its options depend on, and of which of its words. Others are left out: they would be refused. */
export const ONLY_FOR: Record<string, { choice: string; start: string; words: Record<string, string[]> }> = {
  'hot-pixels': { choice: 'method', start: 'shifted-window', words: Object.fromEntries(['window_px', 'gap_px', 'deviations', 'normalise', 'share_of_views'].map((key) => [key, ['shifted-window']])) },
  zingers: { choice: 'neighbours', start: 'both', words: { radius_views: ['both', 'views'], along_px: ['both'] } },
  filter: { choice: 'filter', start: 'median', words: { sigma_px: ['gaussian', 'bilateral'], sigma_value: ['bilateral'], value_range: ['bilateral'] } },
  rings: { choice: 'method', start: 'trend', words: {
    filter: ['trend'], radius_px: ['trend'], sigma_px: ['trend'], sigma_value: ['trend'], value_range: ['trend'],
    wavelet: ['wavelet-fourier'], levels: ['wavelet-fourier'], damping_sigma: ['wavelet-fourier'], small_px: ['sorting', 'combined'], large_px: ['combined'], snr: ['combined'],
  } },
};

/** What can be added, as a text that works. */
export const NEW: Record<string, string[]> = {
  'dead-pixels': [], 'hot-pixels': [], zingers: [], filter: ['filter = "median"', 'radius_px = 1'], rings: [], drift: [], lag: ['fraction = 0.02'], hardening: ['homogeneous = true'], phase: ['energy_kev = 20', 'delta_over_beta = 500'],
};
