// SPDX-License-Identifier: Apache-2.0
// A value that components watch: they are drawn again when the part of it that they look at changes.
import { useEffect, useRef, useState } from 'preact/hooks';

export interface Store<T> {
  get(): T;
  set(change: Partial<T>): void;
  subscribe(listener: (now: T, before: T) => void): () => void;
}

export function createStore<T extends object>(initial: T): Store<T> {
  let now = initial;
  const listeners = new Set<(now: T, before: T) => void>();
  return {
    get: () => now,
    set(change) {
      const before = now;
      now = { ...now, ...change };
      for (const listener of [...listeners]) listener(now, before);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export function same(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
  return a.every((value, i) => Object.is(value, b[i]));
}

export function useStore<T extends object, P>(store: Store<T>, pick: (value: T) => P): P {
  const latest = useRef(pick);
  latest.current = pick;
  const [, redraw] = useState(0);
  const shown = pick(store.get());
  const last = useRef(shown);
  last.current = shown;
  useEffect(() => {
    const look = () => {
      if (!same(latest.current(store.get()), last.current)) redraw((n) => n + 1);
    };
    look(); // it may have changed between drawing and listening
    return store.subscribe(look);
  }, [store]);
  return shown;
}
