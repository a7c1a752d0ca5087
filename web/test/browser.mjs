// SPDX-License-Identifier: Apache-2.0
// One headless Chromium for a file of tests, pages in it, and what tests ask of a page. WebGL 2 is drawn by SwiftShader.
import { existsSync } from 'node:fs';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const program = [process.env.LEPUS_CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => path && existsSync(path));
export const NO_BROWSER = program ? false : 'Chromium is not installed';

const launched = [];
// A test that fails leaves its browser open, and node would wait for it for ever.
after(() => Promise.all(launched.map((browser) => browser.close())));

export async function launch({ webgl = true } = {}) {
  const graphics = webgl ? ['--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist'] : ['--disable-gpu', '--disable-3d-apis'];
  const browser = await chromium.launch({ executablePath: program, headless: true, args: ['--no-sandbox', '--disable-dev-shm-usage', ...graphics] });
  launched.push(browser);
  return browser;
}

/** A page of the viewer; `problems` gathers what it wrote to the console. */
export async function open(browser, address, { hash = '', width = 1000, height = 480, ...more } = {}) {
  const page = await browser.newPage({ viewport: { width, height }, ...more });
  page.problems = [];
  page.setDefaultTimeout(30000);
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && page.problems.push(message.text()));
  page.on('pageerror', (error) => page.problems.push(String(error.stack ?? error)));
  // A program that was built without web/dist has no page: LEPUS_PAGE=dist takes it from there.
  if (process.env.LEPUS_PAGE === 'dist')
    for (const name of ['', 'app.js', 'app.css'])
      await page.route(`${address}${name}`, (route) => route.fulfill({ path: fileURLToPath(new URL(`../dist/${name || 'index.html'}`, import.meta.url)) }));
  await page.goto(address + (hash && `#${hash}`));
  await page.waitForSelector('.panes, .scan, .fatal:not([aria-busy])', { timeout: 90000 });
  return page;
}

/** Waits until a slice is on its canvas, fine. */
export const drawn = (page, axis, index) => page.waitForFunction(([one, at]) => {
  const shown = document.querySelector(`canvas[data-axis="${one}"]`)?.dataset.shown;
  return at === undefined ? shown && !shown.endsWith('~') : shown === String(at);
}, [axis, index], { timeout: 60000 });

/** Mean of red, green and blue in a small square of a canvas, around a place given in shares of its size. */
export const colourAt = (page, selector, x = 0.5, y = 0.5, size = 3) => page.evaluate(([css, u, v, n]) => {
  const canvas = document.querySelector(css);
  const copy = Object.assign(document.createElement('canvas'), { width: canvas.width, height: canvas.height });
  const context = copy.getContext('2d');
  context.drawImage(canvas, 0, 0);
  const { data } = context.getImageData(Math.round(u * canvas.width - n / 2), Math.round(v * canvas.height - n / 2), n, n);
  return [0, 1, 2].map((c) => data.filter((_, i) => i % 4 === c).reduce((sum, one) => sum + one, 0) / (n * n));
}, [selector, x, y, size]);

/** A picture of an element as the screen has it, as raw PNG bytes: for WebGL, whose canvas is empty after it was shown. */
export const shot = (page, selector) => page.locator(selector).first().screenshot();
export const hashOf = (page) => page.evaluate(() => decodeURIComponent(location.hash));
