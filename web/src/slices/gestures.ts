// SPDX-License-Identifier: Apache-2.0
// Mouse, pen and fingers on a slice. Left: the chosen tool; right: window and level; middle or Shift: pan; wheel: slices, with
// Ctrl zoom; two fingers: zoom and pan.
import { currentVolume } from '../core/session';
import { NUMBER, PLANE, UPWARDS } from '../core/axes';
import { windowFor } from '../core/histogram';
import { state, type Region } from '../core/state';
import { api } from '../core/api';
import { addPoint, closeDraft, goTo, panBy, regionFrom, step, openPanel, windowBy, zoomBy } from './tools';
import { canvasToVoxel, type Placement } from './placement';
import { regionRectangle } from './marks';
import { pointer } from './pointer';
import type { SlicePane } from './pane';
import type { Box, Triple } from '../core/protocol';

type Drag = (voxel: Triple, dx: number, dy: number, event: PointerEvent) => void;
const GRIP = 9;

export function attach(pane: SlicePane): () => void {
  const { canvas, axis } = pane;
  const fingers = new Map<number, [number, number]>();
  let drag: Drag | null = null;
  let drop: ((voxel: Triple, moved: number) => void) | null = null;
  let start: [number, number] = [0, 0];
  let pinch = 0;
  let wheel = 0;
  let asked = 0;

  const local = (event: MouseEvent): [number, number] => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const voxelAt = ([x, y]: [number, number]): Triple | null => {
    const at = pane.placement(x);
    return at && canvasToVoxel(at, x * pane.pixelRatio, y * pane.pixelRatio, pane.slice);
  };

  function begin(event: PointerEvent, voxel: Triple): void {
    const { tool, compare, swipe } = state.get();
    const x = local(event)[0];
    drop = null;
    if (compare === 'swipe' && event.button === 0 && Math.abs(x - swipe * canvas.clientWidth) < 12)
      drag = (_voxel, dx) => state.set({ swipe: Math.min(0.98, Math.max(0.02, state.get().swipe + dx / canvas.clientWidth)) });
    else if (event.button === 2 || (tool === 'window' && event.button === 0)) drag = windowDrag();
    else if (event.button === 1 || event.shiftKey || tool === 'pan') drag = (_voxel, dx, dy) => pan(dx, dy);
    else if (tool === 'box' || tool === 'ellipsoid') [drag, drop] = regionDrag(event, voxel, tool);
    else if (tool === 'cross') {
      const move = (to: Triple) => goTo(to);
      drag = move;
      move(voxel);
      const label = pane.labelAt(voxel);
      if (label) state.set({ blob: label, panels: openPanel('overlays') });
    } else if (tool !== 'window') {
      addPoint(axis, voxel, tool);
      drag = null;
      if (tool === 'distance' || tool === 'profile') drop = (to, moved) => moved > 4 && pointer.get().draft && addPoint(axis, to, tool);
    }
  }

  function windowDrag(): Drag {
    const volume = currentVolume()!;
    const window = windowFor(state.get(), volume, null);
    let [level, width] = [0, 0];
    return (_voxel, dx, dy) => {
      level -= (dy / canvas.clientHeight) * 1.5;
      width += (dx / canvas.clientWidth) * 3;
      windowBy(level, width, window);
    };
  }

  function pan(dx: number, dy: number): void {
    const at = pane.placement();
    if (!at) return;
    const [a, b] = PLANE[axis];
    const mm = pane.pixelRatio / at.scale;
    panBy(axis, (dx * mm) / at.volume.step_mm[a], ((UPWARDS[axis] ? -dy : dy) * mm) / at.volume.step_mm[b]);
  }

  /** Grips an edge or the inside of the region that is there, or draws a new one. */
  function regionDrag(event: PointerEvent, from: Triple, shape: Region['shape']): [Drag, ((voxel: Triple, moved: number) => void) | null] {
    const at = pane.placement(local(event)[0])!;
    const grip = state.get().region && gripped(at, state.get().region!.box, local(event));
    if (grip) {
      const began = state.get().region!;
      return [(to) => state.set({ region: { ...began, box: moved(at, began.box, grip, from, to) } }), null];
    }
    const draw = (to: Triple) => state.set({ region: regionFrom(at.volume, axis, from, to, shape, null), panels: openPanel('region') });
    return [draw, null];
  }

  /** -1 and 1 for the low and high side of columns and rows, 0 for none of them; null: outside. */
  function gripped(at: Placement, box: Box, [x, y]: [number, number]): [number, number] | null {
    const [left, top, right, bottom] = regionRectangle(at, box).map((value) => value / pane.pixelRatio);
    if (x < left - GRIP || x > right + GRIP || y < top - GRIP || y > bottom + GRIP) return null;
    const side = (value: number, low: number, high: number) => (Math.abs(value - low) < GRIP ? -1 : Math.abs(value - high) < GRIP ? 1 : 0);
    const row = side(y, top, bottom);
    return [side(x, left, right), UPWARDS[axis] ? -row : row];
  }

  function moved(at: Placement, box: Box, grip: [number, number], from: Triple, to: Triple): Box {
    const next = [...box] as Box;
    PLANE[axis].forEach((i, which) => {
      const by = Math.round(to[i] - from[i]);
      const size = at.volume.size[i];
      const [low, high] = [box[2 * i], box[2 * i + 1]];
      const whole = grip[0] === 0 && grip[1] === 0;
      if (whole) {
        const shift = Math.min(Math.max(by, -low), size - high);
        [next[2 * i], next[2 * i + 1]] = [low + shift, high + shift];
      } else if (grip[which] < 0) next[2 * i] = Math.min(Math.max(0, low + by), high - 1);
      else if (grip[which] > 0) next[2 * i + 1] = Math.max(Math.min(size, high + by), low + 1);
    });
    return next;
  }

  function hover(voxel: Triple): void {
    const volume = currentVolume();
    if (!volume) return;
    const at = voxel.map((value, i) => (i === NUMBER[axis] ? value : Math.round(value))) as Triple;
    if (at.some((value, i) => value < 0 || value >= volume.size[i])) return pointer.set({ at: null, value: null, other: null });
    const value = pane.valueAt(at);
    pointer.set({ at, value });
    window.clearTimeout(asked);
    const other = state.get().compare === 'off' ? null : state.get().other;
    if (value === null || other !== null)
      asked = window.setTimeout(async () => {
        try {
          const [here, there] = await Promise.all([api.value(volume.id, at), other === null ? null : api.value(other, at)]);
          if (pointer.get().at === at) pointer.set({ value: here.value, other: there?.value ?? null });
        } catch {
          // the slice itself tells what is wrong
        }
      }, 90);
  }

  const on = {
    pointerdown(event: PointerEvent) {
      canvas.focus({ preventScroll: true });
      canvas.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, local(event));
      start = local(event);
      pinch = 0;
      const voxel = voxelAt(start);
      if (!voxel) return;
      if (fingers.size === 2) [drag, drop] = [null, null];
      else begin(event, voxel);
    },
    pointermove(event: PointerEvent) {
      const now = local(event);
      const before = fingers.get(event.pointerId);
      const voxel = voxelAt(now);
      if (!voxel) return;
      if (before && fingers.size === 2) {
        fingers.set(event.pointerId, now);
        const [[x0, y0], [x1, y1]] = [...fingers.values()];
        const distance = Math.hypot(x1 - x0, y1 - y0);
        if (pinch) zoomBy(distance / pinch, voxelAt([(x0 + x1) / 2, (y0 + y1) / 2]));
        pinch = distance;
        pan((now[0] - before[0]) / 2, (now[1] - before[1]) / 2);
      } else if (before) {
        fingers.set(event.pointerId, now);
        drag?.(voxel, now[0] - before[0], now[1] - before[1], event);
      }
      hover(voxel);
    },
    pointerup(event: PointerEvent) {
      const now = local(event);
      const before = fingers.get(event.pointerId);
      const voxel = voxelAt(now);
      // Where it was let go counts, also where a busy browser has told of no move to there.
      if (voxel && before && fingers.size === 1 && (now[0] !== before[0] || now[1] !== before[1])) drag?.(voxel, now[0] - before[0], now[1] - before[1], event);
      fingers.delete(event.pointerId);
      if (voxel) drop?.(voxel, Math.hypot(now[0] - start[0], now[1] - start[1]));
      drag = drop = null;
    },
    pointercancel(event: PointerEvent) {
      fingers.delete(event.pointerId);
      drag = drop = null;
    },
    pointerleave: () => pointer.set({ at: null, value: null, other: null }),
    dblclick: () => closeDraft(),
    contextmenu: (event: Event) => event.preventDefault(),
    focus: () => pointer.set({ focused: axis }),
    wheel(event: WheelEvent) {
      event.preventDefault();
      const pixels = event.deltaY * (event.deltaMode === 1 ? 33 : event.deltaMode === 2 ? 400 : 1);
      if (event.ctrlKey || event.metaKey) return zoomBy(Math.exp(-pixels / 300), voxelAt(local(event)));
      wheel += pixels;
      const slices = Math.trunc(wheel / 33) || (Math.abs(event.deltaY) >= 33 ? Math.sign(pixels) : 0);
      if (!slices) return;
      wheel = 0;
      step(axis, event.altKey ? 10 * slices : slices);
    },
  };
  for (const [name, handler] of Object.entries(on)) canvas.addEventListener(name, handler as EventListener, { passive: false });
  return () => {
    for (const [name, handler] of Object.entries(on)) canvas.removeEventListener(name, handler as EventListener);
    window.clearTimeout(asked);
  };
}
