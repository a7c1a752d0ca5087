// SPDX-License-Identifier: Apache-2.0
// The value under the pointer, or at the crosshair, in every unit that is known, and where that is.
import { useEffect, useState } from 'preact/hooks';
import { api } from '../core/api';
import { digits, inUnits, toMm } from '../core/axes';
import { pointer } from '../slices/pointer';
import { useStore } from '../core/store';
import { useVolume } from '../core/session';
import { useView } from '../core/state';
import type { Triple, Volume } from '../core/protocol';

/** Asked once the crosshair rests. */
function useCrosshairValue(volume: Volume | null, at: Triple): number | null {
  const [value, setValue] = useState<number | null>(null);
  const id = volume?.id;
  useEffect(() => {
    if (id === undefined) return undefined;
    const timer = window.setTimeout(() => api.value(id, at).then((answer) => setValue(answer.value), () => setValue(null)), 150);
    return () => window.clearTimeout(timer);
  }, [id, volume?.changed, at.join()]);
  return value;
}

export function StatusBar() {
  const volume = useVolume();
  const { at, value, other } = useStore(pointer, (now) => now);
  const cross = useView((view) => view.at);
  const resting = useCrosshairValue(volume, cross);
  if (!volume) return null;
  const where = at ?? cross;
  const shown = at ? value : resting;
  const { perMm, hu, raw } = inUnits(volume, shown ?? NaN);
  const mm = toMm(volume, where);
  const number = (one: number | null) => (shown === null || one === null ? '–' : digits(one));
  return (
    <footer class="status" aria-label="Value and position" tabIndex={0}>
      <span class="status-what">{at ? 'pointer' : 'crosshair'}</span>
      <output class="reading" data-unit="per-mm"><b>{number(perMm)}</b> 1/mm</output>
      <output class="reading" data-unit="hu"><b>{number(hu)}</b> HU</output>
      <output class="reading" data-unit="raw"><b>{number(raw)}</b> raw</output>
      {other !== null && <output class="reading" data-unit="other"><b>{digits(other)}</b> other</output>}
      <span class="reading" data-unit="voxel">voxel <b>{where.map((v) => Math.round(v)).join(', ')}</b></span>
      <span class="reading" data-unit="mm">mm <b>{mm.map((v) => digits(v)).join(', ')}</b></span>
      <span class="spacer" />
      <span class="reading quiet">{volume.size.join(' × ')} {volume.type} · {volume.step_mm.map((v) => digits(v)).join(' × ')} mm</span>
      {volume.pyramid.state === 'writing' && <span class="reading quiet">pyramid {Math.round(100 * volume.pyramid.done)} %</span>}
    </footer>
  );
}
