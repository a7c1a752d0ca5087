// SPDX-License-Identifier: Apache-2.0
// A box or an ellipsoid: its statistics, cropping to it, and the voxels in it as a file.
import { useEffect, useState } from 'preact/hooks';
import { api } from '../core/api';
import { clampTo, digits } from '../core/axes';
import { report } from '../core/session';
import { state, useView, type Region } from '../core/state';
import { download, NumberField, Section, Segments } from '../ui/Fields';
import type { Box, Statistics, Triple, Volume } from '../core/protocol';

function useStatistics(volume: Volume, region: Region | null): Statistics | null {
  const [statistics, set] = useState<Statistics | null>(null);
  useEffect(() => {
    if (!region) return set(null);
    let current = true;
    const timer = window.setTimeout(() => api.statistics(volume.id, region.shape, region.box).then((answer) => current && set(answer), (error) => report(error, 'The region cannot be measured')), 200);
    return () => {
      current = false;
      window.clearTimeout(timer);
    };
  }, [JSON.stringify(region), volume.id, volume.changed]);
  return statistics;
}

function middleBox(volume: Volume): Box {
  return [0, 1, 2].flatMap((i) => [Math.floor(volume.size[i] / 4), Math.max(Math.floor(volume.size[i] / 4) + 1, Math.ceil((3 * volume.size[i]) / 4))]) as Box;
}

export function RegionPanel({ volume }: { volume: Volume }) {
  const region = useView((view) => view.region);
  const clip = useView((view) => view.clip);
  const statistics = useStatistics(volume, region);
  const put = (change: Partial<Region>) => state.set({ region: { ...region!, ...change } });
  const side = (place: number, value: number) => {
    const box = [...region!.box] as Box;
    const [axis, high] = [place >> 1, place & 1];
    box[place] = high ? clampTo(Math.round(value), box[place - 1] + 1, volume.size[axis]) : clampTo(Math.round(value), 0, box[place + 1] - 1);
    put({ box });
  };
  if (!region)
    return (
      <Section name="region" title="Region">
        <p class="quiet">Draw a box (B) or an ellipsoid (E) in a slice, or begin with the middle.</p>
        <div class="actions">
          <button onClick={() => state.set({ region: { shape: 'box', box: middleBox(volume) } })}>Box</button>
          <button onClick={() => state.set({ region: { shape: 'ellipsoid', box: middleBox(volume) } })}>Ellipsoid</button>
        </div>
      </Section>
    );
  const { box, shape } = region;
  const centre = [0, 1, 2].map((i) => (box[2 * i] + box[2 * i + 1] - 1) / 2) as Triple;
  const zoom = 0.9 * Math.min(...[0, 1, 2].map((i) => volume.size[i] / (box[2 * i + 1] - box[2 * i])));
  const rows: [string, string][] = statistics ? [
    ['mean', digits(statistics.mean)], ['SD', digits(statistics.sd)], ['minimum', digits(statistics.min)], ['maximum', digits(statistics.max)],
    ['voxels', statistics.voxels.toLocaleString('en')], ['volume', `${digits(statistics.mm3)} mm³`],
  ] : [];
  return (
    <Section name="region" title="Region" badge={shape}>
      <Segments label="Shape" value={shape} options={[['box', 'box'], ['ellipsoid', 'ellipsoid']]} set={(next) => put({ shape: next })} />
      <div class="box-fields">
        {(['x', 'y', 'z'] as const).flatMap((axis, i) => [
          <NumberField key={`${axis}0`} label={`${axis} from`} value={box[2 * i]} step={1} set={(value) => side(2 * i, value)} />,
          <NumberField key={`${axis}1`} label="to" value={box[2 * i + 1]} step={1} set={(value) => side(2 * i + 1, value)} />,
        ])}
      </div>
      <dl class="statistics" aria-busy={!statistics} data-statistics>
        {rows.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}
      </dl>
      <div class="actions">
        <button aria-pressed={JSON.stringify(clip) === JSON.stringify(box)} onClick={() => state.set({ clip: JSON.stringify(clip) === JSON.stringify(box) ? null : box })}>Crop 3-D to it</button>
        <button onClick={() => state.set({ zoom: Math.max(1, zoom), centre, at: centre.map(Math.round) as Triple })}>Zoom to it</button>
        <button onClick={() => state.set({ region: null })}>Remove</button>
      </div>
      <div class="actions" role="group" aria-label="Export the region">
        <span class="quiet">Export</span>
        {['mha', 'npy', 'tif'].map((format) => <button key={format} onClick={() => download(`crop.${format}`, api.exportAddress(volume.id, box, format))}>.{format}</button>)}
      </div>
    </Section>
  );
}
