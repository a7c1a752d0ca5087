// SPDX-License-Identifier: Apache-2.0
// Where the crosshair is, slabs, and the oblique plane.
import { NUMBER } from '../core/axes';
import { goTo } from '../slices/tools';
import { state, useView } from '../core/state';
import { NumberField, Section, Segments, Slider, Toggle } from '../ui/Fields';
import type { Axis, Triple, Volume } from '../core/protocol';

export function SlicesPanel({ volume }: { volume: Volume }) {
  const { at, slab, slabMode, fourth, plane } = useView((view) => view);
  const set = (axis: Axis, value: number) => {
    const next = [...at] as Triple;
    next[NUMBER[axis]] = value;
    goTo(next);
  };
  return (
    <Section name="slices" title="Slices">
      <div class="pair">
        {(['x', 'y', 'z'] as Axis[]).map((axis) => <NumberField key={axis} label={axis} value={at[NUMBER[axis]]} step={1} set={(value) => set(axis, value)} />)}
      </div>
      <Slider label="Slab" value={slab} min={1} max={Math.min(255, Math.max(...volume.size))} step={2} set={(value) => state.set({ slab: value })} />
      <Segments label="Show" value={slabMode === 'one' ? 'max' : slabMode} options={[['max', 'maximum'], ['mean', 'mean'], ['min', 'minimum']]} set={(mode) => state.set({ slabMode: mode, slab: Math.max(slab, 3) })} />
      <Toggle label="Oblique slice instead of 3-D" value={fourth === 'oblique'} set={(on) => state.set({ fourth: on ? 'oblique' : 'volume' })} />
      {fourth === 'oblique' && (
        <>
          <Slider label="Turn" value={plane[0]} min={-180} max={180} step={1} unit="°" set={(turn) => state.set({ plane: [turn, plane[1]] })} />
          <Slider label="Tilt" value={plane[1]} min={-90} max={90} step={1} unit="°" set={(tilt) => state.set({ plane: [plane[0], tilt] })} />
        </>
      )}
    </Section>
  );
}
