// SPDX-License-Identifier: Apache-2.0
// One volume's picture in a pane: fetched, coloured once, and drawn where it lies.
import { valuesOfSteps } from '../core/api';
import { lookup } from '../core/colour';
import { PLANE } from '../core/axes';
import { PictureSource, type Wanted } from './source';
import { mmToCanvas, type Placement } from './placement';
import type { Picture, Steps, Volume } from '../core/protocol';

export type Colouring = { window: [number, number]; map: string; invert: boolean; gamma: number } | { labels: (label: number) => number };

export class Layer {
  readonly source: PictureSource;
  picture: Picture | null = null;
  shown: Wanted | null = null;
  fine = false;
  private readonly bitmap = document.createElement('canvas');
  private image: ImageData | null = null;
  private coloured = '';
  private coloured_of: Picture | null = null;

  constructor(changed: (layer: Layer) => void) {
    this.source = new PictureSource((picture, wanted, fine) => {
      Object.assign(this, { picture, shown: wanted, fine });
      changed(this);
    });
  }

  clear(): void {
    this.source.stop();
    this.picture = this.shown = null;
  }

  /** The value at a voxel of the slice, where the picture has every voxel, in more than grey levels. */
  value(column: number, row: number): number | null {
    if (!this.picture || !this.shown || this.picture.factor !== 1 || this.picture.steps?.of instanceof Uint8Array) return null;
    const [c, r] = [Math.round(column) - (this.shown.box?.[0] ?? 0), Math.round(row) - (this.shown.box?.[2] ?? 0)];
    return c >= 0 && r >= 0 && c < this.picture.width && r < this.picture.height ? this.picture.pixels[r * this.picture.width + c] : null;
  }

  colour(colouring: Colouring, key: string): void {
    const picture = this.picture;
    if (!picture || (this.coloured === key && this.coloured_of === picture)) return;
    const { width, height, steps } = picture;
    if (this.bitmap.width !== width || this.bitmap.height !== height) Object.assign(this.bitmap, { width, height });
    const context = this.bitmap.getContext('2d', { willReadFrequently: true })!;
    if (this.image?.width !== width || this.image.height !== height) this.image = context.createImageData(width, height);
    const { image } = this;
    const out = new Uint32Array(image.data.buffer);
    if ('labels' in colouring) for (let i = 0; i < out.length; i++) out[i] = colouring.labels(picture.pixels[i]);
    else if (steps) paintSteps(steps, out, lookup(colouring.map, colouring.invert, colouring.gamma), colouring.window);
    else paint(picture.pixels, out, lookup(colouring.map, colouring.invert, colouring.gamma), colouring.window);
    context.putImageData(image, 0, 0);
    this.coloured = key;
    this.coloured_of = picture;
  }

  draw(context: CanvasRenderingContext2D, at: Placement, volume: Volume, smooth: boolean): void {
    if (!this.picture || !this.shown) return;
    const [a, b] = PLANE[at.axis];
    const { width, height, factor } = this.picture;
    const [a0, b0] = [this.shown.box?.[0] ?? 0, this.shown.box?.[2] ?? 0];
    const edge = (i: 0 | 1 | 2, voxel: number) => volume.origin_mm[i] + (voxel - 0.5) * volume.step_mm[i];
    const [x0, y0] = mmToCanvas(at, edge(a, a0), edge(b, b0));
    const [x1, y1] = mmToCanvas(at, edge(a, a0 + width * factor), edge(b, b0 + height * factor));
    context.save();
    context.imageSmoothingEnabled = smooth || Math.abs(x1 - x0) < width;
    context.translate(x0, y0);
    context.scale((x1 - x0) / width, (y1 - y0) / height);
    context.drawImage(this.bitmap, 0, 0);
    context.restore();
  }
}

/** Values to colours: `low` gets the table's first, `high` its last, rounded as the server does for 8 bits. */
export function paint(pixels: ArrayLike<number>, out: Uint32Array, table: Uint32Array, [low, high]: [number, number]): void {
  const scale = 255 / (high - low);
  for (let i = 0; i < out.length; i++) {
    const place = (pixels[i] - low) * scale + 0.5;
    out[i] = table[place >= 255 ? 255 : place > 0 ? place | 0 : 0]; // NaN compares false: the lowest colour
  }
}

/** The same of steps: each of them is coloured once. */
function paintSteps(steps: Steps, out: Uint32Array, table: Uint32Array, window: [number, number]): void {
  const values = valuesOfSteps(steps);
  const colours = new Uint32Array(values.length);
  paint(values, colours, table, window);
  const { of } = steps;
  for (let i = 0; i < out.length; i++) out[i] = colours[of[i]];
}
