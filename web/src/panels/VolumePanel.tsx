// SPDX-License-Identifier: Apache-2.0
// How the volume looks in 3-D, what of it is cut away, and what can be saved.
import { useState } from 'preact/hooks';
import { api } from '../core/api';
import { clampTo, wholeBox } from '../core/axes';
import { histograms, windowFor } from '../core/histogram';
import { initial, state, useView } from '../core/state';
import { report } from '../core/session';
import { useStore } from '../core/store';
import { savePicture, saveTurntable } from '../volume/pictures';
import { download, NumberField, Section, Segments, Slider, Toggle } from '../ui/Fields';
import { HistogramPlot } from './HistogramPlot';
import { MapChoice } from './DisplayPanel';
import type { Box, Volume } from '../core/protocol';

function ClipBox({ volume }: { volume: Volume }) {
  const clip = useView((view) => view.clip) ?? wholeBox(volume);
  const side = (place: number, value: number) => {
    const box = [...clip] as Box;
    box[place] = place & 1 ? clampTo(value, box[place - 1] + 1, volume.size[place >> 1]) : clampTo(value, 0, box[place + 1] - 1);
    state.set({ clip: JSON.stringify(box) === JSON.stringify(wholeBox(volume)) ? null : box });
  };
  return (
    <fieldset class="clip">
      <legend>Clipping box</legend>
      {(['x', 'y', 'z'] as const).map((axis, i) => (
        <div key={axis} class="clip-axis">
          <span>{axis}</span>
          <input type="range" aria-label={`Clip ${axis} from`} min={0} max={volume.size[i]} step={1} value={clip[2 * i]} onInput={(event) => side(2 * i, Number(event.currentTarget.value))} />
          <input type="range" aria-label={`Clip ${axis} to`} min={0} max={volume.size[i]} step={1} value={clip[2 * i + 1]} onInput={(event) => side(2 * i + 1, Number(event.currentTarget.value))} />
        </div>
      ))}
    </fieldset>
  );
}

function Saving({ volume, iso }: { volume: Volume; iso: number }) {
  const [pictures, setPictures] = useState(36);
  const [done, setDone] = useState<number | null>(null);
  const clip = useView((view) => view.clip);
  const turntable = async () => {
    try {
      await saveTurntable(pictures, setDone);
    } catch (error) {
      report(error, 'The turntable cannot be saved');
    }
    setDone(null);
  };
  return (
    <>
      <div class="actions">
        <button onClick={() => savePicture().catch((error) => report(error, 'The picture cannot be saved'))}>Save picture</button>
        <button disabled={done !== null} onClick={turntable}>{done === null ? 'Save turntable' : `${done} of ${pictures}`}</button>
        <NumberField quiet label="pictures" value={pictures} step={1} set={(value) => setPictures(clampTo(Math.round(value), 2, 720))} />
      </div>
      <div class="actions" role="group" aria-label="Surface as a file">
        <span class="quiet">Surface</span>
        {['stl', 'ply'].map((format) => <button key={format} onClick={() => download(`surface.${format}`, api.surfaceAddress(volume.id, iso, clip, format))}>.{format}</button>)}
      </div>
    </>
  );
}

export function VolumePanel({ volume }: { volume: Volume }) {
  const view = useView((now) => now);
  useStore(histograms, (all) => all);
  const window = windowFor(view, volume, null);
  const iso = view.iso ?? (window[0] + window[1]) / 2;
  return (
    <Section name="volume" title="3-D">
      <Segments label="Draw" value={view.render} options={[['volume', 'volume'], ['mip', 'maximum'], ['surface', 'surface']]} set={(render) => state.set({ render })} />
      {view.render === 'volume' && (
        <>
          <HistogramPlot volume={volume} window={window} map={view.volumeMap} transfer={view.transfer} setTransfer={(transfer) => state.set({ transfer })} />
          <p class="quiet">Opacity over the window of the grey levels. Drag points; press beside the curve to add one, Alt removes it.</p>
          <Slider label="Opacity" value={view.density} min={0.1} max={5} step={0.1} set={(density) => state.set({ density })} />
          <button class="link" onClick={() => state.set({ transfer: initial.transfer, density: 1 })}>Back to the first curve</button>
        </>
      )}
      {view.render === 'surface' && (
        <>
          <HistogramPlot volume={volume} window={window} map={view.volumeMap} marker={iso} />
          <Slider label="Value" value={iso} min={window[0]} max={window[1]} set={(value) => state.set({ iso: value })} />
        </>
      )}
      <MapChoice label="Colours" value={view.volumeMap} set={(volumeMap) => state.set({ volumeMap })} />
      <div class="toggles"><Toggle label="Lighting" value={view.lit} set={(lit) => state.set({ lit })} /><Toggle label="Sharp at rest" title="Every pixel, however long it takes" value={view.sharp} set={(sharp) => state.set({ sharp })} /></div>
      {view.lit && <Slider label="Ambient" value={view.ambient} min={0} max={1} step={0.05} set={(ambient) => state.set({ ambient })} />}
      <Segments label="Cut at" value={view.cut} options={[['none', 'nothing'], ['x', 'x'], ['y', 'y'], ['z', 'z'], ['oblique', 'oblique']]} set={(cut) => state.set({ cut })} />
      <ClipBox volume={volume} />
      <Segments label="Texels" value={String(view.texels)} options={[['128', '128³'], ['256', '256³'], ['512', '512³']]} set={(texels) => state.set({ texels: Number(texels) })} />
      <div class="actions">
        <button onClick={() => state.set({ clip: null, cut: 'none' })}>Whole volume</button>
      </div>
      <Saving volume={volume} iso={iso} />
    </Section>
  );
}
