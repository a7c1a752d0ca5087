// SPDX-License-Identifier: Apache-2.0
// The oblique plane: turned about z, then tilted. At 0°, 0° it is the slice across z.
import type { Triple } from './protocol';

const radians = (degrees: number) => (degrees * Math.PI) / 180;

/** Unit vectors along the picture's columns and rows (downwards), and the normal. */
export function planeVectors([turn, tilt]: readonly [number, number]): { u: Triple; v: Triple; normal: Triple } {
  const [ct, st, cp, sp] = [Math.cos(radians(turn)), Math.sin(radians(turn)), Math.cos(radians(tilt)), Math.sin(radians(tilt))];
  return { u: [ct, st, 0], v: [-st * cp, ct * cp, -sp], normal: [-st * sp, ct * sp, cp] };
}

export const planeNormal = (plane: readonly [number, number]): Triple => planeVectors(plane).normal;
