// SPDX-License-Identifier: Apache-2.0
// Pictures of the main states for docs/images: node test/shots.mjs FOLDER [NAME ...]
import { launch, open } from './browser.mjs';
import { serve } from './mock.mjs';

const [folder, ...names] = process.argv.slice(2);
const at = 'at=56,40,32';
const STATES = {
  slices: { hash: `${at}&theme=dark`, wait: 20000 },
  light: { hash: `${at}&theme=light&map=bone&panels=display,slices&layout=row` },
  measure: { hash: `${at}&theme=dark&layout=z&panels=measure,region&tool=distance&region=${encodeURIComponent('{"shape":"ellipsoid","box":[50,74,18,42,22,42]}')}&measures=${encodeURIComponent('[{"kind":"distance","axis":"z","points":[[24,38,32],[56,40,32]]},{"kind":"angle","axis":"z","points":[[40,60,32],[40,50,32],[55,52,32]]},{"kind":"area","axis":"z","points":[[26,20,32],[38,18,32],[40,28,32],[30,30,32]]},{"kind":"profile","axis":"z","points":[[10,40,32],[85,40,32]]}]')}` },
  volume: { hash: `${at}&theme=dark&layout=volume&panels=volume&cut=y&volumeMap=bone`, wait: 20000 },
  surface: { hash: `${at}&theme=light&layout=volume&panels=volume&render=surface&iso=0.015&cut=y&volumeMap=ice`, wait: 20000 },
  blobs: { hash: 'at=62,30,32&theme=dark&panels=overlays&labels=true&blobNumbers=true&blob=3&fieldOfView=true&layout=row' },
  compare: { hash: `${at}&theme=light&panels=compare&compare=swipe&other=1&layout=row` },
  difference: { hash: `${at}&theme=dark&panels=compare&compare=difference&other=1&layout=row` },
  oblique: { hash: `${at}&theme=dark&panels=slices&fourth=oblique&plane=30,60` },
  help: { hash: `${at}&theme=dark&layout=row`, act: (page) => page.keyboard.press('?') },
  phone: { hash: `${at}&theme=dark&layout=z`, width: 390, height: 800 },
  projector: { hash: `${at}&theme=light&large=true&layout=z` },
  scan: { kind: 'scan', hash: 'theme=dark', wait: 1500 },
  'scan-light': { kind: 'scan', hash: 'theme=light', wait: 1500 },
  run: { kind: 'run', hash: `at=56,40,12&theme=dark&layout=row` },
};

const browser = await launch();
for (const [name, { kind = 'volume', hash, wait = 1500, act, width = 1280, height = 760 }] of Object.entries(STATES)) {
  if (names.length && !names.includes(name)) continue;
  const mock = await serve({ kind, noise: 0.004 });
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
