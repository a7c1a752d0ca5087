// SPDX-License-Identifier: Apache-2.0
// Every key, once: what it does and what the help page says of it.
import { clampTo, NUMBER, PLANE, UPWARDS } from '../core/axes';
import { redo, undo } from '../core/history';
import { currentVolume } from '../core/session';
import { state, type Tool, type ViewState } from '../core/state';
import { MAPS } from '../core/colour';
import { addPoint, closeDraft, fit, goTo, openPanel, panBy, regionFrom, setWindow, step, windowBy, zoomBy } from '../slices/tools';
import { pointer } from '../slices/pointer';
import { shell } from './App';
import { chooseTool, copyAddress, nextTheme, TOOLS } from './TopBar';
import type { Axis, Triple } from '../core/protocol';

export interface Key {
  /** As in KeyboardEvent.key, letters lower case; `Ctrl+`, `Alt+` and `Shift+` (where it changes no letter) before it. */
  keys: string[];
  shown: string;
  what: string;
  act: (key: string) => void;
}

const focused = (): Axis => pointer.get().focused;
const cycle = <T,>(list: readonly T[], now: T): T => list[(list.indexOf(now) + 1) % list.length];

function moveCross(columns: number, rows: number, by: number): void {
  const axis = focused();
  const at = [...state.get().at] as Triple;
  const [a, b] = PLANE[axis];
  at[a] += columns * by;
  at[b] += (UPWARDS[axis] ? -rows : rows) * by;
  goTo(at);
}

const ARROWS: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const arrow = (key: string): [number, number] => ARROWS[key.replace(/^.*\+/, '')];

/** What a click at the crosshair would do with the tool that is chosen. */
function useToolHere(): void {
  const { tool, at, region } = state.get();
  const volume = currentVolume();
  if (!volume) return;
  if (tool === 'box' || tool === 'ellipsoid') {
    const quarter = volume.size.map((n) => Math.max(1, Math.round(n / 8))) as Triple;
    const from = at.map((value, i) => value - quarter[i]) as Triple;
    const to = at.map((value, i) => value + quarter[i]) as Triple;
    from[NUMBER[focused()]] = at[NUMBER[focused()]];
    state.set({ region: region ? { ...region, shape: tool } : regionFrom(volume, focused(), from, to, tool, null), panels: openPanel('region') });
  } else if (tool === 'distance' || tool === 'angle' || tool === 'area' || tool === 'profile') addPoint(focused(), [...at] as Triple, tool);
}

function escape(): void {
  if (shell.get().help) shell.set({ help: false });
  else if (pointer.get().draft) pointer.set({ draft: null });
  else if (state.get().layout !== 'grid' && state.get().layout !== 'row') state.set({ layout: 'grid' });
  else state.set({ tool: 'cross' });
}

const toggle = (key: keyof ViewState) => () => state.set({ [key]: !state.get()[key] } as Partial<ViewState>);

export const KEYS: { title: string; keys: Key[] }[] = [
  {
    title: 'Move',
    keys: [
      { keys: Object.keys(ARROWS), shown: '← → ↑ ↓', what: 'crosshair by one voxel in the chosen pane', act: (key) => moveCross(...arrow(key), 1) },
      { keys: Object.keys(ARROWS).map((key) => `Shift+${key}`), shown: 'Shift ← → ↑ ↓', what: 'by ten voxels', act: (key) => moveCross(...arrow(key), 10) },
      { keys: ['PageUp', '.'], shown: 'Page Up, .', what: 'next slice', act: () => step(focused(), 1) },
      { keys: ['PageDown', ','], shown: 'Page Down, ,', what: 'slice before', act: () => step(focused(), -1) },
      { keys: ['Shift+PageUp', 'Shift+PageDown'], shown: 'Shift Page Up/Down', what: 'ten slices', act: (key) => step(focused(), key.endsWith('Up') ? 10 : -10) },
      { keys: ['Home', 'End'], shown: 'Home, End', what: 'first and last slice', act: (key) => step(focused(), key === 'Home' ? -1e9 : 1e9) },
      { keys: ['+', '='], shown: '+', what: 'zoom in', act: () => zoomBy(1.25) },
      { keys: ['-'], shown: '−', what: 'zoom out', act: () => zoomBy(0.8) },
      { keys: Object.keys(ARROWS).map((key) => `Ctrl+${key}`), shown: 'Ctrl ← → ↑ ↓', what: 'pan', act: (key) => pan(arrow(key)) },
      { keys: ['f'], shown: 'F', what: 'fit', act: fit },
      { keys: ['m'], shown: 'M', what: 'crosshair into the middle of the panes', act: () => state.set({ centre: [...state.get().at] as Triple }) },
    ],
  },
  {
    title: 'Panes',
    keys: [
      { keys: ['1', '2', '3'], shown: '1 2 3', what: 'choose xy, yz, xz', act: (key) => choosePane((['z', 'x', 'y'] as Axis[])[Number(key) - 1]) },
      { keys: ['4', '5'], shown: '4 5', what: 'four panes, three in a row', act: (key) => state.set({ layout: key === '4' ? 'grid' : 'row' }) },
      { keys: ['Enter'], shown: 'Enter', what: 'use the tool at the crosshair', act: useToolHere },
      { keys: ['z'], shown: 'Z', what: 'chosen pane alone, or all', act: () => state.set({ layout: state.get().layout === focused() ? 'grid' : focused() }) },
      { keys: ['v'], shown: 'V', what: '3-D alone, or all', act: () => state.set({ layout: state.get().layout === 'volume' ? 'grid' : 'volume', fourth: 'volume' }) },
      { keys: ['o'], shown: 'O', what: 'oblique slice instead of 3-D', act: () => state.set({ fourth: state.get().fourth === 'oblique' ? 'volume' : 'oblique' }) },
      { keys: ['x'], shown: 'X', what: 'crosshair on or off', act: toggle('crosshair') },
    ],
  },
  {
    title: 'Grey levels',
    keys: [
      { keys: ['Alt+ArrowUp', 'Alt+ArrowDown'], shown: 'Alt ↑ ↓', what: 'level', act: (key) => windowBy(key.endsWith('Up') ? -0.05 : 0.05, 0) },
      { keys: ['Alt+ArrowLeft', 'Alt+ArrowRight'], shown: 'Alt ← →', what: 'width', act: (key) => windowBy(0, key.endsWith('Left') ? -0.1 : 0.1) },
      { keys: ['r'], shown: 'R', what: 'window back to the start', act: () => setWindow(null) },
      { keys: ['n'], shown: 'N', what: 'window, percentiles of all, of the slice', act: () => state.set({ normalise: cycle(['window', 'global', 'slice'] as const, state.get().normalise) }) },
      { keys: ['k'], shown: 'K', what: 'next colour map', act: () => state.set({ map: cycle(MAPS, state.get().map) }) },
      { keys: ['i'], shown: 'I', what: 'inverted', act: toggle('invert') },
      { keys: ['[', ']'], shown: '[ ]', what: 'thinner, thicker slab', act: (key) => state.set({ slab: clampTo(state.get().slab + (key === ']' ? 2 : -2), 1, 255) }) },
    ],
  },
  {
    title: 'Tools',
    keys: [
      ...TOOLS.map(({ tool, name, key }) => ({ keys: [key], shown: key.toUpperCase(), what: name.toLowerCase(), act: () => chooseTool(tool as Tool) })),
      { keys: ['q'], shown: 'Q', what: 'close the area', act: closeDraft },
      { keys: ['Delete', 'Backspace'], shown: 'Delete', what: 'remove the last measure', act: () => state.set({ measures: state.get().measures.slice(0, -1) }) },
      { keys: ['j'], shown: 'J', what: 'side by side, swipe, difference, off', act: () => state.set({ compare: cycle(['off', 'side', 'swipe', 'difference'] as const, state.get().compare) }) },
      { keys: ['u'], shown: 'U', what: 'labels on or off', act: toggle('labels') },
    ],
  },
  {
    title: 'Page',
    keys: [
      { keys: ['Ctrl+z'], shown: 'Ctrl Z', what: 'undo', act: () => undo() },
      { keys: ['Ctrl+y', 'Ctrl+Shift+z'], shown: 'Ctrl Y', what: 'redo', act: () => redo() },
      { keys: ['y'], shown: 'Y', what: 'copy the address of this view', act: () => void copyAddress() },
      { keys: ['s'], shown: 'S', what: 'side panel', act: () => shell.set({ sidebar: !shell.get().sidebar }) },
      { keys: ['l'], shown: 'L', what: 'larger text, for a projector', act: toggle('large') },
      { keys: ['t'], shown: 'T', what: 'light or dark', act: nextTheme },
      { keys: ['?'], shown: '?', what: 'this page', act: () => shell.set({ help: !shell.get().help }) },
      { keys: ['Escape'], shown: 'Esc', what: 'give up, back', act: escape },
    ],
  },
];

function pan([columns, rows]: [number, number]): void {
  const volume = currentVolume();
  if (!volume) return;
  const axis = focused();
  const share = 0.1 / state.get().zoom;
  const [a, b] = PLANE[axis];
  panBy(axis, -columns * share * volume.size[a], (UPWARDS[axis] ? rows : -rows) * share * volume.size[b]);
}

function choosePane(axis: Axis): void {
  pointer.set({ focused: axis });
  document.querySelector<HTMLCanvasElement>(`canvas[data-axis=${axis}]`)?.focus();
}

export function watchKeys(): void {
  const table = new Map(KEYS.flatMap(({ keys }) => keys.flatMap((key) => key.keys.map((name) => [name, key] as const))));
  window.addEventListener('keydown', (event) => {
    const target = event.target as HTMLElement;
    const typing = target.matches('input:not([type=range]):not([type=checkbox]), textarea, select');
    if (typing && event.key !== 'Escape') return;
    // Arrows, Enter and paging belong to a control that has the focus.
    if (target.matches('button, a, summary, input, [role=slider], .volume-canvas') && /^(Arrow|Page|Home|End|Enter|\s)/.test(event.key)) return;
    const letter = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const shift = event.shiftKey && (event.key.length > 1 || event.ctrlKey) ? 'Shift+' : '';
    const name = `${event.ctrlKey || event.metaKey ? 'Ctrl+' : ''}${event.altKey ? 'Alt+' : ''}${shift}${letter}`;
    const key = table.get(name);
    if (!key) return;
    event.preventDefault();
    key.act(name);
  });
}
