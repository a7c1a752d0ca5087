// SPDX-License-Identifier: Apache-2.0
// A slice in any direction through the crosshair. Dragging turns and tilts the plane; the wheel moves it along its normal.
import { useEffect, useRef, useState } from 'preact/hooks';
import { api } from '../core/api';
import { clampTo, toMm, toVoxel } from '../core/axes';
import { lookup } from '../core/colour';
import { histograms, windowFor } from '../core/histogram';
import { planeVectors } from '../core/plane';
import { useRestored } from '../core/restored';
import { currentVolume, report, useVolume } from '../core/session';
import { useStore } from '../core/store';
import { state, useView } from '../core/state';
import { PaneFrame } from '../ui/PaneFrame';
import { goTo } from './tools';
import { crosshairAt, scaleBar } from './marks';
import { paint } from './layer';
import type { Picture, Triple } from '../core/protocol';
import type { Placement } from './placement';

const COARSE = 4;

export function ObliqueView() {
  const canvas = useRef<HTMLCanvasElement>(null);
  const volume = useVolume();
  const view = useView((now) => now);
  const [picture, setPicture] = useState<Picture | null>(null);
  const [size, setSize] = useState<[number, number]>([0, 0]);
  const restored = useRestored();
  useStore(histograms, (all) => all);

  useEffect(() => {
    const observer = new ResizeObserver(() => setSize([canvas.current!.clientWidth, canvas.current!.clientHeight]));
    observer.observe(canvas.current!);
    return () => observer.disconnect();
  }, []);

  const extent = volume ? Math.hypot(...volume.size.map((n, i) => n * volume.step_mm[i])) : 1;
  const mm_per_pixel = size[0] ? (0.75 * extent) / Math.min(...size) / view.zoom : 0;

  useEffect(() => {
    if (!volume || !mm_per_pixel) return undefined;
    const control = new AbortController();
    const { u, v } = planeVectors(view.plane);
    const middle = toMm(volume, view.at);
    const ask = async (coarse: number) => {
      const [width, height] = size.map((pixels) => Math.max(1, Math.round(pixels / coarse)));
      const step = mm_per_pixel * coarse;
      const origin = middle.map((value, i) => value - (step * (width - 1) * u[i]) / 2 - (step * (height - 1) * v[i]) / 2) as Triple;
      setPicture(await api.oblique(volume.id, { origin, u, v, size: [width, height], step }, control.signal));
    };
    const timer = window.setTimeout(() => ask(COARSE).then(() => ask(1)).catch((error) => report(error, 'The oblique slice cannot be shown')), 15);
    return () => {
      window.clearTimeout(timer);
      control.abort();
    };
  }, [volume?.id, volume?.changed, view.at.join(), view.plane.join(), size.join(), mm_per_pixel]);

  useEffect(() => {
    const target = canvas.current!;
    if (!volume || !picture) return;
    Object.assign(target, { width: size[0], height: size[1] });
    const bitmap = Object.assign(document.createElement('canvas'), { width: picture.width, height: picture.height });
    const inner = bitmap.getContext('2d')!;
    const image = inner.createImageData(picture.width, picture.height);
    paint(picture.pixels, new Uint32Array(image.data.buffer), lookup(view.map, view.invert, view.gamma), windowFor(view, volume, picture.pixels));
    inner.putImageData(image, 0, 0);
    const context = target.getContext('2d')!;
    context.imageSmoothingEnabled = true;
    context.drawImage(bitmap, 0, 0, size[0], size[1]);
    const at = { axis: 'z', volume, left: 0, width: size[0], height: size[1], scale: 1 / mm_per_pixel, centre: [0, 0] } as Placement;
    if (view.crosshair) crosshairAt({ context, at, ratio: 1 }, size[0] / 2, size[1] / 2, '#c9a0ff', '#c9a0ff');
    scaleBar({ context, at, ratio: 1 });
    target.dataset.pixels = String(picture.width);
  }, [picture, view.map, view.invert, view.gamma, view.window, view.normalise, view.percentiles, view.crosshair, restored]);

  const turn = (event: PointerEvent) => {
    if (!event.buttons) return;
    const [degrees, tilt] = state.get().plane;
    state.set({ plane: [((degrees + event.movementX / 2 + 540) % 360) - 180, clampTo(tilt + event.movementY / 2, -90, 90)] });
  };
  const along = (by: number) => {
    const now = currentVolume()!;
    const { normal } = planeVectors(state.get().plane);
    const step = by * Math.min(...now.step_mm);
    goTo(toVoxel(now, toMm(now, state.get().at).map((value, i) => value + step * Math.sign(normal[i]) * Math.max(Math.abs(normal[i]), Math.abs(normal[i]) > 0.3 ? 0.6 : 0))));
  };
  const keys = (event: KeyboardEvent) => {
    const by: Record<string, [number, number]> = { ArrowLeft: [-5, 0], ArrowRight: [5, 0], ArrowUp: [0, -5], ArrowDown: [0, 5] };
    if (event.key in by && !event.ctrlKey && !event.altKey) {
      const [degrees, tilt] = state.get().plane;
      state.set({ plane: [((degrees + by[event.key][0] + 540) % 360) - 180, clampTo(tilt + by[event.key][1], -90, 90)] });
    } else if (event.key === 'PageUp' || event.key === 'PageDown') along(event.key === 'PageUp' ? 1 : -1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <PaneFrame pane="oblique" title="oblique" detail={`turn ${Math.round(view.plane[0])}° · tilt ${Math.round(view.plane[1])}°`}>
      <canvas ref={canvas} class="slice" data-axis="oblique" tabIndex={0} role="application"
        aria-label="Oblique slice through the crosshair. Arrow keys turn and tilt it, Page Up and Page Down move it."
        onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)} onPointerMove={turn} onKeyDown={keys}
        onWheel={(event) => { event.preventDefault(); along(Math.sign(event.deltaY)); }} />
    </PaneFrame>
  );
}
