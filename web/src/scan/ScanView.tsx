// SPDX-License-Identifier: Apache-2.0
// The scan before it is reconstructed: a frame, the sinogram of one of its rows and the slice that comes of them, with
// corrections and axis changed and the slice following; the text of the scan file is what is changed, and what is saved.
import { useEffect, useRef, useState } from 'preact/hooks';
import { api, ApiError } from '../core/api';
import { clampTo, digits } from '../core/axes';
import { report, say } from '../core/session';
import { state, useView } from '../core/state';
import { NumberField, Segments, Slider } from '../ui/Fields';
import { Corrections } from './Corrections';
import { ScanPicture } from './ScanPicture';
import { changeCorrections, getSectionKey, setSectionKey } from './toml';
import type { Picture, Scan } from '../core/protocol';

const PAUSE_MS = 250;
const AXIS = '#ffd166';
const ROW = '#5aa9ff';

/** Fetches again when one of `on` changes, after a short pause; an older answer never replaces a newer one. */
function useFetched<T>(fetch: (signal: AbortSignal) => Promise<T>, on: unknown[], failed: (error: unknown) => void): { value: T | null; busy: boolean } {
  const [value, setValue] = useState<T | null>(null);
  const [busy, setBusy] = useState(true);
  useEffect(() => {
    const control = new AbortController();
    setBusy(true);
    const timer = window.setTimeout(() => fetch(control.signal).then((answer) => {
      setValue(answer);
      setBusy(false);
    }, (error) => {
      if (error.name === 'AbortError') return;
      setBusy(false);
      failed(error);
    }), PAUSE_MS);
    return () => {
      window.clearTimeout(timer);
      control.abort();
    };
  }, on);
  return { value, busy };
}

/** The chain cut off after its first `count` corrections. */
const shortened = (text: string, count: number): string => changeCorrections(text, (all) => all.map((part, i) => (i < count ? part : { ...part, on: false })));

async function scanPicture(kind: 'frame' | 'sinogram', place: number, stage: string, text: string, looked: number | null, signal: AbortSignal): Promise<Picture> {
  if (looked === null) return api.scanPicture(kind, place, stage, text, signal);
  const after = await api.scanPicture(kind, place, 'corrected', shortened(text, looked + 1), signal);
  const before = await api.scanPicture(kind, place, 'corrected', shortened(text, looked), signal);
  return { ...after, pixels: Float32Array.from(after.pixels, (value, i) => value - before.pixels[i]) };
}

export function ScanView({ scan }: { scan: Scan }) {
  const read = useRef(scan.toml);
  const { toml, scanView, scanRow, scanZ, stage } = useView((view) => view);
  const text = toml ?? scan.toml;
  const [looked, look] = useState<number | null>(null);
  const [problem, setProblem] = useState<ApiError | null>(null);
  const [finding, setFinding] = useState(false);
  const [doubt, setDoubt] = useState('');
  const row = clampTo(scanRow ?? Math.floor(scan.rows / 2), 0, scan.rows - 1);
  const view = clampTo(scanView, 0, scan.views - 1);
  const slices = scan.grid?.size[2] ?? 0;
  const z = scanZ ?? Math.floor(slices / 2);
  const change = (next: string) => state.set({ toml: next });
  const failed = (error: unknown) => (error instanceof ApiError && error.status >= 400 && error.status < 500 ? setProblem(error) : report(error));

  // The axis moves by shifting the detector, as `lepus center --write` does.
  const pixel = Number(getSectionKey(text, 'geometry', 'pixel_width_mm') ?? NaN);
  const shift = Number(getSectionKey(text, 'geometry', 'detector_shift_u_mm') ?? 0);
  const first = Number(getSectionKey(scan.toml, 'geometry', 'detector_shift_u_mm') ?? 0);
  const column = Number.isFinite(pixel) ? scan.axis_column - (shift - first) / pixel : scan.axis_column;
  const moveAxis = (to: number) => Number.isFinite(pixel) && change(setSectionKey(text, 'geometry', 'detector_shift_u_mm', String(Number((first - (to - scan.axis_column) * pixel).toPrecision(7)))));

  const frame = useFetched((signal) => scanPicture('frame', view, stage, text, looked, signal), [view, stage, stage === 'corrected' || looked !== null ? text : '', looked], failed);
  const sinogram = useFetched((signal) => scanPicture('sinogram', row, stage === 'flat' || stage === 'dark' ? 'raw' : stage, text, looked, signal), [row, stage, stage === 'corrected' || looked !== null ? text : '', looked], failed);
  const slice = useFetched(async (signal) => {
    const answer = await api.scanSlice(text, slices ? z : null, signal);
    setProblem(null);
    return answer;
  }, [text, z], failed);

  const find = async () => {
    setFinding(true);
    try {
      const found = await api.scanAxis(text);
      setDoubt(found.doubt);
      moveAxis(found.column);
    } catch (error) {
      report(error, 'The axis cannot be found');
    }
    setFinding(false);
  };
  const save = async () => {
    try {
      const { backup } = await api.scanSave(text, read.current);
      read.current = text;
      say('done', `${scan.file} is saved`, backup && `the one before is ${backup}`);
    } catch (error) {
      report(error, `${scan.file} is not saved`);
    }
  };
  const stages = scan.stages ?? ['raw', 'line', 'corrected'];
  const axisLine = { at: column, upright: true, colour: AXIS, name: `axis ${digits(column)}`, move: moveAxis };
  const rowLine = { at: row, upright: false, colour: ROW, name: `row ${row}`, move: (to: number) => state.set({ scanRow: clampTo(Math.round(to), 0, scan.rows - 1) }) };
  return (
    <>
      <main class="scan panes">
        <ScanPicture title="Frame" detail={`view ${view} of ${scan.views - 1} · ${(scan.angles[view] ?? NaN).toFixed(2).replace(/\.?0+$/, '')}°`} picture={frame.value} busy={frame.busy} change={looked !== null} lines={[rowLine, axisLine]}
          wheel={(by) => state.set({ scanView: clampTo(view + by, 0, scan.views - 1) })} />
        <ScanPicture title="Slice" detail={slice.busy ? 'reconstructing…' : slice.value ? `z ${z} · ${digits(slice.value.seconds)} s` : ''} picture={slice.value?.picture ?? null} busy={slice.busy}
          wheel={(by) => slices && state.set({ scanZ: clampTo(z + by, 0, slices - 1) })} />
        <ScanPicture title="Sinogram" detail={`row ${row} of ${scan.rows - 1}`} picture={sinogram.value} busy={sinogram.busy} change={looked !== null} fill lines={[axisLine]}
          wheel={(by) => state.set({ scanRow: clampTo(row + by, 0, scan.rows - 1) })} />
      </main>
      <aside class="sidebar" aria-label="The scan" tabIndex={0}>
        <section class="section">
          <h2 class="section-title">Looking at</h2>
          <div class="section-body">
            <Segments label="Stage" value={stage} options={stages.map((one) => [one, one])} set={(next) => { look(null); state.set({ stage: next }); }} />
            <Slider label="View" value={view} min={0} max={scan.views - 1} step={1} set={(value) => state.set({ scanView: value })} />
            <Slider label="Row" value={row} min={0} max={scan.rows - 1} step={1} set={(value) => state.set({ scanRow: value })} />
            {slices > 1 && <Slider label="Slice z" value={z} min={0} max={slices - 1} step={1} set={(value) => state.set({ scanZ: value })} />}
          </div>
        </section>
        <section class="section">
          <h2 class="section-title">Axis</h2>
          <div class="section-body">
            {Number.isFinite(pixel) ? (
              <>
                <Slider label="Column" value={column} min={scan.axis_column - 20} max={scan.axis_column + 20} step={0.05} set={moveAxis} />
                <div class="actions">
                  <NumberField quiet label="column" value={column} step={0.1} set={moveAxis} />
                  <button disabled={finding} onClick={find}>{finding ? 'Looking…' : 'Find it'}</button>
                </div>
                {doubt && <p class="caution">{doubt}</p>}
              </>
            ) : <p class="quiet">The axis cannot be moved here: the text gives no pixel_width_mm.</p>}
          </div>
        </section>
        <section class="section">
          <h2 class="section-title">Corrections</h2>
          <div class="section-body"><Corrections text={text} change={change} looked={looked} look={look} /></div>
        </section>
        <section class="section">
          <h2 class="section-title">Scan file</h2>
          <div class="section-body">
            {problem && <div class="problem" role="alert"><strong>{problem.what}</strong>{problem.why && <p>{problem.why}</p>}{problem.hint && <p class="hint">{problem.hint}</p>}</div>}
            <textarea class="toml" aria-label="Text of the scan file" spellcheck={false} rows={14} value={text} onInput={(event) => change(event.currentTarget.value)} />
            <div class="actions">
              <button class="primary" disabled={text === read.current} onClick={save}>Save {scan.file.split('/').pop()}</button>
              <button disabled={text === read.current} onClick={() => change(read.current)}>Back to the file</button>
            </div>
          </div>
        </section>
      </aside>
    </>
  );
}
