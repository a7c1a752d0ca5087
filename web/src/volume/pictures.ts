// SPDX-License-Identifier: Apache-2.0
// What the 3-D view shows as files: one PNG, or a turn around the object as a series of them.
import { download } from '../ui/Fields';
import { zip } from './zip';
import type { View3d } from './view3d';

/** The view that is on the screen, if any. */
export const current: { view: View3d | null } = { view: null };

export async function savePicture(): Promise<void> {
  if (current.view) download('lepus-3d.png', await current.view.scene.picture());
}

/** Turns about the axis that points up in the picture; the camera is left where it was. */
export async function saveTurntable(pictures: number, progress: (done: number) => void): Promise<void> {
  if (!current.view) return;
  const { scene } = current.view;
  const files: { name: string; bytes: Uint8Array }[] = [];
  for (let i = 0; i < pictures; i++) {
    const bytes = new Uint8Array(await (await scene.picture()).arrayBuffer());
    files.push({ name: `turntable-${String(i).padStart(3, '0')}.png`, bytes });
    scene.camera.azimuth(360 / pictures);
    progress(i + 1);
    await new Promise((wake) => window.setTimeout(wake));
  }
  scene.draw();
  download('turntable.zip', zip(files));
}
