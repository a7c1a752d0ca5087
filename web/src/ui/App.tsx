// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from 'preact/hooks';
import { Help } from './Help';
import { Notices } from './Notices';
import { Panes } from './Panes';
import { Sidebar } from './Sidebar';
import { StatusBar } from './StatusBar';
import { TopBar } from './TopBar';
import { createStore, useStore } from '../core/store';
import { useOpened } from '../core/session';
import { useView } from '../core/state';
import { ScanView } from '../scan/ScanView';

export const shell = createStore({ help: false, sidebar: !matchMedia('(max-width: 820px)').matches });

/** Light or dark as chosen, or as the system has it. */
function useTheme(): void {
  const theme = useView((view) => view.theme);
  const large = useView((view) => view.large);
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    document.documentElement.dataset.large = String(large);
  }, [theme, large]);
}

export function App() {
  useTheme();
  const session = useOpened((now) => now.session);
  const fatal = useOpened((now) => now.fatal);
  const { help, sidebar } = useStore(shell, (now) => now);
  const [tab, setTab] = useState<'scan' | 'volume'>('scan');
  useEffect(() => {
    const name = session?.volumes[0]?.name ?? session?.scan?.file ?? session?.run?.output;
    document.title = name ? `${name} – lepus` : 'lepus';
  }, [session]);

  if (fatal)
    return (
      <main class="fatal" role="alert">
        <h1>{fatal.what}</h1>
        <p>{fatal.why}</p>
        {fatal.hint && <p class="hint">{fatal.hint}</p>}
        <button class="primary" onClick={() => location.reload()}>Try again</button>
      </main>
    );
  if (!session) return <main class="fatal" aria-busy="true"><h1>lepus</h1><p>Opening…</p></main>;

  const scan = session.scan && (tab === 'scan' || !session.volumes.length);
  return (
    <div class={`app ${sidebar ? '' : 'no-sidebar'} ${scan ? 'is-scan' : ''}`}>
      <TopBar scan={!!scan} tabs={!!session.scan && session.volumes.length > 0} choose={setTab} />
      {scan ? <ScanView scan={session.scan!} /> : (
        <>
          <Panes />
          {sidebar && <Sidebar />}
          <StatusBar />
        </>
      )}
      <Notices />
      {help && <Help />}
    </div>
  );
}
