// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from 'preact/hooks';
import { View3d, type Progress } from './view3d';
import { current } from './pictures';
import { AXIS_COLOUR } from '../slices/marks';
import { PaneFrame } from '../ui/PaneFrame';
import { useRestored } from '../core/restored';
import { report } from '../core/session';
import { useView } from '../core/state';

export function hasWebGl(): boolean {
  try {
    return !!document.createElement('canvas').getContext('webgl2');
  } catch {
    return false;
  }
}

/** x, y and z as the camera sees them. */
function Axes({ camera }: { camera: number[] | null }) {
  if (!camera) return null;
  const ahead = [0, 1, 2].map((i) => camera[3 + i] - camera[i]);
  const length = Math.hypot(...ahead);
  const [d, up] = [ahead.map((value) => value / length), camera.slice(6, 9)];
  const right = [d[1] * up[2] - d[2] * up[1], d[2] * up[0] - d[0] * up[2], d[0] * up[1] - d[1] * up[0]];
  return (
    <svg class="axes" viewBox="-32 -32 64 64" width="64" height="64" aria-hidden="true">
      {[0, 1, 2].sort((a, b) => d[b] - d[a]).map((i) => (
        <g key={i} stroke={AXIS_COLOUR[i]} fill={AXIS_COLOUR[i]}>
          <line x1="0" y1="0" x2={20 * right[i]} y2={-20 * up[i]} stroke-width="2" />
          <text x={27 * right[i]} y={-27 * up[i]} stroke="none" text-anchor="middle" dominant-baseline="central" font-size="11">{'xyz'[i]}</text>
        </g>
      ))}
    </svg>
  );
}

export function VolumeView() {
  const host = useRef<HTMLDivElement>(null);
  const [works] = useState(hasWebGl);
  const [progress, setProgress] = useState<Progress>({ texels: null, busy: true, triangles: 0 });
  const camera = useView((view) => view.camera);
  const render = useView((view) => view.render);
  const restored = useRestored('webgl');
  useEffect(() => {
    if (!works) return undefined;
    let view: View3d;
    try {
      view = new View3d(host.current!, setProgress);
    } catch (error) {
      report(error, 'The 3-D view cannot start');
      return undefined;
    }
    current.view = view;
    return () => {
      current.view = null;
      view.end();
    };
  }, [works, restored]);
  if (!works)
    return (
      <PaneFrame pane="volume" title="3-D" detail="">
        <div class="no-webgl">
          <strong>No 3-D in this browser</strong>
          <p>It has no WebGL 2: it is switched off, or the graphics driver is missing. Slices, measures and everything else work.</p>
        </div>
      </PaneFrame>
    );
  const detail = progress.busy ? 'loading…' : render === 'surface' ? `${progress.triangles.toLocaleString('en')} triangles` : progress.texels ? `${progress.texels.join(' × ')} texels` : '';
  return (
    <PaneFrame pane="volume" title="3-D" detail={detail}>
      <div ref={host} class="volume-canvas" tabIndex={0} role="application" data-busy={progress.busy} data-triangles={progress.triangles}
        aria-label="Volume in 3-D. Arrow keys turn it, with Shift they move it, plus and minus zoom." />
      <Axes camera={camera} />
    </PaneFrame>
  );
}
