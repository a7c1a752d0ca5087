// SPDX-License-Identifier: Apache-2.0
// Grey levels: the window over the histogram, presets, percentiles, colour map, gamma.
import { gradient, MAPS } from '../core/colour';
import { histograms, windowFor } from '../core/histogram';
import { useStore } from '../core/store';
import { state, useView } from '../core/state';
import { PRESETS, setWindow } from '../slices/tools';
import { NumberField, Section, Segments, Slider, Toggle } from '../ui/Fields';
import { HistogramPlot } from './HistogramPlot';
import type { Volume } from '../core/protocol';

export function MapChoice({ label, value, set }: { label: string; value: string; set: (map: string) => void }) {
  return (
    <div class="field">
      <span>{label}</span>
      <div class="maps" role="group" aria-label={label}>
        {MAPS.map((map) => (
          <button key={map} class="map" aria-pressed={value === map} aria-label={map} title={map} style={{ backgroundImage: gradient(map) }} onClick={() => set(map)} />
        ))}
      </div>
    </div>
  );
}

export function DisplayPanel({ volume }: { volume: Volume }) {
  const view = useView((now) => now);
  useStore(histograms, (all) => all);
  const window = windowFor(view, volume, null);
  return (
    <Section name="display" title="Grey levels">
      <HistogramPlot volume={volume} window={window} map={view.map} invert={view.invert} setWindow={setWindow} />
      <div class="pair">
        <NumberField label="from" value={window[0]} step={(window[1] - window[0]) / 50} set={(low) => setWindow([Math.min(low, window[1] - 1e-9), window[1]])} />
        <NumberField label="to" value={window[1]} step={(window[1] - window[0]) / 50} set={(high) => setWindow([window[0], Math.max(high, window[0] + 1e-9)])} />
      </div>
      <div class="chips" role="group" aria-label="Presets">
        {PRESETS.flatMap(({ name, window: of }) => {
          const preset = of(volume);
          return preset ? [<button key={name} onClick={() => setWindow(preset)}>{name}</button>] : [];
        })}
      </div>
      <Segments label="Normalise" value={view.normalise} options={[['window', 'by hand'], ['global', 'volume'], ['slice', 'each slice']]} set={(normalise) => state.set({ normalise })} />
      {view.normalise !== 'window' && (
        <div class="pair">
          <NumberField label="percentile" value={view.percentiles[0]} step={0.1} set={(low) => state.set({ percentiles: [Math.max(0, Math.min(low, view.percentiles[1] - 0.1)), view.percentiles[1]] })} />
          <NumberField label="to" value={view.percentiles[1]} step={0.1} set={(high) => state.set({ percentiles: [view.percentiles[0], Math.min(100, Math.max(high, view.percentiles[0] + 0.1))] })} />
        </div>
      )}
      <MapChoice label="Colours" value={view.map} set={(map) => state.set({ map })} />
      <Slider label="Gamma" value={view.gamma} min={0.2} max={3} step={0.05} set={(gamma) => state.set({ gamma })} />
      <div class="toggles">
        <Toggle label="Inverted" value={view.invert} set={(invert) => state.set({ invert })} />
        <Toggle label="Smooth" value={view.smooth} set={(smooth) => state.set({ smooth })} />
        <Toggle label="Crosshair" value={view.crosshair} set={(crosshair) => state.set({ crosshair })} />
      </div>
      {!!volume.not_finite && <p class="caution">{(100 * volume.not_finite).toPrecision(2)} % of the voxels are not finite; they are drawn as the lowest value.</p>}
    </Section>
  );
}
