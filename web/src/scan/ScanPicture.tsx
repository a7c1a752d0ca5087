// SPDX-License-Identifier: Apache-2.0
// A frame, a sinogram or a slice of the scan: fitted into its pane, windowed by its own percentiles or by a right drag, with lines
// that can be dragged (the axis, the row that the sinogram is of).
import { useEffect, useRef, useState } from 'preact/hooks';
import { digits } from '../core/axes';
import { lookup } from '../core/colour';
import { picturePercentiles } from '../core/histogram';
import { useRestored } from '../core/restored';
import { paint } from '../slices/layer';
import type { Picture } from '../core/protocol';

interface Line {
  /** Pixels of the picture; columns for upright lines, rows for level ones. */
  at: number;
  upright: boolean;
  colour: string;
  name: string;
  move?: (to: number) => void;
}

interface Props {
  title: string;
  detail: string;
  picture: Picture | null;
  lines?: Line[];
  change?: boolean;
  busy?: boolean;
  fill?: boolean;
  wheel?: (by: number) => void;
  children?: preact.ComponentChildren;
}

const GRIP = 8;

export function ScanPicture({ title, detail, picture, lines = [], change = false, busy = false, fill = false, wheel, children }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [size, setSize] = useState<[number, number]>([1, 1]);
  const [window_, setWindow] = useState<[number, number] | null>(null);
  const [reading, setReading] = useState('');
  useRestored(); // draws it again
  useEffect(() => {
    const observer = new ResizeObserver(() => setSize([canvas.current!.clientWidth || 1, canvas.current!.clientHeight || 1]));
    observer.observe(canvas.current!);
    return () => observer.disconnect();
  }, []);

  const scale = picture ? [size[0] / picture.width, size[1] / picture.height] : [1, 1];
  const [sx, sy] = fill ? scale : [Math.min(...scale), Math.min(...scale)];
  const [left, top] = picture ? [(size[0] - sx * picture.width) / 2, (size[1] - sy * picture.height) / 2] : [0, 0];
  const automatic = picture && (picturePercentiles(picture.pixels, [0.5, 99.5]) ?? [0, 1]);
  const half = automatic ? Math.max(Math.abs(automatic[0]), Math.abs(automatic[1])) : 1;
  const shown: [number, number] = window_ ?? (change ? [-half, half] : automatic ?? [0, 1]);

  useEffect(() => {
    const ratio = window.devicePixelRatio || 1;
    Object.assign(canvas.current!, { width: Math.round(size[0] * ratio), height: Math.round(size[1] * ratio) });
    const context = canvas.current!.getContext('2d')!;
    if (!picture) return;
    const bitmap = Object.assign(document.createElement('canvas'), { width: picture.width, height: picture.height });
    const inner = bitmap.getContext('2d')!;
    const image = inner.createImageData(picture.width, picture.height);
    paint(picture.pixels, new Uint32Array(image.data.buffer), lookup(change ? 'diverging' : 'grey'), shown);
    inner.putImageData(image, 0, 0);
    context.scale(ratio, ratio);
    context.imageSmoothingEnabled = sx < 1;
    context.drawImage(bitmap, left, top, sx * picture.width, sy * picture.height);
    for (const { at, upright, colour, name } of lines) {
      context.fillStyle = colour;
      const place = Math.round(upright ? left + (at + 0.5) * sx : top + (at + 0.5) * sy);
      if (upright) context.fillRect(place, 0, 1.5, size[1]);
      else context.fillRect(0, place, size[0], 1.5);
      context.font = '12px system-ui, sans-serif';
      context.strokeStyle = 'rgb(0 0 0 / 0.8)';
      context.lineWidth = 3;
      const [x, y] = upright ? [place + 6, size[1] - 10] : [8, place - 6];
      context.strokeText(name, x, y);
      context.fillText(name, x, y);
    }
  });

  const at = (event: MouseEvent): [number, number] => {
    const box = canvas.current!.getBoundingClientRect();
    return [(event.clientX - box.left - left) / sx - 0.5, (event.clientY - box.top - top) / sy - 0.5];
  };
  const press = (event: PointerEvent) => {
    const target = canvas.current!;
    const [x, y] = at(event);
    const line = lines.find((one) => one.move && Math.abs(one.upright ? (x - one.at) * sx : (y - one.at) * sy) < GRIP);
    const started = [event.clientX, event.clientY, ...shown];
    const drag = (move: PointerEvent) => {
      if (event.button === 2) {
        const width = (started[3] - started[2]) * Math.exp((3 * (move.clientX - started[0])) / size[0]);
        const middle = (started[2] + started[3]) / 2 - ((move.clientY - started[1]) / size[1]) * (started[3] - started[2]);
        setWindow([middle - width / 2, middle + width / 2]);
      } else line?.move?.(line.upright ? at(move)[0] : at(move)[1]);
    };
    if (!line && event.button === 0) lines.find((one) => one.move && !one.upright)?.move?.(y);
    target.setPointerCapture(event.pointerId);
    target.addEventListener('pointermove', drag);
    target.addEventListener('pointerup', () => target.removeEventListener('pointermove', drag), { once: true });
  };
  const hover = (event: PointerEvent) => {
    if (!picture) return;
    const [x, y] = at(event).map(Math.round);
    setReading(x >= 0 && y >= 0 && x < picture.width && y < picture.height ? `${digits(picture.pixels[y * picture.width + x])} at ${x}, ${y}` : '');
  };
  return (
    <section class="pane" aria-label={title} data-picture={title.toLowerCase()} aria-busy={busy}>
      <header><span class="chip chip-z">{title}</span><span class="pane-detail">{detail}</span><span class="pane-detail reading-here">{reading}</span></header>
      <canvas ref={canvas} class="slice" role="img" aria-label={`${title}, ${detail}`} onPointerDown={press} onPointerMove={hover} onPointerLeave={() => setReading('')}
        onContextMenu={(event) => event.preventDefault()} onDblClick={() => setWindow(null)}
        onWheel={(event) => { if (wheel) { event.preventDefault(); wheel(Math.sign(event.deltaY)); } }} />
      {children}
    </section>
  );
}
