// SPDX-License-Identifier: Apache-2.0
// The three slices and, fourth, the volume in 3-D or an oblique slice; or one of them alone.
import { SliceView } from '../slices/SliceView';
import { ObliqueView } from '../slices/ObliqueView';
import { VolumeView } from '../volume/VolumeView';
import { useView, type Pane } from '../core/state';

export function Panes() {
  const layout = useView((view) => view.layout);
  const fourth = useView((view) => view.fourth);
  const panes: Pane[] = layout === 'grid' ? ['z', 'x', 'y', fourth] : layout === 'row' ? ['z', 'y', 'x'] : [layout];
  return (
    <main class={`panes panes-${panes.length}`}>
      {panes.map((pane) => (pane === 'volume' ? <VolumeView key={pane} /> : pane === 'oblique' ? <ObliqueView key={pane} /> : <SliceView key={pane} axis={pane} />))}
    </main>
  );
}
