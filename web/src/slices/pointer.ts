// SPDX-License-Identifier: Apache-2.0
// What lies under the pointer, and a measure that is being drawn. Neither is worth an address or a step of undo.
import { createStore } from '../core/store';
import type { Axis, Triple } from '../core/protocol';
import type { Measure } from '../core/state';

export interface Pointer {
  at: Triple | null;
  value: number | null;
  /** Another volume's value at the same place, while two are compared. */
  other: number | null;
  draft: Measure | null;
  focused: Axis;
}

export const pointer = createStore<Pointer>({ at: null, value: null, other: null, draft: null, focused: 'z' });
