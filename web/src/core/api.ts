// SPDX-License-Identifier: Apache-2.0
// Every request of the page. An answer that is no success becomes an ApiError with the server's own words.
import type { BlobTable, Box, Histogram, Picture, Session, Statistics, Steps, Triple } from './protocol';

export class ApiError extends Error {
  constructor(readonly status: number, readonly what: string, readonly why = '', readonly hint = '') {
    super([what, why].filter(Boolean).join(': '));
  }
}

type Value = string | number | readonly number[] | null | undefined;
export type Query = Record<string, Value>;

export function address(path: string, query: Query = {}): string {
  const parts = Object.entries(query)
    .filter(([, value]) => value !== undefined && value !== null && value !== '')
    .map(([key, value]) => `${key}=${Array.isArray(value) ? value.join(',') : encodeURIComponent(String(value))}`);
  return `/api/${path}${parts.length ? `?${parts.join('&')}` : ''}`;
}

async function failure(response: Response): Promise<ApiError> {
  try {
    const { error } = await response.json();
    return new ApiError(response.status, error.what || `The server answered ${response.status}`, [error.where, error.why].filter(Boolean).join(': '), error.hint);
  } catch {
    return new ApiError(response.status, `The server answered ${response.status}`, response.statusText);
  }
}

const BUSY_TRIES = 4;

/** A server that is too busy is asked again, a little later each time. */
async function ask(url: string, options: RequestInit = {}, tries = BUSY_TRIES): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url, options);
  } catch (error) {
    if ((error as Error).name === 'AbortError') throw error;
    throw new ApiError(0, 'The server does not answer', 'lepus view may have ended', 'start it again, then reload this page');
  }
  if (response.status === 503 && tries > 1) {
    await new Promise((wake) => setTimeout(wake, 300 * 2 ** (BUSY_TRIES - tries)));
    options.signal?.throwIfAborted();
    return ask(url, options, tries - 1);
  }
  if (!response.ok) throw await failure(response);
  return response;
}

function send(body: unknown, signal?: AbortSignal): RequestInit {
  return { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body), signal };
}

const json = async <T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> => (await ask(address(path, query), { signal })).json();

const numbers = (response: Response, header: string): number[] => (response.headers.get(header) ?? '').split(',').map(Number);

/** What each of the 256 or 65536 steps stands for. */
export function valuesOfSteps({ of, low, high }: Steps): Float32Array {
  if (of instanceof Uint8Array) return Float32Array.from({ length: 256 }, (_, n) => low + (n * (high - low)) / 255);
  const values = new Float32Array(65536);
  for (let n = 0; n < values.length; n++) values[n] = n === 0 ? NaN : low + ((n - 1) * (high - low)) / 65534;
  return values;
}

function inSteps(width: number, height: number, factor: number, steps: Steps): Picture {
  let values: Float32Array | null = null;
  return {
    width, height, factor, steps,
    get pixels() {
      if (values) return values;
      const meaning = valuesOfSteps(steps);
      values = new Float32Array(steps.of.length);
      for (let i = 0; i < values.length; i++) values[i] = meaning[steps.of[i]];
      return values;
    },
  };
}

async function picture(response: Response, format: string): Promise<Picture> {
  const [width, height] = numbers(response, 'X-Lepus-Size');
  const factor = Number(response.headers.get('X-Lepus-Factor') ?? 1);
  const bytes = await response.arrayBuffer();
  const pixels = response.headers.get('X-Lepus-Format') === 'u16' ? new Uint16Array(bytes) : format === 'u8' ? new Uint8Array(bytes) : format === 'u32' ? new Uint32Array(bytes) : new Float32Array(bytes);
  if (pixels.length !== width * height)
    throw new ApiError(0, 'A picture arrived cut off', `${pixels.length} of ${width * height} pixels`, 'reload this page');
  if (!(pixels instanceof Uint16Array || pixels instanceof Uint8Array)) return { width, height, factor, pixels };
  const [low, high] = numbers(response, 'X-Lepus-Window');
  return inSteps(width, height, factor, { of: pixels, low, high });
}

export const api = {
  session: () => json<Session>('session'),

  async slice(volume: number | 'difference', query: Query, signal?: AbortSignal): Promise<Picture> {
    const path = volume === 'difference' ? 'difference' : `volumes/${volume}/slice`;
    return picture(await ask(address(path, { level: 'auto', step: 'auto', format: 'f32', ...query }), { signal }), String(query.format ?? 'f32'));
  },

  async oblique(volume: number, query: Query, signal?: AbortSignal): Promise<Picture> {
    return picture(await ask(address(`volumes/${volume}/oblique`, { format: 'f32', ...query }), { signal }), 'f32');
  },

  async texels(volume: number, box: Box, max: number, window: [number, number], signal?: AbortSignal): Promise<{ size: Triple; factor: number; texels: Uint8Array }> {
    const response = await ask(address(`volumes/${volume}/box`, { box, max, window, format: 'u8' }), { signal });
    return {
      size: numbers(response, 'X-Lepus-Size') as Triple,
      factor: Number(response.headers.get('X-Lepus-Factor') ?? 1),
      texels: new Uint8Array(await response.arrayBuffer()),
    };
  },

  value: (volume: number, at: Triple) => json<{ value: number | null; hu: number | null; mm: Triple }>(`volumes/${volume}/value`, { at }),
  profile: (volume: number, from: Triple, to: Triple, samples: number) =>
    json<{ mm: number[]; values: (number | null)[] }>(`volumes/${volume}/profile`, { from, to, samples }),
  histogram: (volume: number, bins: number, query: Query = {}) => json<Histogram>(`volumes/${volume}/histogram`, { bins, ...query }),
  statistics: (volume: number, shape: string, box: Box) => json<Statistics>(`volumes/${volume}/statistics`, { shape, box }),
  blobs: (volume: number) => json<BlobTable>(`volumes/${volume}/blobs`),
  exportAddress: (volume: number, box: Box, format: string) => address(`volumes/${volume}/export`, { box, format }),
  surfaceAddress: (volume: number, value: number, box: Box | null, format: string) => address(`volumes/${volume}/surface`, { value, box, format }),

  /** A frame or a sinogram as the text `toml` would have it. */
  async scanPicture(kind: 'frame' | 'sinogram', place: number, stage: string, toml: string, signal?: AbortSignal): Promise<Picture> {
    const body = { toml, [kind === 'frame' ? 'index' : 'row']: place, stage, window: null, format: 'f32' };
    return picture(await ask(address(`scan/${kind}`), send(body, signal)), 'f32');
  },

  async scanSlice(toml: string, z: number | null, signal?: AbortSignal): Promise<{ picture: Picture; seconds: number; step_mm: number[] }> {
    const response = await ask(address('scan/slice'), send({ toml, z }, signal));
    return {
      seconds: Number(response.headers.get('X-Lepus-Seconds')),
      step_mm: numbers(response, 'X-Lepus-Step-Mm'),
      picture: await picture(response, 'f32'),
    };
  },

  scanAxis: async (toml: string): Promise<{ column: number; doubt: string }> => (await ask(address('scan/axis'), send({ toml }))).json(),
  scanSave: async (toml: string, read: string): Promise<{ backup: string }> => (await ask(address('scan/save'), send({ toml, read }))).json(),
};

/** Listens to what changes; returns what ends it. */
export function listen(on: (kind: string, data: any) => void): () => void {
  const source = new EventSource('/api/events');
  for (const kind of ['session', 'pyramid', 'run', 'gone', 'closing'])
    source.addEventListener(kind, (event) => on(kind, JSON.parse((event as MessageEvent).data || '{}')));
  source.onerror = () => on('lost', {});
  source.onopen = () => on('open', {});
  return () => source.close();
}
