// SPDX-License-Identifier: Apache-2.0
// A browser and a mock server for a file of tests; after each test the page must have written nothing to the console.
import assert from 'node:assert/strict';
import { after, afterEach, before } from 'node:test';
import { launch, NO_BROWSER, open } from './browser.mjs';
import { serve } from './mock.mjs';

export const options = { skip: NO_BROWSER, timeout: 180000 };

export function setUp({ server = {}, browser: how = {} } = {}) {
  const t = { page: null, mock: null, browser: null, expected: null };
  before(async () => {
    if (!NO_BROWSER) [t.browser, t.mock] = await Promise.all([launch(how), serve(server)]);
  });
  after(async () => {
    await t.browser?.close();
    t.mock?.close();
  });
  afterEach(async () => {
    const { page, expected } = t;
    if (!page) return;
    await page.close();
    [t.page, t.expected] = [null, null];
    assert.deepEqual(page.problems.filter((problem) => !expected?.test(problem)), []);
  });
  t.open = async (hash, more) => (t.page = await open(t.browser, t.mock.address, { hash, ...more }));
  t.text = (selector) => t.page.locator(selector).first().innerText();
  t.key = (name) => t.page.keyboard.press(name);
  /** Waits until what `look` finds is right: what is asked for arrives and is drawn a little later. */
  t.soon = async (look, right, tries = 60) => {
    for (; ; tries--) {
      const found = await look();
      if (right(found)) return found;
      assert.ok(tries > 0, `it stays ${found}`);
      await t.page.waitForTimeout(100);
    }
  };
  t.near = (look, expected, tolerance = 4) => t.soon(look, (value) => Math.abs(value - expected) <= tolerance);
  t.shows = (selector, pattern) => t.soon(() => t.page.evaluate((css) => document.querySelector(css)?.textContent ?? '', selector), (text) => pattern.test(text));
  return t;
}
