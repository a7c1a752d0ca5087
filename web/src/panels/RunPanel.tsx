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

/** Slices that are made one after the other, iterations, or the views of lepus live. */
function counted(run: Run): { name: string; done: number; all: number | null } {
  if (run.iterations !== undefined) return { name: 'iterations', done: run.iterations_done ?? 0, all: run.iterations };
  if (run.views_in !== undefined) return { name: 'views', done: run.views_in, all: run.views ?? null };
  return { name: 'slices', done: run.finished.reduce((sum, [from, to]) => sum + to - from, 0), all: run.slices };
}

export function RunPanel({ run }: { run: Run }) {
  const { name, done, all } = counted(run);
  const percent = all ? Math.round((100 * done) / all) : 0;
  const parts: [number, number][] = run.slices ? run.finished : [[0, done]];
  const iterations = run.residual.map((_, i) => i + 1);
  return (
    <section class="section run" aria-label="Reconstruction">
      <h2 class="section-title">Reconstruction <span class="badge">{run.state ?? (percent === 100 ? 'finished' : 'running')}</span></h2>
      <div class="section-body">
        <div class="slabs" role="progressbar" aria-valuenow={percent} aria-valuemin={0} aria-valuemax={100} aria-label={`Finished ${name}`}>
          {all && parts.map(([from, to]) => <i key={from} style={{ left: `${(100 * from) / all}%`, width: `${(100 * (to - from)) / all}%` }} />)}
        </div>
        <dl class="statistics">
          <div><dt>done</dt><dd>{percent} %</dd></div>
          <div><dt>{name}</dt><dd>{done} of {all ?? '?'}</dd></div>
          <div><dt>rate</dt><dd>{run.rate === null ? '–' : `${digits(run.rate)} /s`}</dd></div>
          <div><dt>left</dt><dd>{run.seconds_left === null ? '–' : timeText(run.seconds_left)}</dd></div>
        </dl>
        {run.residual.length > 0 && <Plot x={iterations} xName="iteration" yName="residual" label="Residual" curves={[{ name: 'residual', values: run.residual, colour: '--accent' }]} logarithmic={run.residual.every((value) => value > 0)} />}
      </div>
    </section>
  );
}
