// SPDX-License-Identifier: Apache-2.0
// What is opened, as the server last said it, and what is to be told to the person: errors and notices.
import { api, ApiError, listen } from './api';
import { createStore, useStore } from './store';
import { state } from './state';
import { inside, middle } from './axes';
import type { Run, Session, Volume } from './protocol';

export interface Notice {
  key: string;
  kind: 'error' | 'warning' | 'done';
  what: string;
  why: string;
  hint: string;
}

interface Opened {
  session: Session | null;
  fatal: Notice | null;
  notices: Notice[];
  connected: boolean;
}

export const opened = createStore<Opened>({ session: null, fatal: null, notices: [], connected: true });
export const useOpened = <P>(pick: (value: Opened) => P): P => useStore(opened, pick);

export function findVolume(session: Session | null, id: number | null): Volume | null {
  return session?.volumes.find((volume) => volume.id === id) ?? null;
}
export const currentVolume = (): Volume | null => findVolume(opened.get().session, state.get().volume) ?? opened.get().session?.volumes[0] ?? null;

export function useVolume(): Volume | null {
  const id = useStore(state, (view) => view.volume);
  return useOpened((now) => findVolume(now.session, id) ?? now.session?.volumes[0] ?? null);
}

export function dismiss(key: string): void {
  opened.set({ notices: opened.get().notices.filter((notice) => notice.key !== key) });
}

/** Shows a notice; one of the same key takes its place. What is done goes away by itself. */
export function say(kind: Notice['kind'], what: string, why = '', hint = '', key = what): void {
  opened.set({ notices: [...opened.get().notices.filter((notice) => notice.key !== key), { key, kind, what, why, hint }].slice(-4) });
  if (kind === 'done') window.setTimeout(() => dismiss(key), 4000);
}

/** An error of a request as a notice; a request that was given up is none. */
export function report(error: unknown, doing = ''): void {
  if ((error as Error)?.name === 'AbortError') return;
  if (error instanceof ApiError) say('error', doing || error.what, doing ? error.message : error.why, error.hint, doing || error.what);
  else say('error', doing || 'Something in this page failed', String((error as Error)?.message ?? error), '', doing || 'page');
}

export async function openSession(): Promise<void> {
  try {
    const session = stamped(await api.session());
    const first = opened.get().session === null;
    opened.set({ session, fatal: null });
    const volume = currentVolume();
    if (volume && first) {
      state.set({ at: location.hash.includes('at=') ? inside(volume, state.get().at) : middle(volume) });
      if (!findVolume(session, state.get().volume)) state.set({ volume: volume.id });
    }
    for (const { name, gone } of session.volumes) if (gone) tellGone(name, gone);
    if (!session.volumes.length && !session.scan && !session.run)
      opened.set({ fatal: { key: 'empty', kind: 'error', what: 'Nothing is opened', why: 'the server has no volume, scan or run', hint: 'lepus view volume.mha' } });
  } catch (error) {
    const { what, why, hint } = error instanceof ApiError ? error : { what: 'The session cannot be read', why: String(error), hint: '' };
    if (!opened.get().session) opened.set({ fatal: { key: 'session', kind: 'error', what, why, hint } });
    else report(error);
  }
}

function tellGone(name: string, why: string): void {
  say('warning', `${name} ${why === 'vanished' ? 'is no longer there' : 'changed on the disk'}`,
    why === 'vanished' ? 'what was already read stays on the screen' : 'what is shown may be old', 'reload this page', `gone ${name}`);
}

/** While a reconstruction writes slabs, each of them makes old pictures old. */
function stamped(session: Session): Session {
  const finished = session.run?.finished.reduce((sum, [from, to]) => sum + to - from, 0) ?? 0;
  return { ...session, volumes: session.volumes.map((volume) => ({ ...volume, changed: Math.floor(volume.changed % 1e6) + 1e6 * finished })) };
}

function changeRun(run: Run): void {
  const session = opened.get().session;
  if (session) opened.set({ session: stamped({ ...session, run }) });
}

export function watchServer(): () => void {
  return listen((kind, data) => {
    const session = opened.get().session;
    if (kind === 'session') void openSession();
    else if (kind === 'run') changeRun(data);
    else if (kind === 'pyramid' && session)
      opened.set({ session: { ...session, volumes: session.volumes.map((volume) => (volume.id === data.volume ? { ...volume, pyramid: { ...volume.pyramid, ...data } } : volume)) } });
    else if (kind === 'gone') {
      const volume = findVolume(session, data.volume);
      if (volume) tellGone(volume.name, data.why);
    } else if (kind === 'closing') say('warning', 'lepus view ends', 'what is on the screen stays', '', 'server');
    else if (kind === 'lost' && opened.get().connected) {
      opened.set({ connected: false });
      say('warning', 'The connection to lepus view is lost', 'what is on the screen stays; it is tried again', '', 'server');
    } else if (kind === 'open' && !opened.get().connected) {
      opened.set({ connected: true });
      dismiss('server');
      void openSession();
    }
  });
}
