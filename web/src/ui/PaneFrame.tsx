// SPDX-License-Identifier: Apache-2.0
// The frame around a pane: title, what is shown, and a button that makes it large.
import type { ComponentChildren } from 'preact';
import { state, useView, type Pane } from '../core/state';
import { Icon } from './Icon';

export function toggleLarge(pane: Pane): void {
  state.set({ layout: state.get().layout === pane ? 'grid' : pane });
}

export function PaneFrame({ pane, title, detail, children }: { pane: Pane; title: string; detail: string; children: ComponentChildren }) {
  const large = useView((view) => view.layout === pane);
  return (
    <section class="pane" data-pane={pane} aria-label={title}>
      <header>
        <span class={`chip chip-${pane}`}>{title}</span>
        <span class="pane-detail">{detail}</span>
        <button class="icon" onClick={() => toggleLarge(pane)} aria-pressed={large} aria-label={large ? 'Show all panes' : `Show ${title} alone`} title={large ? 'Show all panes' : 'Show alone'}>
          <Icon name={large ? 'shrink' : 'grow'} />
        </button>
      </header>
      {children}
    </section>
  );
}
