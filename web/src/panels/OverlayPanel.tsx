// SPDX-License-Identifier: Apache-2.0
// What lies over the slices: labels, numbers and table of the blobs, another volume in colours (a porosity map), the field of view.
import { useEffect, useState } from 'preact/hooks';
import { blobStore, labelColumn, wantBlobs } from '../core/blobs';
import { digits } from '../core/axes';
import { goTo } from '../slices/tools';
import { useOpened } from '../core/session';
import { useStore } from '../core/store';
import { state, useView } from '../core/state';
import { Choice, Section, Slider, Toggle } from '../ui/Fields';
import { MapChoice } from './DisplayPanel';
import type { BlobTable as Table, Volume } from '../core/protocol';

const SHOWN = 200;

export function jumpTo(label: number): void {
  const mark = blobStore.get().marks.find((one) => one.label === label);
  state.set({ blob: label });
  if (mark) goTo(mark.centre);
}

function BlobTable({ table }: { table: Table }) {
  const [sort, setSort] = useState<{ column: number; down: boolean }>({ column: labelColumn(table), down: false });
  const [shown, setShown] = useState(SHOWN);
  const chosen = useView((view) => view.blob);
  const label = labelColumn(table);
  const wanted = ['voxels', 'volume_mm3', 'diameter_mm', 'sphericity', 'mean'].map((name) => table.columns.indexOf(name)).filter((i) => i >= 0 && i !== label);
  const columns = [label, ...(wanted.length ? wanted.slice(0, 3) : table.columns.map((_, i) => i).filter((i) => i !== label).slice(0, 3))];
  const rows = [...table.rows].sort((a, b) => {
    const [x, y] = [a[sort.column], b[sort.column]];
    return (sort.down ? -1 : 1) * (typeof x === 'number' && typeof y === 'number' ? x - y : String(x).localeCompare(String(y)));
  });
  const one = chosen === null ? null : table.rows.find((row) => row[label] === chosen);
  return (
    <>
      {one && (
        <dl class="statistics" data-blob={chosen}>
          {table.columns.map((name, i) => [name, one[i]] as const).filter(([name]) => /label|volume_mm3|voxels|diameter|surface|spheric|centroid|^[xyz](_mm)?$|mean|spread/.test(name))
            .map(([name, value]) => <div key={name}><dt>{name.replace(/_/g, ' ')}</dt><dd>{typeof value === 'number' ? digits(value) : value ?? '–'}</dd></div>)}
        </dl>
      )}
      <div class="table-scroll" tabIndex={0} role="region" aria-label="Blobs">
        <table class="blobs">
          <thead>
            <tr>
              {columns.map((i) => (
                <th key={i} scope="col" aria-sort={sort.column === i ? (sort.down ? 'descending' : 'ascending') : 'none'}>
                  <button class="link" onClick={() => setSort({ column: i, down: sort.column === i ? !sort.down : i !== label })}>{table.columns[i].replace(/_mm3/, ' mm³').replace(/_mm/, ' mm')}</button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, shown).map((row) => (
              <tr key={row[label]} class={row[label] === chosen ? 'chosen' : ''}>
                {columns.map((i) => <td key={i} class="figure">{i === label ? <button class="link" onClick={() => jumpTo(Number(row[label]))}>{row[i]}</button> : typeof row[i] === 'number' ? digits(row[i] as number) : row[i]}</td>)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > shown && <button class="link" onClick={() => setShown(shown + 1000)}>{rows.length - shown} more</button>}
    </>
  );
}

export function OverlayPanel({ volume }: { volume: Volume }) {
  const { labels, blobNumbers, opacity, overlay, overlayMap, fieldOfView } = useView((view) => view);
  const table = useStore(blobStore, (now) => now.table);
  const volumes = useOpened((now) => now.session?.volumes ?? []);
  const others = volumes.filter(({ id }) => id !== volume.id && id !== volume.labels?.volume);
  useEffect(() => void wantBlobs(volume), [volume.id, volume.changed, volume.labels?.volume]);
  return (
    <Section name="overlays" title="Overlays" badge={volume.labels ? `${volume.labels.blobs} blobs` : undefined}>
      <div class="toggles">
        <Toggle label="Labels" value={labels} disabled={!volume.labels} title={volume.labels ? '' : 'lepus view volume.mha --labels report/labels.mha'} set={(on) => state.set({ labels: on })} />
        <Toggle label="Numbers" value={blobNumbers} disabled={!volume.labels} set={(on) => state.set({ blobNumbers: on })} />
        <Toggle label="Field of view" value={fieldOfView} disabled={!volume.field_of_view} title={volume.field_of_view ? '' : 'The volume does not say which scan it is of'} set={(on) => state.set({ fieldOfView: on })} />
      </div>
      {others.length > 0 && (
        <Choice label="Map" value={overlay === null ? '' : String(overlay)} options={[['', 'none'], ...others.map(({ id, name }): [string, string] => [String(id), name])]} set={(id) => state.set({ overlay: id === '' ? null : Number(id) })} />
      )}
      {overlay !== null && <MapChoice label="Colours" value={overlayMap} set={(map) => state.set({ overlayMap: map })} />}
      {(labels || overlay !== null) && <Slider label="Opacity" value={opacity} min={0} max={1} step={0.05} set={(value) => state.set({ opacity: value })} />}
      {table && <BlobTable table={table} />}
      {!volume.labels && !others.length && <p class="quiet">Labels and maps of lepus analyze lie here when they are opened with the volume.</p>}
    </Section>
  );
}
