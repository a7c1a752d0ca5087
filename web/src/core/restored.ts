// SPDX-License-Identifier: Apache-2.0
// How often the browser gave canvases back that it had lost, as it does when its graphics process ends: they are empty then, and nothing else
// says that they have to be drawn again.
import { createStore, useStore } from './store';

export const restored = createStore({ flat: 0, webgl: 0 });
export const useRestored = (kind: 'flat' | 'webgl' = 'flat'): number => useStore(restored, (times) => times[kind]);

// They do not bubble.
document.addEventListener('contextrestored', () => restored.set({ flat: restored.get().flat + 1 }), true);
document.addEventListener('webglcontextrestored', () => restored.set({ webgl: restored.get().webgl + 1 }), true);
