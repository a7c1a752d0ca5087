// SPDX-License-Identifier: Apache-2.0
// The pictures of one pane: coarse first where fine ones take long, then fine, when the scrolling rests; what nobody waits for any more
// is given up; the next slices in the direction of scrolling are fetched before they are asked for.
import { api, type Query } from '../core/api';
import { cache } from './cache';
import { report } from '../core/session';
import type { Axis, Picture } from '../core/protocol';

export interface Wanted {
  volume: number | 'difference';
  /** Counts how often the volume changed: old pictures are not shown for new ones. */
  changed: number;
  axis: Axis;
  index: number;
  slices: number;
  /** Left, right, top, bottom in voxels; null: the whole slice. */
  box: [number, number, number, number] | null;
  /** Pixels that the longer side may have. */
  max: number;
  extra: Query;
}

const SLOW_MS = 120;
const GIVE_UP_MS = 250;
const REST_MS = 120;
const PATIENCE_MS = 60;
const AHEAD = 3;

interface Flight {
  key: string;
  index: number;
  control: AbortController;
  since: number;
}

const keyOf = (wanted: Wanted): string => JSON.stringify([wanted.volume, wanted.changed, wanted.axis, wanted.index, wanted.box, wanted.max, wanted.extra]);
const coarse = (wanted: Wanted): Wanted => ({ ...wanted, box: null, max: Math.max(64, Math.round(Math.min(wanted.max, 1024) / 4)) });

export class PictureSource {
  private wanted: Wanted | null = null;
  private flights = new Map<string, Flight>();
  private fine_ms = 0;
  private direction = 0;
  private since = 0;
  private timer = 0;

  /** `show` gets each picture with what it is of; `fine` says that nothing better will come. */
  constructor(private readonly show: (picture: Picture, wanted: Wanted, fine: boolean) => void) {}

  want(wanted: Wanted): void {
    if (this.wanted && keyOf(wanted) === keyOf(this.wanted)) return;
    if (this.wanted?.axis === wanted.axis && this.wanted.index !== wanted.index) this.direction = Math.sign(wanted.index - this.wanted.index);
    this.wanted = wanted;
    this.since = performance.now();
    this.next();
  }

  /** Forgets what was wanted, so that the same is fetched again. */
  stop(): void {
    for (const flight of this.flights.values()) flight.control.abort();
    this.flights.clear();
    clearTimeout(this.timer);
    this.wanted = null;
  }

  private next(): void {
    const wanted = this.wanted;
    if (!wanted) return;
    const picture = cache.get(keyOf(wanted));
    if (picture) {
      this.show(picture, wanted, true);
      this.ahead(wanted);
      return;
    }
    const rough = coarse(wanted);
    const waited = performance.now() - this.since;
    const slow = this.fine_ms > SLOW_MS && rough.max < wanted.max;
    const opening = this.fine_ms === 0;
    const have_rough = cache.get(keyOf(rough));
    if (have_rough) this.show(have_rough, rough, false);
    this.giveUp();
    if ((opening || slow || waited >= PATIENCE_MS) && !have_rough && rough.max < wanted.max) this.fetch(rough, false);
    clearTimeout(this.timer);
    if (waited < REST_MS) this.timer = window.setTimeout(() => this.next(), (waited < PATIENCE_MS ? PATIENCE_MS : REST_MS) - waited);
    if (slow ? waited >= REST_MS : opening || this.flights.size < 2) this.fetch(wanted, true);
  }

  private giveUp(): void {
    const keys = this.wanted ? [keyOf(this.wanted), keyOf(coarse(this.wanted))] : [];
    for (const flight of this.flights.values())
      if (!keys.includes(flight.key) && (performance.now() - flight.since > GIVE_UP_MS || this.flights.size > 3)) flight.control.abort();
  }

  private ahead(wanted: Wanted): void {
    for (let distance = 1; this.direction !== 0 && distance <= AHEAD && this.flights.size < 2; distance++) {
      const index = wanted.index + distance * this.direction;
      if (index >= 0 && index < wanted.slices) this.fetch({ ...wanted, index }, true);
    }
  }

  private async fetch(wanted: Wanted, fine: boolean): Promise<void> {
    const key = keyOf(wanted);
    if (this.flights.has(key) || cache.has(key)) return;
    const flight: Flight = { key, index: wanted.index, control: new AbortController(), since: performance.now() };
    this.flights.set(key, flight);
    try {
      const { volume, axis, index, box, max, extra } = wanted;
      const picture = await api.slice(volume, { axis, index, box, max, ...extra }, flight.control.signal);
      cache.put(key, picture);
      const took = performance.now() - flight.since;
      if (fine) this.fine_ms = this.fine_ms ? 0.7 * this.fine_ms + 0.3 * took : Math.min(took, SLOW_MS); // the first waits for what is opened
      this.flights.delete(key);
      // What arrives while one scrolls on is shown: a slice behind is better than none.
      const near = this.wanted && this.wanted.axis === axis && this.wanted.volume === volume && this.wanted.changed === wanted.changed;
      const current = this.wanted !== null && key === keyOf(this.wanted);
      if (near && (current || index !== this.wanted!.index || !cache.has(keyOf(this.wanted!))) && (index - this.wanted!.index) * this.direction <= 0)
        this.show(picture, wanted, fine);
    } catch (error) {
      this.flights.delete(key);
      if ((error as Error).name !== 'AbortError' && this.wanted && key === keyOf(this.wanted)) {
        report(error, 'A slice cannot be shown');
        return;
      }
    }
    this.next();
  }
}
