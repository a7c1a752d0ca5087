// SPDX-License-Identifier: Apache-2.0
import { dismiss, useOpened } from '../core/session';
import { Icon } from './Icon';

export function Notices() {
  const notices = useOpened((now) => now.notices);
  return (
    <div class="notices" role="status" aria-live="polite">
      {notices.map(({ key, kind, what, why, hint }) => (
        <div key={key} class={`notice notice-${kind}`}>
          <div>
            <strong>{what}</strong>
            {why && <p>{why}</p>}
            {hint && <p class="hint">{hint}</p>}
          </div>
          <button class="icon" onClick={() => dismiss(key)} aria-label={`Dismiss: ${what}`}><Icon name="close" /></button>
        </div>
      ))}
    </div>
  );
}
