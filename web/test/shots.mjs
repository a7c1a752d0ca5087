// SPDX-License-Identifier: Apache-2.0
// Pictures of the main states for docs/images: node test/shots.mjs FOLDER [NAME ...]
// LEPUS_VOLUME and LEPUS_SCAN: addresses of lepus view that are shown instead of the mock; LEPUS_AT: where the crosshair is.
import { launch, open } from './browser.mjs';
import { serve } from './mock.mjs';

const [folder, ...names] = process.argv.slice(2);
const at = process.env.LEPUS_AT ?? 'at=56,40,32';
const [sx, sy, sz] = (process.env.LEPUS_SIZE ?? '96,80,64').split(',').map((n, i) => n / [96, 80, 64][i]);
const middle = Number(at.split(',').pop());
const json = (value) => encodeURIComponent(JSON.stringify(value));
const points = (...list) => list.map(([x, y]) => [Math.round(x * sx), Math.round(y * sy), middle]);
const REGION = { shape: 'ellipsoid', box: [50 * sx, 74 * sx, 18 * sy, 42 * sy, 22 * sz, 42 * sz].map(Math.round) };
const MEASURES = [
  { kind: 'distance', axis: 'z', points: points([24, 38], [56, 40]) },
  { kind: 'angle', axis: 'z', points: points([40, 60], [40, 50], [55, 52]) },
  { kind: 'area', axis: 'z', points: points([26, 20], [38, 18], [40, 28], [30, 30]) },
  { kind: 'profile', axis: 'z', points: points([10, 44], [85, 44]) },
];
const STATES = {
  slices: { hash: `${at}&theme=dark&sharp=true`, wait: 20000 },
  light: { hash: `${at}&theme=light&map=bone&panels=display,slices&layout=row` },
  measure: { hash: `${at}&theme=dark&layout=z&panels=measure,region&tool=distance&region=${json(REGION)}&measures=${json(MEASURES)}` },
  volume: { hash: `${at}&theme=dark&layout=volume&sharp=true&panels=volume&cut=y&volumeMap=bone`, wait: 20000 },
  surface: { hash: `${at}&theme=light&layout=volume&sharp=true&panels=volume&render=surface&iso=${process.env.LEPUS_ISO ?? 0.015}&cut=y&volumeMap=ice`, wait: 20000 },
  blobs: { hash: `${at}&theme=dark&panels=overlays&labels=true&blobNumbers=true&blob=${process.env.LEPUS_BLOB ?? 3}&fieldOfView=true&layout=row` },
  compare: { hash: `${at}&theme=light&panels=compare&compare=swipe&other=1&layout=row` },
  difference: { hash: `${at}&theme=dark&panels=compare&compare=difference&other=1&layout=row` },
  oblique: { hash: `${at}&theme=dark&panels=slices&fourth=oblique&plane=30,60` },
  help: { hash: `${at}&theme=dark&layout=row`, act: (page) => page.keyboard.press('?') },
  phone: { hash: `${at}&theme=dark&layout=z`, width: 390, height: 800 },
  projector: { hash: `${at}&theme=light&large=true&layout=z` },
  scan: { kind: 'scan', hash: 'theme=dark', wait: 6000 },
  'scan-light': { kind: 'scan', hash: 'theme=light', wait: 1500 },
  run: { kind: 'run', hash: `at=56,40,12&theme=dark&layout=row` },
};

const browser = await launch();
for (const [name, { kind = 'volume', hash, wait = 4000, act, width = 1280, height = 760 }] of Object.entries(STATES)) {
  if (names.length && !names.includes(name)) continue;
  const real = { volume: process.env.LEPUS_VOLUME, scan: process.env.LEPUS_SCAN }[kind];
  const mock = real ? { address: real, close() {} } : await serve({ kind, noise: 0.004 });
  const page = await open(browser, mock.address, { hash, width, height });
  await page.waitForTimeout(wait);
  await act?.(page);
  await page.waitForTimeout(200);
  await page.screenshot({ path: `${folder}/viewer-${name}.png`, timeout: 120000 });
  if (page.problems.length) console.log(name, page.problems);
  await page.close();
  mock.close();
}
await browser.close();
