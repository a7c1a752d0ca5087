// SPDX-License-Identifier: Apache-2.0
// A synthetic object that the tests know every voxel of: a cylinder along z with a dense rod, a bright cube and round pores, in 1/mm.
export const SIZE = [96, 80, 64];
export const STEP = [0.1, 0.1, 0.15];
export const ORIGIN = [-4.75, -3.95, -4.725];
export const WATER = 0.02;
export const BODY = 0.03;
export const ROD = 0.06;
export const CUBE = 0.1;
export const CENTRE = [47.5, 39.5];
export const RADIUS = 34;

/** label, x, y, z, radius in voxels of x. */
export const PORES = [
  [1, 60, 50, 20, 6], [2, 36, 28, 20, 4], [3, 62, 30, 32, 7], [4, 30, 48, 36, 5], [5, 48, 60, 44, 5], [6, 44, 20, 50, 4],
];

const within = (x, y, z, [, px, py, pz, r]) => (x - px) ** 2 + (y - py) ** 2 + ((z - pz) * 1.5) ** 2 <= r * r;
export const label = (x, y, z) => PORES.find((pore) => within(x, y, z, pore))?.[0] ?? 0;

export function value(x, y, z) {
  if (z < 4 || z >= 60 || (x - CENTRE[0]) ** 2 + (y - CENTRE[1]) ** 2 > RADIUS * RADIUS) return 0;
  if (x >= 20 && x < 28 && y >= 34 && y < 42 && z >= 28 && z < 36) return CUBE;
  if ((x - 56) ** 2 + (y - 40) ** 2 <= 16) return ROD;
  return label(x, y, z) ? 0.001 : BODY;
}

/** The same object, made a little denser in one half. */
export const second = (x, y, z) => value(x, y, z) + (x >= 48 && value(x, y, z) > 0.01 ? 0.004 : 0);
export const porosity = (x, y, z) => (x + y + z) / 30;
export const POROSITY_SIZE = [12, 10, 8];
