// SPDX-License-Identifier: Apache-2.0
// The table of blobs, read once per volume, and where each of them lies.
import { api } from './api';
import { createStore } from './store';
import { report } from './session';
import { toVoxel } from './axes';
import type { BlobTable, Triple, Volume } from './protocol';
import type { BlobMark } from '../slices/marks';

interface Blobs {
  of: string;
  table: BlobTable | null;
  marks: BlobMark[];
}

export const blobStore = createStore<Blobs>({ of: '', table: null, marks: [] });

const column = (table: BlobTable, ...names: RegExp[]): number => {
  for (const name of names) {
    const found = table.columns.findIndex((title) => name.test(title));
    if (found >= 0) return found;
  }
  return -1;
};

export const labelColumn = (table: BlobTable): number => Math.max(0, column(table, /^(label|blob|number|id)$/i));

function marksOf(volume: Volume, table: BlobTable): BlobMark[] {
  const label = labelColumn(table);
  const voxels = ['x', 'y', 'z'].map((axis) => column(table, new RegExp(`^(centroid|center|centre|position)?_?${axis}(_vx|_voxels?|_px)?$`, 'i')));
  const mm = ['x', 'y', 'z'].map((axis) => column(table, new RegExp(`^(centroid|center|centre|position)?_?${axis}_mm$`, 'i')));
  const size = column(table, /^volume_voxels$|^voxels$/i);
  const diameter = column(table, /diameter.*mm/i);
  return table.rows.flatMap((row) => {
    const at = (places: number[]): Triple => places.map((i) => Number(row[i])) as Triple;
    const centre = mm.every((i) => i >= 0) ? toVoxel(volume, at(mm)) : voxels.every((i) => i >= 0) ? at(voxels) : null;
    const radius = diameter >= 0 ? Number(row[diameter]) / 2 / volume.step_mm[0] : size >= 0 ? Math.cbrt((3 * Number(row[size])) / (4 * Math.PI)) : 1;
    return centre ? [{ label: Number(row[label]), centre, radius }] : [];
  });
}

export async function wantBlobs(volume: Volume): Promise<void> {
  const of = `${volume.id}:${volume.changed}`;
  if (!volume.labels || blobStore.get().of === of) return;
  blobStore.set({ of, table: null, marks: [] });
  try {
    const table = await api.blobs(volume.id);
    blobStore.set({ of, table, marks: marksOf(volume, table) });
  } catch (error) {
    report(error, 'The table of blobs cannot be read');
  }
}
