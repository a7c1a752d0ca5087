// SPDX-License-Identifier: Apache-2.0
import { DisplayPanel } from '../panels/DisplayPanel';
import { SlicesPanel } from '../panels/SlicesPanel';
import { MeasurePanel } from '../panels/MeasurePanel';
import { RegionPanel } from '../panels/RegionPanel';
import { VolumePanel } from '../panels/VolumePanel';
import { OverlayPanel } from '../panels/OverlayPanel';
import { ComparePanel } from '../panels/ComparePanel';
import { RunPanel } from '../panels/RunPanel';
import { useOpened, useVolume } from '../core/session';

export function Sidebar() {
  const volume = useVolume();
  const run = useOpened((now) => now.session?.run ?? null);
  return (
    <aside class="sidebar" aria-label="Controls" tabIndex={0}>
      {run && <RunPanel run={run} />}
      {volume && (
        <>
          <DisplayPanel volume={volume} />
          <SlicesPanel volume={volume} />
          <MeasurePanel volume={volume} />
          <RegionPanel volume={volume} />
          <VolumePanel volume={volume} />
          <OverlayPanel volume={volume} />
          <ComparePanel volume={volume} />
        </>
      )}
    </aside>
  );
}
