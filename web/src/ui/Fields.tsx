// SPDX-License-Identifier: Apache-2.0
// The controls of the panels.
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { digits } from '../core/axes';
import { state, useView } from '../core/state';

export function Section({ name, title, badge, children }: { name: string; title: string; badge?: ComponentChildren; children: ComponentChildren }) {
  const open = useView((view) => view.panels.split(',').includes(name));
  const toggle = () => {
    const panels = state.get().panels.split(',').filter(Boolean);
    state.set({ panels: (open ? panels.filter((one) => one !== name) : [...panels, name]).join(',') });
  };
  return (
    <section class="section" data-section={name}>
      <h2>
        <button class="section-title" aria-expanded={open} onClick={toggle}>
          <span class="caret" aria-hidden="true" />{title}{badge !== undefined && <span class="badge">{badge}</span>}
        </button>
      </h2>
      {open && <div class="section-body">{children}</div>}
    </section>
  );
}

interface SliderProps {
  label: string;
  value: number;
  min: number;
  max: number;
  step?: number;
  unit?: string;
  set: (value: number) => void;
}

export function Slider({ label, value, min, max, step = 'any' as unknown as number, unit = '', set }: SliderProps) {
  return (
    <label class="field">
      <span>{label}</span>
      <input type="range" aria-label={label} {...{ min, max, step, value }} onInput={(event) => set(Number(event.currentTarget.value))} />
      <output>{digits(value)}{unit}</output>
    </label>
  );
}

/** A number that is taken when it is one, at Enter or when the field is left. */
export function NumberField({ label, value, set, step, quiet }: { label: string; value: number; set: (value: number) => void; step?: number; quiet?: boolean }) {
  const [text, setText] = useState(digits(value));
  useEffect(() => setText(digits(value)), [value]);
  const take = () => {
    const number = Number(text.replace(',', '.'));
    if (text.trim() !== '' && Number.isFinite(number) && digits(value) !== text) set(number);
    else setText(digits(value));
  };
  const nudge = (event: KeyboardEvent) => {
    if (event.key === 'Enter') take();
    if (step && (event.key === 'ArrowUp' || event.key === 'ArrowDown')) {
      event.preventDefault();
      set(value + (event.key === 'ArrowUp' ? step : -step) * (event.shiftKey ? 10 : 1));
    }
  };
  return (
    <label class={`number ${quiet ? 'quiet-label' : ''}`}>
      <span>{label}</span>
      <input type="text" inputMode="decimal" value={text} onInput={(event) => setText(event.currentTarget.value)} onBlur={take} onKeyDown={nudge} />
    </label>
  );
}

export function Toggle({ label, value, set, disabled, title }: { label: string; value: boolean; set: (value: boolean) => void; disabled?: boolean; title?: string }) {
  return (
    <label class="toggle" title={title}>
      <input type="checkbox" checked={value} disabled={disabled} onChange={(event) => set(event.currentTarget.checked)} />
      <span>{label}</span>
    </label>
  );
}

export function Segments<T extends string>({ label, value, options, set }: { label: string; value: T; options: [T, string][]; set: (value: T) => void }) {
  return (
    <div class="field">
      <span>{label}</span>
      <div class="segments" role="group" aria-label={label}>
        {options.map(([key, name]) => <button key={key} aria-pressed={value === key} onClick={() => set(key)}>{name}</button>)}
      </div>
    </div>
  );
}

export function Choice({ label, value, options, set }: { label: string; value: string; options: [string, string][]; set: (value: string) => void }) {
  return (
    <label class="field">
      <span>{label}</span>
      <select aria-label={label} value={value} onChange={(event) => set(event.currentTarget.value)}>
        {options.map(([key, name]) => <option key={key} value={key}>{name}</option>)}
      </select>
    </label>
  );
}

/** Saves bytes under a name, as the browser saves downloads. */
export function download(name: string, content: Blob | string): void {
  const url = typeof content === 'string' ? content : URL.createObjectURL(content);
  const link = Object.assign(document.createElement('a'), { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  if (typeof content !== 'string') window.setTimeout(() => URL.revokeObjectURL(url), 60000);
}
