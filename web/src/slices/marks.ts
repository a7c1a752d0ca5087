// SPDX-License-Identifier: Apache-2.0
// What is drawn over a slice: crosshair, scale bar, orientation, measures, the region, the field of view, numbers of blobs.
import { LETTER, NUMBER, PLANE, UPWARDS, lengthText } from '../core/axes';
import { measureText } from '../core/measure';
import { mmToCanvas, voxelToCanvas, type Placement } from './placement';
import type { Box, Triple } from '../core/protocol';
import type { Measure, Region } from '../core/state';

export const AXIS_COLOUR = ['#ff6b6b', '#4cd07d', '#5aa9ff'];
const INK = '#f4f6f8';
const MARK = '#ffd166';

export interface Brush {
  context: CanvasRenderingContext2D;
  at: Placement;
  /** Device pixels per CSS pixel. */
  ratio: number;
}

function label({ context, ratio }: Brush, text: string, x: number, y: number, colour = INK, align: CanvasTextAlign = 'left'): void {
  context.font = `${12 * ratio}px ui-monospace, "DejaVu Sans Mono", Menlo, monospace`;
  context.textAlign = align;
  context.textBaseline = 'middle';
  context.lineWidth = 3 * ratio;
  context.strokeStyle = 'rgb(0 0 0 / 0.75)';
  context.lineJoin = 'round';
  context.strokeText(text, x, y);
  context.fillStyle = colour;
  context.fillText(text, x, y);
}

/** A line that is seen on any grey: dark below, light above. */
function stroke({ context, ratio }: Brush, colour: string, width = 1.5, dash: number[] = []): void {
  context.setLineDash([]);
  context.lineWidth = (width + 1.5) * ratio;
  context.strokeStyle = 'rgb(0 0 0 / 0.45)';
  context.stroke();
  context.setLineDash(dash.map((part) => part * ratio));
  context.lineWidth = width * ratio;
  context.strokeStyle = colour;
  context.stroke();
  context.setLineDash([]);
}

export function crosshair(brush: Brush, cross: Triple): void {
  const [a, b] = PLANE[brush.at.axis];
  crosshairAt(brush, ...voxelToCanvas(brush.at, cross), AXIS_COLOUR[a], AXIS_COLOUR[b]);
}

export function crosshairAt({ context, at, ratio }: Brush, x: number, y: number, upright: string, level: string): void {
  const gap = 9 * ratio;
  context.lineWidth = ratio;
  context.globalAlpha = 0.85;
  const line = (colour: string, ...points: number[]) => {
    context.strokeStyle = colour;
    context.beginPath();
    for (let i = 0; i < points.length; i += 4) {
      context.moveTo(Math.round(points[i]) + 0.5, Math.round(points[i + 1]) + 0.5);
      context.lineTo(Math.round(points[i + 2]) + 0.5, Math.round(points[i + 3]) + 0.5);
    }
    context.stroke();
  };
  line(upright, x, 0, x, y - gap, x, y + gap, x, at.height);
  line(level, at.left, y, x - gap, y, x + gap, y, at.left + at.width, y);
  context.globalAlpha = 1;
}

export function scaleBar(brush: Brush): void {
  const { context, at, ratio } = brush;
  const target = (0.22 * at.width) / at.scale;
  const power = 10 ** Math.floor(Math.log10(target));
  const mm = [5, 2, 1].map((n) => n * power).find((length) => length <= target) ?? power;
  const [x, y, length] = [at.left + 14 * ratio, at.height - 16 * ratio, mm * at.scale];
  context.beginPath();
  context.moveTo(x, y - 4 * ratio);
  context.lineTo(x, y);
  context.lineTo(x + length, y);
  context.lineTo(x + length, y - 4 * ratio);
  stroke(brush, INK, 1.5);
  label(brush, lengthText(mm), x, y - 13 * ratio);
}

/** Two short arrows in the corner: where the axes of the plane point. */
export function orientation(brush: Brush): void {
  const { context, at, ratio } = brush;
  const [a, b] = PLANE[at.axis];
  const up = UPWARDS[at.axis];
  const length = 24 * ratio;
  const [x, y] = [at.left + at.width - 44 * ratio, up ? at.height - 18 * ratio : at.height - 46 * ratio];
  const arrow = (dx: number, dy: number, axis: number) => {
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(x + dx * length, y + dy * length);
    context.lineTo(x + dx * (length - 5 * ratio) + dy * 3 * ratio, y + dy * (length - 5 * ratio) + dx * 3 * ratio);
    stroke(brush, AXIS_COLOUR[axis], 1.5);
    label(brush, LETTER[axis], x + dx * (length + 8 * ratio), y + dy * (length + 9 * ratio), AXIS_COLOUR[axis], 'center');
  };
  arrow(1, 0, a);
  arrow(0, up ? -1 : 1, b);
}

export function measure(brush: Brush, one: Measure, slice: number, draft: boolean): void {
  const { context, at, ratio } = brush;
  if (one.axis !== at.axis) return;
  const away = Math.abs((one.points[0]?.[NUMBER[at.axis]] ?? slice) - slice);
  if (away >= 0.5 && !draft) {
    if (away > 3) return;
    context.globalAlpha = 0.3;
  }
  const points = one.points.map((point) => voxelToCanvas(at, point));
  context.beginPath();
  points.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
  if (one.kind === 'area' && !draft) {
    context.closePath();
    context.fillStyle = 'rgb(255 209 102 / 0.15)';
    context.fill();
  }
  stroke(brush, MARK, 1.5, one.kind === 'profile' ? [6, 4] : []);
  for (const [x, y] of points) {
    context.beginPath();
    context.arc(x, y, 3 * ratio, 0, 7);
    stroke(brush, MARK, 1.5);
  }
  const text = measureText(at.volume, one);
  const middle = [0, 1].map((i) => points.reduce((sum, point) => sum + point[i], 0) / points.length);
  const [x, y] = points[one.kind === 'angle' ? 1 : points.length - 1] ?? [0, 0];
  if (text && one.kind === 'area' && !draft) label(brush, text, middle[0], middle[1], MARK, 'center');
  else if (text) label(brush, text, x + 9 * ratio, y - 9 * ratio, MARK);
  context.globalAlpha = 1;
}

/** The region's rectangle in this plane in canvas pixels: left, top, right, bottom. */
export function regionRectangle(at: Placement, box: Box): [number, number, number, number] {
  const low = voxelToCanvas(at, [box[0] - 0.5, box[2] - 0.5, box[4] - 0.5]);
  const high = voxelToCanvas(at, [box[1] - 0.5, box[3] - 0.5, box[5] - 0.5]);
  return [Math.min(low[0], high[0]), Math.min(low[1], high[1]), Math.max(low[0], high[0]), Math.max(low[1], high[1])];
}

export function region(brush: Brush, { shape, box }: Region, slice: number, colour = '#7ee0d6', handles = true): void {
  const { context, at, ratio } = brush;
  const n = NUMBER[at.axis];
  const [low, high] = [box[2 * n], box[2 * n + 1]];
  const [left, top, right, bottom] = regionRectangle(at, box);
  const within = slice >= low && slice < high;
  context.beginPath();
  context.rect(left, top, right - left, bottom - top);
  stroke(brush, colour, 1, within && shape === 'box' ? [] : [4, 4]);
  if (shape === 'ellipsoid' && within) {
    const from_middle = (2 * (slice + 0.5 - (low + high) / 2)) / (high - low);
    const share = Math.sqrt(Math.max(0, 1 - from_middle ** 2));
    context.beginPath();
    context.ellipse((left + right) / 2, (top + bottom) / 2, (share * (right - left)) / 2, (share * (bottom - top)) / 2, 0, 0, 7);
    stroke(brush, colour, 1.5);
  }
  if (!handles) return;
  context.fillStyle = colour;
  for (const x of [left, (left + right) / 2, right])
    for (const y of [top, (top + bottom) / 2, bottom])
      if (x !== (left + right) / 2 || y !== (top + bottom) / 2) context.fillRect(x - 3 * ratio, y - 3 * ratio, 6 * ratio, 6 * ratio);
}

export function fieldOfView(brush: Brush): void {
  const { context, at } = brush;
  const field = at.volume.field_of_view;
  if (!field) return;
  const { center_mm: [cx, cy], radius_mm: radius } = field;
  context.beginPath();
  if (at.axis === 'z') {
    const [x, y] = mmToCanvas(at, cx, cy);
    context.arc(x, y, radius * at.scale, 0, 7);
  } else {
    const centre = at.axis === 'y' ? cx : cy;
    const { origin_mm, step_mm, size } = at.volume;
    const [z0, z1] = [origin_mm[2] - step_mm[2] / 2, origin_mm[2] + (size[2] - 0.5) * step_mm[2]];
    for (const side of [-radius, radius]) {
      context.moveTo(...mmToCanvas(at, centre + side, z0));
      context.lineTo(...mmToCanvas(at, centre + side, z1));
    }
  }
  stroke(brush, '#c9a0ff', 1.5, [8, 5]);
}

export interface BlobMark {
  label: number;
  /** Voxels. */
  centre: Triple;
  radius: number;
}

export function blobs(brush: Brush, marks: BlobMark[], slice: number, chosen: number | null, all: boolean): void {
  const { context, at, ratio } = brush;
  const n = NUMBER[at.axis];
  for (const { label: number, centre, radius } of marks) {
    const here = number === chosen;
    const away = Math.abs(centre[n] - slice) > Math.max(0.5, (radius * at.volume.step_mm[0]) / at.volume.step_mm[n]);
    if (!here && (!all || away)) continue;
    const [x, y] = voxelToCanvas(at, centre);
    if (here) {
      const size = Math.max(10 * ratio, 1.3 * radius * at.volume.step_mm[0] * at.scale);
      context.beginPath();
      context.arc(x, y, size, 0, 7);
      stroke(brush, MARK, 2, away ? [4, 5] : []);
      label(brush, String(number), x + size + 4 * ratio, y, MARK);
    } else label(brush, String(number), x, y, INK, 'center');
  }
}

/** Where the oblique plane cuts this slice. */
export function cutLine(brush: Brush, normal: Triple, through: Triple): void {
  const { context, at } = brush;
  const [a, b] = PLANE[at.axis];
  const direction = [-normal[b], normal[a]];
  const length = Math.hypot(...direction);
  if (length < 1e-6) return;
  const [x, y] = voxelToCanvas(at, through);
  const down = UPWARDS[at.axis] ? -1 : 1;
  const far = (at.width + at.height) / length;
  context.beginPath();
  context.moveTo(x - direction[0] * far, y - down * direction[1] * far);
  context.lineTo(x + direction[0] * far, y + down * direction[1] * far);
  stroke(brush, '#c9a0ff', 1, [6, 4]);
}
