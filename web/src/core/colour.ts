// SPDX-License-Identifier: Apache-2.0
// Colour maps as tables of 256 colours, between a few given ones in steps of equal length.

export type Rgb = [number, number, number];

const STOPS: Record<string, string> = {
  grey: '000000 ffffff',
  bone: '000000 2b2736 5a4a4a a07f63 d9c39a fff7e3',
  hot: '000000 7a0403 d93806 fba40a fdfda0 ffffff',
  viridis: '440154 472d7b 3b528b 2c728e 21918c 28ae80 5ec962 addc30 fde725',
  inferno: '000004 280b53 65156e 9f2a63 d44842 f57d15 fac127 fcffa4',
  ice: '03051a 12304f 1e6091 4a9cc0 a3d5e0 f4fbfc',
  diverging: '2c4fa3 6f8fd0 b9c9e8 f2f2f2 edc0b0 d6796a a8272f',
};
export const MAPS = Object.keys(STOPS);

const tables = new Map<string, Rgb[]>();

export function colours(name: string): Rgb[] {
  const known = tables.get(name);
  if (known) return known;
  const stops = (STOPS[name] ?? STOPS.grey).split(' ').map((text) => [0, 2, 4].map((i) => parseInt(text.slice(i, i + 2), 16)));
  const table = Array.from({ length: 256 }, (_, i): Rgb => {
    const place = (i / 255) * (stops.length - 1);
    const before = Math.min(Math.floor(place), stops.length - 2);
    return [0, 1, 2].map((c) => Math.round(stops[before][c] + (place - before) * (stops[before + 1][c] - stops[before][c]))) as Rgb;
  });
  tables.set(name, table);
  return table;
}

/** A table for painting: place in the window (0..255) to the bytes of a pixel. */
export function lookup(name: string, invert = false, gamma = 1): Uint32Array {
  const map = colours(name);
  const little = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;
  return Uint32Array.from({ length: 256 }, (_, i) => {
    const place = Math.round(255 * Math.pow(i / 255, 1 / gamma));
    const [r, g, b] = map[invert ? 255 - place : place];
    return (little ? (255 << 24) | (b << 16) | (g << 8) | r : (r << 24) | (g << 16) | (b << 8) | 255) >>> 0;
  });
}

/** Neighbouring numbers get colours that differ: hues in steps of the golden angle. */
export function labelColour(label: number): Rgb {
  const hue = (label * 0.61803398875) % 1;
  const light = 0.5 + 0.18 * (((label * 7) % 3) - 1);
  return [0, 1, 2].map((i) => {
    const k = (i * 8 + hue * 12 + (i ? 0 : 0)) % 12;
    return Math.round(255 * (light - 0.75 * Math.min(light, 1 - light) * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  }) as Rgb;
}

export const css = ([r, g, b]: Rgb, opacity = 1): string => `rgb(${r} ${g} ${b} / ${opacity})`;
export const gradient = (name: string): string => `linear-gradient(90deg, ${[0, 32, 64, 96, 128, 160, 192, 224, 255].map((i) => css(colours(name)[i])).join(', ')})`;
