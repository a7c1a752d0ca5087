// SPDX-License-Identifier: Apache-2.0
// The pictures of one pane. While one scrolls they are quick: in 8 bits, and coarse where reading takes long; when the scrolling rests the fine
// one follows. What nobody waits for any more is given up; the next slices in the direction of scrolling are fetched before they are asked for.
import { api, type Query } from '../core/api';
import { cache } from './cache';
import { report } from '../core/session';
import { levelFor } from './placement';
import type { Axis, Level, Picture } from '../core/protocol';

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
  /** In place of `extra` while one scrolls: the same pixels in fewer bytes. */
  quick?: Query;
  /** Of the volume, where each slice is one voxel deep: those of a coarser level show several slices. */
  levels: Level[];
}

const SLOW_MS = 100; // two are in flight: 20 slices per second
const GIVE_UP_MS = 250;
const REST_MS = 120;
const PATIENCE_MS = 60;
const SCROLL_MS = 250; // so soon after the last slice the next one is scrolled to
const AHEAD = 3;
const PROBE_MS = 300;
const QUICK_ACROSS_X = 512; // pixels along a side: of plain files each is a read

interface Flight {
  key: string;
  control: AbortController;
  since: number;
}

const levelOf = ({ levels, axis, box, max }: Wanted): Level | undefined => levelFor(levels, axis, box, max);
/** The first slice that has the same picture. */
function firstOf(wanted: Wanted): number {
  const depth = levelOf(wanted)?.factor ?? 1;
  return wanted.index - (wanted.index % depth);
}
const keyOf = (wanted: Wanted): string => JSON.stringify([wanted.volume, wanted.changed, wanted.axis, firstOf(wanted), wanted.box, wanted.max, wanted.extra]);
const quickOf = (wanted: Wanted): Wanted => (wanted.quick ? { ...wanted, extra: wanted.quick } : wanted);
const coarseOf = (wanted: Wanted): Wanted => ({ ...quickOf(wanted), box: null, max: Math.max(64, Math.round(Math.min(wanted.max, 1024) / 4)) });

export class PictureSource {
  private wanted: Wanted | null = null;
  private shown: { picture: Picture; index: number; fine: boolean; since: number } | null = null;
  private flights = new Map<string, Flight>();
  private failed = new Set<string>();
  private fine_ms = 0;
  private direction = 0;
  private scrolling = false;
  private since = 0;
  private timer = 0;
  private probed = 0;

  /** `show` gets each picture with what it is of; `fine` says that nothing better will come. */
  constructor(private readonly show: (picture: Picture, wanted: Wanted, fine: boolean) => void) {}

  want(wanted: Wanted): void {
    const before = this.wanted;
    this.wanted = wanted;
    if (before?.index === wanted.index && keyOf(wanted) === keyOf(before)) return;
    const now = performance.now();
    const moved = before?.axis === wanted.axis && before.index !== wanted.index;
    if (moved) this.direction = Math.sign(wanted.index - before.index);
    this.failed.clear();
    this.scrolling = moved && now - this.since < SCROLL_MS;
    this.since = now;
    this.next();
  }

  /** No picture of the slice is there yet, not even a coarse one. */
  get waiting(): boolean {
    return this.wanted !== null && this.wanted.index !== this.shown?.index;
  }

  /** Forgets what was wanted, so that the same is fetched again. */
  stop(): void {
    for (const flight of this.flights.values()) flight.control.abort();
    this.flights.clear();
    this.failed.clear();
    clearTimeout(this.timer);
    this.wanted = this.shown = null;
  }

  private next(): void {
    const wanted = this.wanted;
    if (!wanted) return;
    const waited = performance.now() - this.since;
    const rested = this.rested();
    const scrolling = this.scrolling && rested < REST_MS;
    const [quick, coarse] = [quickOf(wanted), coarseOf(wanted)];
    const reads_voxels = wanted.axis === 'x' && wanted.max > QUICK_ACROSS_X && levelOf(wanted)?.plain;
    const slow = coarse.max < wanted.max && (reads_voxels || this.fine_ms > SLOW_MS);
    const now = !scrolling ? wanted : slow ? coarse : quick; // what is fetched at this pace
    const there = [wanted, quick, coarse].find((form) => cache.has(keyOf(form)));
    if (there) this.present(cache.get(keyOf(there))!, there, there === wanted);
    if (there === wanted || (there && scrolling)) this.ahead(slow ? coarse : now);
    if (scrolling && slow && !reads_voxels) this.probe(quick);
    clearTimeout(this.timer);
    if (there === wanted) return;
    this.giveUp();
    const later = Math.min(...[PATIENCE_MS - waited, REST_MS - this.rested()].filter((ms) => ms > 0));
    if (later < Infinity) this.timer = window.setTimeout(() => this.next(), later + 1);
    const opening = this.fine_ms === 0;
    if (!there && coarse.max < wanted.max && (opening || slow || waited >= PATIENCE_MS)) this.fetch(coarse);
    if (now === coarse || (there && scrolling)) return;
    if (slow ? rested >= REST_MS : opening || this.flights.size < 2) this.fetch(now);
  }

  /** Tries whether full pictures still take long, with one that comes too late to be shown. */
  private probe(quick: Wanted): void {
    if (performance.now() - this.probed < PROBE_MS) return;
    this.probed = performance.now();
    void this.fetch(quick);
  }

  private present(picture: Picture, wanted: Wanted, fine: boolean): void {
    if (this.shown?.picture === picture && this.shown.index === wanted.index && this.shown.fine === fine) return;
    const { since } = this.shown?.index === wanted.index ? this.shown : { since: performance.now() };
    this.shown = { picture, index: wanted.index, fine, since };
    this.show(picture, wanted, fine);
  }

  /** For how long the slice has been looked at: on a slow machine, too, whoever scrolls on at the first picture does not rest. */
  private rested(): number {
    if (this.waiting && !this.failed.size) return 0;
    return performance.now() - Math.max(this.since, this.waiting ? 0 : this.shown!.since);
  }

  private giveUp(): void {
    const keys = this.wanted ? [this.wanted, quickOf(this.wanted), coarseOf(this.wanted)].map(keyOf) : [];
    for (const flight of this.flights.values())
      if (!keys.includes(flight.key) && (performance.now() - flight.since > GIVE_UP_MS || this.flights.size > 3)) flight.control.abort();
  }

  private ahead(form: Wanted): void {
    const depth = levelOf(form)?.factor ?? 1;
    for (let distance = 1; this.direction !== 0 && distance <= AHEAD && this.flights.size < 2; distance++) {
      const index = form.index + distance * depth * this.direction;
      if (index >= 0 && index < form.slices) this.fetch({ ...form, index });
    }
  }

  /** The first waits for what is opened. A single one that takes long says little: it may be the first of a block that is read for the next ones, too. */
  private learn(took: number): void {
    const share = took < this.fine_ms ? 0.5 : 0.2;
    this.fine_ms = this.fine_ms ? (1 - share) * this.fine_ms + share * Math.min(took, 2 * SLOW_MS) : Math.min(took, SLOW_MS);
  }

  private async fetch(form: Wanted): Promise<void> {
    const key = keyOf(form);
    if (this.flights.has(key) || this.failed.has(key) || cache.has(key)) return;
    const flight: Flight = { key, control: new AbortController(), since: performance.now() };
    this.flights.set(key, flight);
    try {
      const { volume, axis, index, box, max, extra } = form;
      const picture = await api.slice(volume, { axis, index, box, max, ...extra }, flight.control.signal);
      cache.put(key, picture);
      this.flights.delete(key);
      const { wanted } = this;
      const took = performance.now() - flight.since;
      if (max === wanted?.max) this.learn(took);
      // What arrives while one scrolls on is shown: a slice behind is better than none.
      const near = wanted?.axis === axis && wanted.volume === volume && wanted.changed === form.changed;
      if (near && this.waiting && (index - wanted.index) * this.direction < 0) this.present(picture, form, false);
    } catch (error) {
      this.flights.delete(key);
      if ((error as Error).name !== 'AbortError') {
        this.failed.add(key);
        if (this.wanted && key === keyOf(this.wanted)) report(error, 'A slice cannot be shown');
      }
    }
    this.next();
  }
}
