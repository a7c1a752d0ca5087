// SPDX-License-Identifier: Apache-2.0
// Scrolling, by the page's own clock, on a canvas of 1024².
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drawn, launch, NO_BROWSER, open } from './browser.mjs';
import { serve } from './mock.mjs';

test('scrolls at 20 slices per second or more', { skip: NO_BROWSER, timeout: 120000 }, async () => {
  const [browser, mock] = await Promise.all([launch(), serve({ large: true })]);
  const page = await open(browser, mock.address, { hash: 'layout=z&at=512,512,10', width: 1024, height: 1100 });
  await page.keyboard.press('s'); // no side panel
  await drawn(page, 'z', 10);
  // Each slice once, so that pictures come from the cache afterwards: what is measured is the page, not the mock's arithmetic.
  await page.evaluate(() => window.lepusClock.scroll('z', 20, 30));
  const { rate, canvas } = await page.evaluate(() => window.lepusClock.scroll('z', 20, 30));
  console.log(`${rate.toFixed(1)} slices per second on ${canvas.join(' × ')}`);
  assert.ok(canvas[0] * canvas[1] >= 1000 * 1000, `${canvas}`);
  if (process.env.LEPUS_RATE !== 'off') assert.ok(rate >= 20, `${rate} slices per second`);
  assert.deepEqual(page.problems, []);
  await browser.close();
  mock.close();
});
