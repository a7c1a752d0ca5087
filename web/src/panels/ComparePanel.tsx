// SPDX-License-Identifier: Apache-2.0
import { useOpened } from '../core/session';
import { state, useView } from '../core/state';
import { Choice, Section, Segments, Slider } from '../ui/Fields';
import type { Volume } from '../core/protocol';

export function ComparePanel({ volume }: { volume: Volume }) {
  const others = useOpened((now) => now.session?.volumes ?? []).filter(({ id }) => id !== volume.id && id !== volume.labels?.volume);
  const { compare, other, swipe } = useView((view) => view);
  if (!others.length)
    return <Section name="compare" title="Compare"><p class="quiet">Open a second volume to compare: lepus view a.mha b.mha</p></Section>;
  const chosen = others.find(({ id }) => id === other) ?? others[0];
  const same = chosen.size.every((n, i) => n === volume.size[i]);
  return (
    <Section name="compare" title="Compare" badge={compare === 'off' ? undefined : compare}>
      <Choice label="With" value={String(chosen.id)} options={others.map(({ id, name }) => [String(id), name])} set={(id) => state.set({ other: Number(id) })} />
      <Segments label="How" value={compare} options={[['off', 'off'], ['side', 'side'], ['swipe', 'swipe'], ['difference', 'difference']]} set={(mode) => state.set({ compare: mode, other: chosen.id })} />
      {compare === 'swipe' && <Slider label="Border" value={swipe} min={0.02} max={0.98} step={0.01} set={(value) => state.set({ swipe: value })} />}
      {compare === 'difference' && <p class="quiet">{same ? `${volume.name} − ${chosen.name}: red is more, blue is less, over half the window.` : 'A difference needs two volumes of the same size.'}</p>}
    </Section>
  );
}
