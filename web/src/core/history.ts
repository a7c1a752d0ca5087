// SPDX-License-Identifier: Apache-2.0
// Undo and redo over the whole view. Changes of the same thing that follow each other quickly (a drag, a scroll) are
// one step; every measure is its own.
import { state, type ViewState } from './state';

const LONGEST = 200;
const PAUSE_MS = 600;
/** Moving the camera or unfolding a panel is no step of its own. */
const NO_STEP: (keyof ViewState)[] = ['panels', 'theme', 'large'];

let past: ViewState[] = [];
let future: ViewState[] = [];
let last_change = 0;
let last_keys = '';
let travelling = false;

export function watchHistory(): void {
  past = [];
  future = [];
  state.subscribe((now, before) => {
    if (travelling) return;
    const changed = (Object.keys(now) as (keyof ViewState)[]).filter((key) => now[key] !== before[key] && !NO_STEP.includes(key)).join();
    if (!changed) return;
    const time = performance.now();
    if (time - last_change > PAUSE_MS || changed !== last_keys || changed === 'measures') {
      past.push(before);
      if (past.length > LONGEST) past.shift();
    }
    last_change = time;
    last_keys = changed;
    future = [];
  });
}

function travel(from: ViewState[], to: ViewState[]): boolean {
  const target = from.pop();
  if (!target) return false;
  to.push(state.get());
  travelling = true;
  const { panels, theme, large } = state.get();
  state.set({ ...target, panels, theme, large });
  travelling = false;
  last_change = 0;
  return true;
}

export const undo = (): boolean => travel(past, future);
export const redo = (): boolean => travel(future, past);
