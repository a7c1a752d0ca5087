// SPDX-License-Identifier: Apache-2.0
// Keeps the scene as the view says: asks for texels, coarse first and finer when the camera rests, and draws when something changed.
import { api } from '../core/api';
import { wholeBox } from '../core/axes';
import { histograms, windowFor } from '../core/histogram';
import { currentVolume, opened, report } from '../core/session';
import { same } from '../core/store';
import { state, type ViewState } from '../core/state';
import { steer } from './camera';
import { edges, planes, seen } from './region';
import { Scene, type Texels } from './scene';
import type { Box, Triple, Volume } from '../core/protocol';

const COARSE = 64;
const SURFACE = 160;
const REST_MS = 450;

export interface Progress {
  texels: Triple | null;
  busy: boolean;
  triangles: number;
}

export class View3d {
  readonly scene: Scene;
  private ended: (() => void)[];
  private control = new AbortController();
  private coarse: { key: string; texels: Texels } | null = null;
  private shown = '';
  private surface = '';
  private frame = 0;
  private rest = 0;
  private quick = false;
  private placed = '';
  private wrote: number[] | null = null;

  constructor(private readonly host: HTMLElement, private readonly tell: (progress: Progress) => void) {
    this.scene = new Scene(host);
    const observer = new ResizeObserver(() => this.schedule());
    observer.observe(host);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const change = () => this.change();
    scheme.addEventListener('change', change);
    this.ended = [
      () => observer.disconnect(), () => scheme.removeEventListener('change', change),
      steer(this.scene, host, () => this.moved()), state.subscribe(change), opened.subscribe(change), histograms.subscribe(change),
    ];
    this.change();
  }

  end(): void {
    for (const end of this.ended) end();
    window.clearTimeout(this.rest);
    cancelAnimationFrame(this.frame);
    this.control.abort();
    this.scene.end();
  }

  private moved(): void {
    this.quick = true;
    this.schedule();
    this.rested();
  }

  /** After a pause the camera goes into the address and the texels are refined. */
  private rested(): void {
    window.clearTimeout(this.rest);
    this.rest = window.setTimeout(() => {
      this.quick = false;
      this.schedule();
      this.writeCamera();
      void this.refine();
    }, REST_MS);
  }

  private writeCamera(): void {
    const { camera } = this.scene;
    this.wrote = [...camera.getPosition(), ...camera.getFocalPoint(), ...camera.getViewUp()].map((value) => Number(value.toPrecision(6)));
    if (!same(this.wrote, state.get().camera)) state.set({ camera: this.wrote });
  }

  private schedule(): void {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      if (!this.scene.ready) return;
      this.scene.draw(this.quick);
      if (!this.quick && this.scene.unfinished) window.setTimeout(() => this.schedule());
      this.host.dataset.drawn = String(Number(this.host.dataset.drawn ?? 0) + 1);
    });
  }

  private change(): void {
    const volume = currentVolume();
    if (!volume) return;
    const view = state.get();
    this.place(view, volume);
    const dark = getComputedStyle(this.host).getPropertyValue('--is-dark').trim() === '1';
    this.scene.background(dark ? [0.055, 0.065, 0.08] : [0.93, 0.94, 0.955], dark ? [0.5, 0.55, 0.62] : [0.35, 0.4, 0.46]);
    const { low, high } = edges(volume, wholeBox(volume));
    const size = Math.hypot(...low.map((value, i) => high[i] - value));
    this.scene.style({ ...view, map: view.volumeMap }, size);
    this.scene.clip(planes(view, volume));
    const clipped = edges(volume, view.clip ?? wholeBox(volume));
    this.scene.frame(clipped.low, clipped.high);
    void this.load(view, volume);
    this.schedule();
  }

  private place(view: ViewState, volume: Volume): void {
    const key = `${volume.id} ${volume.size}`;
    const { camera } = this.scene;
    if (this.placed !== key && !view.camera) {
      const { low, high } = edges(volume, wholeBox(volume));
      this.scene.lookAt(low, high);
    } else if (view.camera && view.camera.length === 9 && !same(view.camera, this.wrote)) {
      camera.setPosition(...(view.camera.slice(0, 3) as Triple));
      camera.setFocalPoint(...(view.camera.slice(3, 6) as Triple));
      camera.setViewUp(...(view.camera.slice(6, 9) as Triple));
      this.wrote = view.camera;
    }
    this.placed = key;
  }

  private window(view: ViewState, volume: Volume): [number, number] {
    return windowFor(view, volume, null);
  }

  private async texels(volume: Volume, box: Box, max: number, window: [number, number]): Promise<Texels> {
    const { size, factor, texels } = await api.texels(volume.id, box, max, window, this.control.signal);
    const spacing = volume.step_mm.map((step) => step * factor) as Triple;
    const origin = [0, 1, 2].map((i) => volume.origin_mm[i] + (box[2 * i] + (factor - 1) / 2) * volume.step_mm[i]) as Triple;
    return { size, texels, spacing, origin };
  }

  private async load(view: ViewState, volume: Volume): Promise<void> {
    if (view.render === 'surface') return this.loadSurface(view, volume);
    const window = this.window(view, volume);
    const key = `${volume.id}:${volume.changed} ${window}`;
    if (this.coarse?.key === key) {
      if (this.shown === key) this.rested();
      return;
    }
    this.control.abort();
    this.control = new AbortController();
    this.coarse = { key, texels: this.coarse?.texels as Texels };
    this.tell({ texels: null, busy: true, triangles: 0 });
    try {
      const texels = await this.texels(volume, wholeBox(volume), COARSE, window);
      this.coarse = { key, texels };
      this.put(texels, key, true);
      this.rested();
    } catch (error) {
      this.failed(error);
    }
  }

  private put(texels: Texels, key: string, more: boolean): void {
    this.scene.show(texels);
    this.shown = key;
    this.scene.style({ ...state.get(), map: state.get().volumeMap }, this.size());
    this.tell({ texels: texels.size, busy: more, triangles: 0 });
    this.schedule();
  }

  private size(): number {
    const volume = currentVolume()!;
    return Math.hypot(...volume.size.map((n, i) => n * volume.step_mm[i]));
  }

  /** The region that is looked at, as fine as was chosen. */
  private async refine(): Promise<void> {
    const [volume, view] = [currentVolume(), state.get()];
    if (!volume || view.render === 'surface' || !this.coarse?.texels) return;
    const window = this.window(view, volume);
    const box = seen(volume, view.clip ?? wholeBox(volume), this.scene.camera, this.host.clientWidth / this.host.clientHeight);
    const key = `${volume.id}:${volume.changed} ${window} ${box} ${view.texels}`;
    if (this.shown === key) return;
    this.control.abort();
    this.control = new AbortController();
    try {
      this.put(await this.texels(volume, box, view.texels, window), key, false);
    } catch (error) {
      this.failed(error);
    }
  }

  private async loadSurface(view: ViewState, volume: Volume): Promise<void> {
    const [low, high] = this.window(view, volume);
    const iso = view.iso ?? (low + high) / 2;
    const key = `${volume.id}:${volume.changed} ${iso} ${view.clip}`;
    if (this.surface === key) return this.tell({ texels: null, busy: false, triangles: this.scene.triangles });
    this.surface = key;
    this.control.abort();
    this.control = new AbortController();
    this.tell({ texels: null, busy: true, triangles: 0 });
    try {
      // Around the value, so that 127.5 is it and the range is a quarter of the window on each side.
      const reach = (high - low) / 4;
      const texels = await this.texels(volume, view.clip ?? wholeBox(volume), SURFACE, [iso - reach, iso + reach]);
      this.scene.showSurface(texels);
      this.scene.style({ ...state.get(), map: state.get().volumeMap }, this.size());
      this.scene.draw();
      this.tell({ texels: texels.size, busy: false, triangles: this.scene.triangles });
      this.schedule();
    } catch (error) {
      this.surface = '';
      this.failed(error);
    }
  }

  private failed(error: unknown): void {
    report(error, 'The volume cannot be shown in 3-D');
    if ((error as Error).name !== 'AbortError') this.tell({ texels: null, busy: false, triangles: 0 });
  }
}
