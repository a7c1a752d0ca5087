// SPDX-License-Identifier: Apache-2.0
// What was measured, and the profile along the last line drawn for one.
import { useEffect, useState } from 'preact/hooks';
import { api } from '../core/api';
import { measured, measureText } from '../core/measure';
import { report } from '../core/session';
import { state, useView, type Measure } from '../core/state';
import { goTo } from '../slices/tools';
import { download, Section } from '../ui/Fields';
import { Icon } from '../ui/Icon';
import { Plot } from './Plot';
import type { Triple, Volume } from '../core/protocol';

interface Curve {
  mm: number[];
  values: (number | null)[];
}

function useProfile(volume: Volume, line: Measure | undefined, other: number | null): { here: Curve | null; there: Curve | null } {
  const [curves, setCurves] = useState<{ here: Curve | null; there: Curve | null }>({ here: null, there: null });
  const key = line ? JSON.stringify(line.points) : '';
  useEffect(() => {
    if (!line) return setCurves({ here: null, there: null });
    const [from, to] = line.points as [Triple, Triple];
    const samples = Math.min(4096, Math.max(2, Math.ceil(2 * Math.hypot(...from.map((value, i) => value - to[i])))));
    let current = true;
    Promise.all([api.profile(volume.id, from, to, samples), other === null ? null : api.profile(other, from, to, samples)])
      .then(([here, there]) => current && setCurves({ here, there }), (error) => report(error, 'The profile cannot be read'));
    return () => void (current = false);
  }, [key, volume.id, volume.changed, other]);
  return curves;
}

function table(volume: Volume, measures: Measure[]): Blob {
  const lines = measures.map((one, i) => [i + 1, one.kind, measured(volume, one), one.kind === 'angle' ? 'degrees' : one.kind === 'area' ? 'mm2' : 'mm', one.points.map((point) => point.join(' ')).join('; ')].join(','));
  return new Blob([['number,kind,value,unit,points (voxels)', ...lines, ''].join('\n')], { type: 'text/csv' });
}

export function MeasurePanel({ volume }: { volume: Volume }) {
  const measures = useView((view) => view.measures);
  const other = useView((view) => (view.compare === 'off' ? null : view.other));
  const line = measures.filter(({ kind }) => kind === 'profile').at(-1);
  const { here, there } = useProfile(volume, line, other);
  const remove = (index: number) => state.set({ measures: measures.filter((_, i) => i !== index) });
  const save = () => here && download('profile.csv', new Blob([['mm,value', ...here.mm.map((mm, i) => `${mm},${here.values[i] ?? ''}`), ''].join('\n')], { type: 'text/csv' }));
  return (
    <Section name="measure" title="Measure" badge={measures.length || undefined}>
      {measures.length === 0 ? <p class="quiet">Choose distance (D), angle (A), area (G) or line profile (P) and draw in a slice; or move the crosshair and press Enter at each point. A double click closes an area.</p> : (
        <table class="measures">
          <thead><tr><th scope="col">What</th><th scope="col">Value</th><th scope="col"><span class="hidden">Remove</span></th></tr></thead>
          <tbody>
            {measures.map((one, i) => (
              <tr key={i}>
                <td><button class="link" onClick={() => goTo(one.points[0])}>{i + 1} {one.kind}</button></td>
                <td class="figure">{measureText(volume, one)}</td>
                <td><button class="icon small" aria-label={`Remove ${one.kind} ${i + 1}`} onClick={() => remove(i)}><Icon name="close" /></button></td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {here && <Plot x={here.mm} xName="mm" yName={volume.unit} label="Values along the line"
        curves={[{ name: volume.name, values: here.values, colour: '--accent' }, ...(there ? [{ name: 'other', values: there.values, colour: '--warm' }] : [])]} />}
      {measures.length > 0 && (
        <div class="actions">
          <button onClick={() => download('measures.csv', table(volume, measures))}>Save table</button>
          {here && <button onClick={save}>Save profile</button>}
          <button onClick={() => state.set({ measures: [] })}>Remove all</button>
        </div>
      )}
    </Section>
  );
}
