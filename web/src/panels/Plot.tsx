// SPDX-License-Identifier: Apache-2.0
// A curve with axes: uPlot in the colours of the page.
import uPlot from 'uplot';
import { useEffect, useRef } from 'preact/hooks';
import { useRestored } from '../core/restored';
import { useView } from '../core/state';
import { digits } from '../core/axes';

interface Props {
  x: number[];
  curves: { name: string; values: (number | null)[]; colour: string }[];
  xName: string;
  yName: string;
  label: string;
  height?: number;
  logarithmic?: boolean;
}

export function Plot({ x, curves, xName, yName, label, height = 160, logarithmic = false }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const theme = useView((view) => `${view.theme} ${view.large}`);
  const restored = useRestored();
  const names = curves.map(({ name }) => name).join();

  useEffect(() => {
    const style = getComputedStyle(host.current!);
    const colour = (name: string) => style.getPropertyValue(name).trim();
    const axis = (name: string, size?: number): uPlot.Axis => ({
      label: name, labelSize: 16, size, stroke: colour('--text-quiet'), font: '11px system-ui, sans-serif', labelFont: '11px system-ui, sans-serif',
      grid: { stroke: colour('--line'), width: 1 }, ticks: { stroke: colour('--line'), width: 1, size: 4 }, values: (_, ticks) => ticks.map((tick) => (tick === null ? '' : digits(tick))),
    });
    plot.current = new uPlot({
      width: host.current!.clientWidth || 280, height, legend: { show: curves.length > 1 }, cursor: { y: false, points: { size: 6 } },
      scales: { x: { time: false }, y: logarithmic ? { distr: 3 } : {} },
      axes: [axis(xName, 30), axis(yName, 52)],
      series: [{ label: xName }, ...curves.map(({ name, colour: one }) => ({ label: name, stroke: colour(one), width: 1.5, points: { show: x.length < 3 } }))],
    }, [x, ...curves.map(({ values }) => values)] as uPlot.AlignedData, host.current!);
    const observer = new ResizeObserver(() => plot.current?.setSize({ width: host.current?.clientWidth || 280, height }));
    observer.observe(host.current!);
    return () => {
      observer.disconnect();
      plot.current?.destroy();
    };
  }, [names, theme, height, xName, yName, logarithmic, restored]);

  useEffect(() => plot.current?.setData([x, ...curves.map(({ values }) => values)] as uPlot.AlignedData), [x, curves]);
  return <div class="plot" ref={host} role="img" aria-label={label} data-points={x.length} />;
}
