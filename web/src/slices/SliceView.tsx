// SPDX-License-Identifier: Apache-2.0
// An orthogonal slice with its title and a slider along its axis.
import { useEffect, useRef } from 'preact/hooks';
import { LETTER, NUMBER, PLANE, toMm, digits } from '../core/axes';
import { attach } from './gestures';
import { SlicePane } from './pane';
import { goTo } from './tools';
import { useVolume } from '../core/session';
import { state, useView } from '../core/state';
import { PaneFrame } from '../ui/PaneFrame';
import type { Axis, Triple } from '../core/protocol';

export function SliceView({ axis }: { axis: Axis }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const volume = useVolume();
  const n = NUMBER[axis];
  const index = useView((view) => view.at[n]);
  const slab = useView((view) => (view.slab > 1 ? `${view.slabMode} of ${view.slab}` : ''));

  useEffect(() => {
    const pane = new SlicePane(axis, canvas.current!);
    const detach = attach(pane);
    return () => {
      detach();
      pane.end();
    };
  }, [axis]);

  const plane = PLANE[axis].map((i) => LETTER[i]).join('');
  const mm = volume ? digits(toMm(volume, [index, index, index])[n]) : '';
  const move = (value: number) => {
    const at = [...state.get().at] as Triple;
    at[n] = value;
    goTo(at);
  };
  return (
    <PaneFrame pane={axis} title={plane} detail={volume ? `${axis} ${index} of ${volume.size[n] - 1} · ${mm} mm${slab && ` · ${slab}`}` : ''}>
      <canvas ref={canvas} class="slice" tabIndex={0} role="application" data-axis={axis}
        aria-label={`Slice ${plane} at ${axis} ${index}. Arrow keys move the crosshair, Page Up and Page Down change the slice.`} />
      {volume && volume.size[n] > 1 && (
        <input class="slice-slider" type="range" min={0} max={volume.size[n] - 1} value={index} aria-label={`Slice along ${axis}`}
          onInput={(event) => move(Number(event.currentTarget.value))} />
      )}
    </PaneFrame>
  );
}
