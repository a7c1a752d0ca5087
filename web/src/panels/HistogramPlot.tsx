// SPDX-License-Identifier: Apache-2.0
// The histogram of the volume with the window over it, drawn in the colours that the slices have. With `transfer` the curve of
// opacities is drawn over it, too, and its points are moved.
import { useEffect, useRef, useState } from 'preact/hooks';
import { clampTo, digits } from '../core/axes';
import { colours, css } from '../core/colour';
import { histogramKey, histograms, wantHistogram } from '../core/histogram';
import { useRestored } from '../core/restored';
import { useStore } from '../core/store';
import { useView } from '../core/state';
import type { Volume } from '../core/protocol';

interface Props {
  volume: Volume;
  window: [number, number];
  map: string;
  invert?: boolean;
  setWindow?: (window: [number, number]) => void;
  transfer?: [number, number][];
  setTransfer?: (points: [number, number][]) => void;
  marker?: number | null;
}

const HEIGHT = 96;
const GRIP = 10;

export function HistogramPlot({ volume, window, map, invert = false, setWindow, transfer, setTransfer, marker }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(280);
  const theme = useView((view) => view.theme);
  const restored = useRestored();
  const histogram = useStore(histograms, (all) => all[histogramKey(volume)]);
  useEffect(() => wantHistogram(volume), [histogramKey(volume)]);
  useEffect(() => {
    const observer = new ResizeObserver(() => setWidth(canvas.current!.clientWidth || 280));
    observer.observe(canvas.current!);
    return () => observer.disconnect();
  }, []);

  // A transfer function is drawn over its window; the plain histogram over all values, and over the window where that is wider.
  const size = window[1] - window[0];
  const whole: [number, number] = histogram ? [histogram.low, histogram.high] : volume.range ?? window;
  const [low, high] = transfer ? [window[0] - 0.08 * size, window[1] + 0.08 * size] : [Math.min(whole[0], window[0]), Math.max(whole[1], window[1])];
  const x = (value: number) => ((value - low) / (high - low)) * width;
  const value = (px: number) => low + (px / width) * (high - low);
  const transferX = (place: number) => x(window[0] + place * size);

  useEffect(() => {
    const ratio = globalThis.devicePixelRatio || 1;
    Object.assign(canvas.current!, { width: width * ratio, height: HEIGHT * ratio });
    const context = canvas.current!.getContext('2d')!;
    const style = getComputedStyle(canvas.current!);
    context.scale(ratio, ratio);
    const table = colours(map);
    if (histogram) {
      const { counts } = histogram;
      const top = Math.log1p(Math.max(...counts));
      const bin = (whole[1] - whole[0]) / counts.length;
      for (let px = 0; px < width; px++) {
        const [from, to] = [Math.floor((value(px) - whole[0]) / bin), Math.floor((value(px + 1) - whole[0]) / bin)];
        let count = 0;
        for (let i = Math.max(0, from); i <= Math.min(counts.length - 1, Math.max(from, to)); i++) count = Math.max(count, counts[i]);
        const tall = top ? (Math.log1p(count) / top) * (HEIGHT - 10) : 0;
        const place = clampTo((value(px + 0.5) - window[0]) / size, 0, 1);
        const within = place > 0 && place < 1;
        context.fillStyle = within ? css(table[Math.round(255 * (invert ? 1 - place : place))]) : style.getPropertyValue('--histogram');
        context.fillRect(px, HEIGHT - tall, 1, tall);
        if (within) {
          context.fillStyle = style.getPropertyValue('--outline');
          context.fillRect(px, HEIGHT - tall - 1, 1, 1.5);
        }
      }
    }
    context.strokeStyle = context.fillStyle = style.getPropertyValue('--accent');
    context.lineWidth = 2;
    if (setWindow)
      for (const edge of window) {
        context.fillRect(x(edge) - 1, 0, 2, HEIGHT);
        context.fillRect(x(edge) - 4, HEIGHT / 2 - 8, 8, 16);
      }
    if (transfer) {
      context.beginPath();
      context.moveTo(0, HEIGHT - 4 - transfer[0][1] * (HEIGHT - 8));
      for (const [place, opacity] of transfer) context.lineTo(transferX(place), HEIGHT - 4 - opacity * (HEIGHT - 8));
      context.lineTo(width, HEIGHT - 4 - transfer.at(-1)![1] * (HEIGHT - 8));
      context.stroke();
      for (const [place, opacity] of transfer) {
        context.beginPath();
        context.arc(transferX(place), HEIGHT - 4 - opacity * (HEIGHT - 8), 4.5, 0, 7);
        context.fill();
      }
    }
    if (marker !== null && marker !== undefined) {
      context.fillStyle = style.getPropertyValue('--warm');
      context.fillRect(x(marker) - 1, 0, 2, HEIGHT);
    }
  }, [histogram, width, low, high, window[0], window[1], map, invert, transfer, marker, theme, restored]);

  function press(event: PointerEvent): void {
    const target = canvas.current!;
    const at = (move: PointerEvent): [number, number] => {
      const box = target.getBoundingClientRect();
      return [move.clientX - box.left, move.clientY - box.top];
    };
    const [px, py] = at(event);
    let act: (px: number, py: number) => void;
    if (transfer && setTransfer) {
      const place = ([tx, ty]: [number, number]): [number, number] => [clampTo((value(tx) - window[0]) / size, 0, 1), clampTo((HEIGHT - 4 - ty) / (HEIGHT - 8), 0, 1)];
      let points = [...transfer];
      let chosen = points.findIndex(([p, o]) => Math.hypot(transferX(p) - px, HEIGHT - 4 - o * (HEIGHT - 8) - py) < GRIP);
      if (chosen >= 0 && (event.altKey || event.button === 2) && points.length > 2) return setTransfer(points.filter((_, i) => i !== chosen));
      if (chosen < 0) {
        points = [...points, place([px, py])].sort((a, b) => a[0] - b[0]);
        chosen = points.findIndex(([p]) => p === place([px, py])[0]);
      }
      act = (tx, ty) => {
        const [p, o] = place([tx, ty]);
        points = points.map((point, i) => (i === chosen ? [clampTo(p, points[i - 1]?.[0] ?? 0, points[i + 1]?.[0] ?? 1), o] : point));
        setTransfer(points);
      };
    } else if (setWindow) {
      const [dl, dh] = window.map((edge) => Math.abs(x(edge) - px));
      const began = [...window] as [number, number];
      const grip = Math.min(dl, dh) < GRIP ? (dl < dh ? 0 : 1) : px > x(window[0]) && px < x(window[1]) ? 2 : dl < dh ? 0 : 1;
      act = (tx) => {
        const by = value(tx) - value(px);
        if (grip === 2) setWindow([began[0] + by, began[1] + by]);
        else if (grip === 0) setWindow([Math.min(value(tx), began[1] - 1e-6 * (high - low)), began[1]]);
        else setWindow([began[0], Math.max(value(tx), began[0] + 1e-6 * (high - low))]);
      };
    } else return;
    target.setPointerCapture(event.pointerId);
    act(px, py);
    const move = (next: PointerEvent) => act(...at(next));
    target.addEventListener('pointermove', move);
    target.addEventListener('pointerup', () => target.removeEventListener('pointermove', move), { once: true });
  }

  return (
    <figure class="histogram">
      <canvas ref={canvas} style={{ height: `${HEIGHT}px` }} role="img" onPointerDown={press} onContextMenu={(event) => event.preventDefault()}
        aria-label={transfer ? 'Opacity over the histogram of the window' : `Histogram, window from ${digits(window[0])} to ${digits(window[1])}`} />
      <figcaption><span>{digits(low)}</span><span>{volume.unit}</span><span>{digits(high)}</span></figcaption>
    </figure>
  );
}
