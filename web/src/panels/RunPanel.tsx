// SPDX-License-Identifier: Apache-2.0
// A reconstruction that runs: which slices are there, how fast, how long still, and the residual of an iterative method.
import { digits } from '../core/axes';
import { Plot } from './Plot';
import type { Run } from '../core/protocol';

export function timeText(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function RunPanel({ run }: { run: Run }) {
  const done = run.finished.reduce((sum, [from, to]) => sum + to - from, 0);
  const percent = run.slices ? Math.round((100 * done) / run.slices) : 0;
  const iterations = run.residual.map((_, i) => i + 1);
  return (
    <section class="section run" aria-label="Reconstruction">
      <h2 class="section-title">Reconstruction <span class="badge">{run.state ?? (percent === 100 ? 'finished' : 'running')}</span></h2>
      <div class="section-body">
        <div class="slabs" role="progressbar" aria-valuenow={percent} aria-valuemin={0} aria-valuemax={100} aria-label="Finished slices">
          {run.finished.map(([from, to]) => <i key={from} style={{ left: `${(100 * from) / run.slices}%`, width: `${(100 * (to - from)) / run.slices}%` }} />)}
        </div>
        <dl class="statistics">
          <div><dt>done</dt><dd>{percent} %</dd></div>
          <div><dt>slices</dt><dd>{done} of {run.slices}</dd></div>
          <div><dt>rate</dt><dd>{run.rate === null ? '–' : `${digits(run.rate)} /s`}</dd></div>
          <div><dt>left</dt><dd>{run.seconds_left === null ? '–' : timeText(run.seconds_left)}</dd></div>
        </dl>
        {run.residual.length > 0 && <Plot x={iterations} xName="iteration" yName="residual" label="Residual" curves={[{ name: 'residual', values: run.residual, colour: '--accent' }]} logarithmic={run.residual.every((value) => value > 0)} />}
      </div>
    </section>
  );
}
