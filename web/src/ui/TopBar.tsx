// SPDX-License-Identifier: Apache-2.0
import { closeDraft, fit } from '../slices/tools';
import { redo, undo } from '../core/history';
import { say, useOpened, useVolume } from '../core/session';
import { state, useView, type Tool } from '../core/state';
import { shell } from './App';
import { Icon } from './Icon';

export const TOOLS: { tool: Tool; name: string; key: string }[] = [
  { tool: 'cross', name: 'Crosshair', key: 'c' },
  { tool: 'pan', name: 'Pan', key: 'h' },
  { tool: 'window', name: 'Window and level', key: 'w' },
  { tool: 'distance', name: 'Distance', key: 'd' },
  { tool: 'angle', name: 'Angle', key: 'a' },
  { tool: 'area', name: 'Area', key: 'g' },
  { tool: 'profile', name: 'Line profile', key: 'p' },
  { tool: 'box', name: 'Box region', key: 'b' },
  { tool: 'ellipsoid', name: 'Ellipsoid region', key: 'e' },
];

export function chooseTool(tool: Tool): void {
  closeDraft();
  state.set({ tool });
}

export function nextTheme(): void {
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  const { theme } = state.get();
  const is_dark = theme === 'dark' || (theme === 'auto' && dark);
  state.set({ theme: is_dark ? 'light' : 'dark' });
}

export async function copyAddress(): Promise<void> {
  try {
    await navigator.clipboard.writeText(location.href);
    say('done', 'The address of this view is copied');
  } catch {
    say('warning', 'The address cannot be copied', 'the browser does not allow it', 'copy it from the address bar: it holds this view');
  }
}

function Button({ icon, name, hint, pressed, act }: { icon: string; name: string; hint: string; pressed?: boolean; act: () => void }) {
  return (
    <button class="icon" aria-label={name} title={`${name} (${hint})`} aria-pressed={pressed} onClick={act}>
      <Icon name={icon} />
    </button>
  );
}

export function TopBar({ scan, tabs, choose }: { scan: boolean; tabs: boolean; choose: (tab: 'scan' | 'volume') => void }) {
  const volume = useVolume();
  const volumes = useOpened((now) => now.session?.volumes ?? []);
  const file = useOpened((now) => now.session?.scan?.file ?? '');
  const { tool, layout, theme, large } = useView((view) => view);
  return (
    <header class="topbar">
      <h1>lepus</h1>
      {tabs && (
        <div class="segments" role="group" aria-label="What is shown">
          <button aria-pressed={scan} onClick={() => choose('scan')}>Scan</button>
          <button aria-pressed={!scan} onClick={() => choose('volume')}>Volume</button>
        </div>
      )}
      {!scan && volumes.length > 1 ? (
        <select class="name" aria-label="Volume" value={volume?.id} onChange={(event) => state.set({ volume: Number(event.currentTarget.value) })}>
          {volumes.map(({ id, name }) => <option key={id} value={id}>{name}</option>)}
        </select>
      ) : <span class="name" title={scan ? file : volume?.name}>{scan ? file : volume?.name}</span>}
      {!scan && (
        <>
          <div class="group" role="toolbar" aria-label="Tools">
            {TOOLS.map(({ tool: one, name, key }) => <Button key={one} icon={one} name={name} hint={key.toUpperCase()} pressed={tool === one} act={() => chooseTool(one)} />)}
          </div>
          <div class="group" role="group" aria-label="View">
            <Button icon="fit" name="Fit" hint="F" act={fit} />
            <Button icon="grid" name="Four panes" hint="4" pressed={layout === 'grid'} act={() => state.set({ layout: 'grid' })} />
            <Button icon="row" name="Three panes in a row" hint="5" pressed={layout === 'row'} act={() => state.set({ layout: 'row' })} />
          </div>
        </>
      )}
      <span class="spacer" />
      <div class="group" role="group" aria-label="Page">
        <Button icon="undo" name="Undo" hint="Ctrl Z" act={undo} />
        <Button icon="redo" name="Redo" hint="Ctrl Y" act={redo} />
        <Button icon="share" name="Copy the address of this view" hint="Y" act={copyAddress} />
        <Button icon="large" name="Larger text" hint="L" pressed={large} act={() => state.set({ large: !large })} />
        <Button icon={theme === 'light' ? 'dark' : 'light'} name="Light or dark" hint="T" act={nextTheme} />
        <Button icon="help" name="Keys" hint="?" act={() => shell.set({ help: true })} />
        {!scan && <Button icon="panel" name="Side panel" hint="S" act={() => shell.set({ sidebar: !shell.get().sidebar })} />}
      </div>
    </header>
  );
}
