// SPDX-License-Identifier: Apache-2.0
// One orthogonal slice on a canvas: asks for its pictures and draws them with all that lies over them, at most once per frame.
import { NUMBER, PLANE, toMm, toVoxel } from '../core/axes';
import { css, labelColour } from '../core/colour';
import { histograms, spread, defaultWindow, windowFor } from '../core/histogram';
import { currentVolume, findVolume, opened } from '../core/session';
import { restored } from '../core/restored';
import { state, type ViewState } from '../core/state';
import { tick } from '../core/clock';
import { blobStore } from '../core/blobs';
import { planeNormal } from '../core/plane';
import { Layer } from './layer';
import * as marks from './marks';
import { pointer } from './pointer';
import { cutFor, place, type Placement } from './placement';
import type { Axis, Volume } from '../core/protocol';
import type { Wanted } from './source';

const STALE_MS = 60;

const little = (rgb: readonly number[], opacity: number) => ((Math.round(255 * opacity) << 24) | (rgb[2] << 16) | (rgb[1] << 8) | rgb[0]) >>> 0;

/** 16 bits have 4096 steps or more in the window that a volume is opened with: enough for 256 grey levels of a sixteenth of it. */
function formatFor(view: ViewState, volume: Volume): 'u16' | 'f32' {
  const [low, high] = windowFor(view, volume, null);
  const { percentiles } = volume;
  return percentiles && 16 * (high - low) >= percentiles['99.9'] - percentiles['0.1'] ? 'u16' : 'f32';
}

export class SlicePane {
  private readonly first = new Layer((layer) => this.arrived(layer));
  private readonly second = new Layer(() => this.schedule());
  private readonly labels = new Layer(() => this.schedule());
  private readonly overlay = new Layer(() => this.schedule());
  private frame = 0;
  private ended: (() => void)[] = [];
  private ratio = 1;
  private ticking = false;
  private drawn = 0;
  private late = 0;

  constructor(readonly axis: Axis, readonly canvas: HTMLCanvasElement) {
    const watch = () => this.schedule();
    this.ended = [state.subscribe(watch), opened.subscribe(watch), pointer.subscribe(watch), histograms.subscribe(watch), blobStore.subscribe(watch), restored.subscribe(watch)];
    const observer = new ResizeObserver(watch);
    observer.observe(canvas);
    this.ended.push(() => observer.disconnect());
    this.schedule();
  }

  end(): void {
    for (const end of this.ended) end();
    cancelAnimationFrame(this.frame);
    clearTimeout(this.late);
    for (const layer of [this.first, this.second, this.labels, this.overlay]) layer.clear();
  }

  private arrived(layer: Layer): void {
    this.ticking = layer === this.first;
    this.schedule();
  }

  private schedule(): void {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  /** Where the volume lies; while two lie side by side, that of the half under x (CSS pixels). */
  placement(x = 0): Placement | null {
    const volume = currentVolume();
    const view = state.get();
    if (!volume) return null;
    const { width, height } = this.canvas;
    if (view.compare !== 'side' || !this.otherVolume(view)) return place(view, volume, this.axis, 0, width, height);
    const half = Math.floor(width / 2);
    return place(view, volume, this.axis, x * this.ratio >= half ? half : 0, half, height);
  }

  get pixelRatio(): number {
    return this.ratio;
  }

  get slice(): number {
    return state.get().at[NUMBER[this.axis]];
  }

  valueAt(voxel: readonly number[]): number | null {
    const view = state.get();
    if (view.compare === 'difference' || view.slab > 1) return null;
    const [a, b] = PLANE[this.axis];
    return this.first.shown?.index === this.slice ? this.first.value(voxel[a], voxel[b]) : null;
  }

  /** The label drawn at a voxel of this slice; 0: none. */
  labelAt(voxel: readonly number[]): number {
    if (!state.get().labels) return 0;
    const [a, b] = PLANE[this.axis];
    return this.labels.value(voxel[a], voxel[b]) ?? 0;
  }

  private otherVolume(view: ViewState): Volume | null {
    return view.compare === 'off' ? null : findVolume(opened.get().session, view.other);
  }

  private ask(layer: Layer, view: ViewState, at: Placement, shown: Volume, volume: Wanted['volume'], extra: Wanted['extra'], quick?: Wanted['quick']): void {
    const n = NUMBER[this.axis];
    const index = Math.round(toVoxel(shown, toMm(at.volume, view.at))[n]);
    if (index < 0 || index >= shown.size[n]) return layer.clear();
    layer.source.want({ volume, changed: shown.changed, axis: this.axis, index, slices: shown.size[n], ...cutFor(at, shown), levels: volume === 'difference' || view.slab > 1 ? [] : shown.levels, extra, quick });
  }

  /** Values of a volume; while one scrolls the grey levels of its window are enough, unless each slice has its own. */
  private askValues(layer: Layer, view: ViewState, at: Placement, shown: Volume, slab: Wanted['extra']): void {
    const window = windowFor(view, shown, null);
    const quick = view.normalise !== 'slice' && window[1] > window[0] ? { ...slab, format: 'u8', window } : undefined;
    this.ask(layer, view, at, shown, shown.id, { ...slab, format: formatFor(view, shown) }, quick);
  }

  /** Asks for all that is drawn; returns the volumes that lie over the first. */
  private askAll(view: ViewState, volume: Volume, other: Volume | null, at: Placement): { overlay: Volume | null; labels: Volume | null } {
    const { session } = opened.get();
    const slab = view.slab > 1 ? { slab: view.slab, mode: view.slabMode } : {};
    const difference = view.compare === 'difference' && other;
    if (difference) this.ask(this.first, view, at, volume, 'difference', { a: volume.id, b: other.id, ...slab });
    else this.askValues(this.first, view, at, volume, slab);
    if (other && !difference) this.askValues(this.second, view, at, other, slab);
    else this.second.clear();
    const overlay = view.overlay === null ? null : findVolume(session, view.overlay);
    if (overlay) this.ask(this.overlay, view, at, overlay, overlay.id, {});
    else this.overlay.clear();
    const labels = view.labels && volume.labels ? findVolume(session, volume.labels.volume) : null;
    if (labels) this.ask(this.labels, view, at, labels, labels.id, { format: 'u32' });
    else this.labels.clear();
    return { overlay, labels };
  }

  /** The slice before would be drawn once more: its successor is about to arrive. */
  private soonStale(): boolean {
    if (!this.first.source.waiting || performance.now() - this.drawn > STALE_MS) return false;
    this.late ||= window.setTimeout(() => {
      this.late = 0;
      this.schedule();
    }, STALE_MS + 1);
    return true;
  }

  private draw(): void {
    const { canvas } = this;
    this.ratio = Math.min(window.devicePixelRatio || 1, 2);
    const [width, height] = [Math.round(canvas.clientWidth * this.ratio), Math.round(canvas.clientHeight * this.ratio)];
    if (!width || !height) return;
    const resized = canvas.width !== width || canvas.height !== height;
    if (resized) Object.assign(canvas, { width, height });
    const view = state.get();
    const volume = currentVolume();
    const other = this.otherVolume(view);
    const halves = view.compare === 'side' && other ? [this.placement(0)!, this.placement(1e9)!] : [this.placement()!];
    const over = volume && this.askAll(view, volume, other, halves[0]);
    if (!resized && this.soonStale()) return;
    this.drawn = performance.now();
    const context = canvas.getContext('2d', { alpha: false })!; // opaque: the browser need not blend it
    context.fillStyle = '#000';
    context.fillRect(0, 0, width, height);
    if (!volume || !over) return;
    const difference = view.compare === 'difference' && other;
    this.paint(context, this.first, view, volume, halves[0], difference ? 'difference' : 'window');
    if (other && !difference && view.compare === 'swipe') this.clipped(context, width * view.swipe, 0, width * (1 - view.swipe), height, () => this.paint(context, this.second, view, other, halves[0], 'window'));
    if (other && halves.length === 2) {
      this.clipped(context, halves[1].left, 0, halves[1].width, height, () => {
        context.fillStyle = '#000';
        context.fillRect(halves[1].left, 0, halves[1].width, height);
        this.paint(context, this.second, view, other, halves[1], 'window');
      });
    }
    for (const at of halves) this.clipped(context, at.left, 0, at.width, height, () => this.over({ context, at, ratio: this.ratio * (view.large ? 1.3 : 1) }, view, over));
    if (other && !difference) this.divider(context, view, other, volume);
    if (this.ticking && this.first.shown) {
      this.ticking = false;
      tick({ axis: this.axis, index: this.first.shown.index, width, height, pixels: this.first.picture!.width });
    }
    canvas.dataset.shown = this.first.shown ? `${this.first.shown.index}${this.first.fine ? '' : '~'}` : '';
  }

  private clipped(context: CanvasRenderingContext2D, left: number, top: number, width: number, height: number, work: () => void): void {
    context.save();
    context.beginPath();
    context.rect(left, top, width, height);
    context.clip();
    work();
    context.restore();
  }

  private paint(context: CanvasRenderingContext2D, layer: Layer, view: ViewState, volume: Volume, at: Placement, kind: 'window' | 'difference'): void {
    if (!layer.picture) return;
    let window = windowFor(view, volume, view.normalise === 'slice' ? layer.picture.pixels : null);
    let { map, invert, gamma } = view;
    if (kind === 'difference') {
      const half = (window[1] - window[0]) / 4;
      [window, map, invert, gamma] = [[-half, half], 'diverging', false, 1];
    }
    layer.colour({ window, map, invert, gamma }, `${window} ${map} ${invert} ${gamma}`);
    layer.draw(context, at, volume, view.smooth);
  }

  private over(brush: marks.Brush, view: ViewState, { overlay, labels }: { overlay: Volume | null; labels: Volume | null }): void {
    if (overlay) this.drawOverlay(brush, view, overlay);
    if (labels) this.drawLabels(brush, view, labels);
    if (view.fieldOfView) marks.fieldOfView(brush);
    if (view.clip && (view.layout === 'grid' || view.layout === 'row')) marks.region(brush, { shape: 'box', box: view.clip }, this.slice, '#c9a0ff', false);
    if (view.region) marks.region(brush, view.region, this.slice);
    if (view.fourth === 'oblique' || view.cut === 'oblique') marks.cutLine(brush, planeNormal(view.plane), view.at);
    if (view.crosshair) marks.crosshair(brush, view.at);
    for (const measure of view.measures) marks.measure(brush, measure, this.slice, false);
    const { draft } = pointer.get();
    if (draft) marks.measure(brush, draft, this.slice, true);
    if (view.blobNumbers || view.blob !== null) marks.blobs(brush, blobStore.get().marks, this.slice, view.blob, view.blobNumbers);
    marks.scaleBar(brush);
    marks.orientation(brush);
  }

  private drawLabels({ context, at }: marks.Brush, view: ViewState, shown: Volume): void {
    const colours = new Map<number, number>([[0, 0]]);
    this.labels.colour({
      labels: (label) => {
        let colour = colours.get(label);
        if (colour === undefined) colours.set(label, (colour = little(labelColour(label), label === view.blob ? Math.min(1, view.opacity + 0.3) : view.opacity)));
        return colour;
      },
    }, `${view.opacity} ${view.blob}`);
    this.labels.draw(context, at, shown, false);
  }

  private drawOverlay({ context, at }: marks.Brush, view: ViewState, shown: Volume): void {
    const window = shown.range ? spread(shown.range) : defaultWindow(shown);
    this.overlay.colour({ window, map: view.overlayMap, invert: false, gamma: 1 }, `${view.overlayMap} ${window}`);
    context.save();
    context.globalAlpha = view.opacity;
    this.overlay.draw(context, at, shown, false);
    context.restore();
  }

  private divider(context: CanvasRenderingContext2D, view: ViewState, other: Volume, volume: Volume): void {
    const { width } = this.canvas;
    const x = Math.round(width * (view.compare === 'side' ? 0.5 : view.swipe));
    context.fillStyle = css([255, 209, 102]);
    context.fillRect(x - this.ratio, 0, 2 * this.ratio, this.canvas.height);
    context.font = `${12 * this.ratio}px system-ui, sans-serif`;
    context.textBaseline = 'top';
    const text = (name: string, at: number, align: CanvasTextAlign) => {
      context.textAlign = align;
      context.strokeStyle = 'rgb(0 0 0 / 0.8)';
      context.lineWidth = 3 * this.ratio;
      context.strokeText(name, at, 34 * this.ratio);
      context.fillText(name, at, 34 * this.ratio);
    };
    text(volume.name, x - 8 * this.ratio, 'right');
    text(other.name, x + 8 * this.ratio, 'left');
  }
}
