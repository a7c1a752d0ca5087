// SPDX-License-Identifier: Apache-2.0
// The view in the address: `#at=10,20,30&zoom=2`. Only what differs from the start is written; what cannot be read is left out.
import { initial, state, type ViewState } from './state';
import { same } from './store';

const rounded = (value: number): number => Number(value.toPrecision(6));

function write(value: unknown): string {
  if (typeof value === 'number') return String(rounded(value));
  if (Array.isArray(value) && value.length && value.every((entry) => typeof entry === 'number')) return value.map((entry) => rounded(entry as number)).join(',');
  if (typeof value === 'string') return value;
  return JSON.stringify(value, (_, entry) => (typeof entry === 'number' ? rounded(entry) : entry));
}

const number = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value);
const numbers = (count: number) => (value: unknown): boolean => Array.isArray(value) && value.length === count && value.every(number);
const all = (each: (value: any) => boolean) => (value: unknown): boolean => Array.isArray(value) && value.every(each);
const AXIS = /^[xyz]$/;

/** What a value must be where the start does not say it. */
const SHAPE: Partial<Record<keyof ViewState, (value: any) => boolean>> = {
  at: numbers(3), centre: numbers(3), window: numbers(2), percentiles: numbers(2), plane: numbers(2), clip: numbers(6), camera: numbers(9),
  other: number, blob: number, overlay: number, iso: number, scanRow: number, scanZ: number,
  toml: (value) => typeof value === 'string',
  region: (value) => /^(box|ellipsoid)$/.test(value?.shape) && numbers(6)(value.box),
  measures: all((one) => /^(distance|angle|area|profile)$/.test(one?.kind) && AXIS.test(one.axis) && all(numbers(3))(one.points) && one.points.length > 1),
  transfer: (value) => all(numbers(2))(value) && value.length > 1,
};

/** The text as a value of this key; undefined where it is none. */
function read(key: keyof ViewState, text: string): unknown {
  const start = initial[key];
  if (typeof start === 'boolean') return text === 'true' ? true : text === 'false' ? false : undefined;
  if (typeof start === 'number') return text !== '' && number(Number(text)) ? Number(text) : undefined;
  if (typeof start === 'string') return /^[a-z0-9,-]{0,200}$/i.test(text) ? text : undefined;
  let value: unknown;
  try {
    value = /^[-+.\de]+(,[-+.\de]+)+$/i.test(text) ? text.split(',').map(Number) : JSON.parse(text);
  } catch {
    return undefined;
  }
  return SHAPE[key]?.(value) ? value : undefined;
}

export function encode(view: ViewState): string {
  return (Object.keys(initial) as (keyof ViewState)[])
    .filter((key) => !same(view[key], initial[key]) && JSON.stringify(view[key]) !== JSON.stringify(initial[key]))
    .map((key) => `${key}=${encodeURIComponent(initial[key] === null && typeof view[key] === 'string' ? JSON.stringify(view[key]) : write(view[key])).replace(/%2C/g, ',')}`)
    .join('&');
}

export function decode(hash: string): Partial<ViewState> {
  const view: Record<string, unknown> = {};
  for (const part of hash.replace(/^#/, '').split('&')) {
    const [key, text] = [part.slice(0, part.indexOf('=')), part.slice(part.indexOf('=') + 1)];
    if (!(key in initial)) continue;
    try {
      const value = read(key as keyof ViewState, decodeURIComponent(text));
      if (value !== undefined) view[key] = value;
    } catch {
      // a broken escape: as if it were not there
    }
  }
  return view as Partial<ViewState>;
}

export function watchAddress(): void {
  let pending = 0;
  let written = location.hash;
  const put = () => {
    pending = 0;
    const hash = encode(state.get());
    written = hash ? `#${hash}` : '';
    history.replaceState(null, '', `${location.pathname}${location.search}${written}`);
  };
  state.subscribe(() => {
    pending ||= window.setTimeout(put, 250); // browsers refuse more than some hundred in a few seconds
  });
  window.addEventListener('hashchange', () => {
    if (location.hash !== written) state.set({ ...initial, ...decode(location.hash) });
  });
}
