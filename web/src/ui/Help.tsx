// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef } from 'preact/hooks';
import { KEYS } from './keys';
import { shell } from './App';
import { Icon } from './Icon';

const MOUSE: [string, string][] = [
  ['Drag', 'the chosen tool'],
  ['Right drag', 'level up and down, width left and right'],
  ['Middle or Shift drag', 'pan'],
  ['Wheel', 'slices; with Alt ten at a time'],
  ['Ctrl wheel, pinch', 'zoom'],
];

export function Help() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current!.showModal(), []);
  const close = () => shell.set({ help: false });
  return (
    <dialog class="help" ref={dialog} onClose={close} aria-labelledby="help-title" onClick={(event) => event.target === dialog.current && close()}>
      <header>
        <h2 id="help-title">Keys</h2>
        <button class="icon" onClick={close} aria-label="Close"><Icon name="close" /></button>
      </header>
      <div class="help-columns">
        {KEYS.map(({ title, keys }) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl>{keys.map(({ shown, what }) => <div key={shown}><dt><kbd>{shown}</kbd></dt><dd>{what}</dd></div>)}</dl>
          </section>
        ))}
        <section>
          <h3>Mouse and fingers</h3>
          <dl>{MOUSE.map(([shown, what]) => <div key={shown}><dt><kbd>{shown}</kbd></dt><dd>{what}</dd></div>)}</dl>
        </section>
      </div>
    </dialog>
  );
}
