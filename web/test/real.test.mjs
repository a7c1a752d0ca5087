// SPDX-License-Identifier: Apache-2.0
// The page against the program itself: LEPUS_PROGRAM=build/bin/lepus. A scan is simulated, reconstructed and looked at.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { colourAt, drawn, hashOf, launch, NO_BROWSER, open } from './browser.mjs';
import { NO_PROGRAM, program, whileViewing } from './program.mjs';

const options = { skip: NO_BROWSER || NO_PROGRAM, timeout: 240000 };
let folder, browser;
const lepus = (...words) => execFileSync(program, [...words, '--quiet', '--threads', '2'], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });

before(async () => {
  if (options.skip) return;
  folder = mkdtempSync(join(tmpdir(), 'lepus-page-'));
  lepus('simulate', 'porous-block', '--pores', '12', '--smallest-pore', '0.08', '--largest-pore', '0.14', '-o', 'scan', '--columns', '64', '--rows', '64', '--views', '60');
  lepus('reconstruct', 'scan/scan.toml', '-o', 'volume.mha');
  lepus('analyze', 'volume.mha', '--threshold', 'otsu', '--porosity', '--blobs', '--remove-air', '-o', 'report');
  browser = await launch();
});
after(async () => {
  await browser?.close();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

/** Starts `lepus view` and opens its page. */
const view = (words, hash, work) => whileViewing(folder, words, async (address) => {
  const page = await open(browser, address, { hash });
  await work(page, address);
  assert.deepEqual(page.problems, []);
  await page.close();
});
const soon = async (page, look, right) => {
  for (let tries = 80; ; tries--) {
    const found = await look();
    if (right(found)) return found;
    assert.ok(tries > 0, `it stays ${found}`);
    await page.waitForTimeout(100);
  }
};
const text = (page, selector) => page.evaluate((css) => document.querySelector(css)?.textContent ?? '', selector);

test('a volume with labels and a second one: slices, values, measures, region, blobs, difference', options, () =>
  view(['volume.mha', 'scan/truth.mha', '--labels', 'report/labels.mha', '--blobs', 'report/blobs.csv', '--water', '0.02'], 'layout=row&crosshair=false&panels=measure,region,overlays,compare', async (page, address) => {
    for (const axis of ['x', 'y', 'z']) await drawn(page, axis);
    const session = await (await fetch(`${address}api/session`)).json();
    const middle = session.volumes[0].size.map((n) => Math.floor(n / 2));
    const { value } = await (await fetch(`${address}api/volumes/0/value?at=${middle}`)).json();
    const shown = await soon(page, async () => Number((await text(page, '[data-unit=per-mm]')).split(' ')[0]), (one) => Math.abs(one - value) <= 1e-3 * Math.abs(value) + 1e-6);
    assert.ok(Number.isFinite(shown));
    // What is drawn is what the server says, in the page's window.
    const { percentiles } = session.volumes[0];
    const expected = (255 * (value - percentiles['0.1'])) / (percentiles['99.9'] - percentiles['0.1']);
    await soon(page, async () => (await colourAt(page, 'canvas[data-axis=z]', 0.5, 0.5, 1))[0], (grey) => Math.abs(grey - Math.min(255, Math.max(0, expected))) < 40);

    await page.locator('canvas[data-axis=z]').focus();
    await page.keyboard.press('p');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Shift+ArrowRight');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.plot[data-points] canvas');
    await page.locator('[data-section=region]').getByRole('button', { name: 'Box' }).click();
    await soon(page, () => text(page, '[data-statistics]'), (one) => /mean0\.0\d+.*voxels[\d,]+/.test(one));
    const [crop] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: '.mha' }).click()]);
    assert.match(readFileSync(await crop.path()).subarray(0, 400).toString('latin1'), /ObjectType|NDims/);

    await page.getByLabel('Labels').check();
    await page.waitForSelector('.blobs tbody tr');
    await page.locator('.blobs tbody button').first().click();
    await soon(page, () => hashOf(page), (hash) => /blob=\d+/.test(hash));
    await page.waitForSelector('[data-blob]');
    await page.getByRole('button', { name: 'difference', exact: true }).click();
    await soon(page, () => text(page, '.notices'), (one) => one === '');
    await page.getByRole('button', { name: 'swipe', exact: true }).click();
    await page.waitForTimeout(300);
  }));

test('an oblique slice and texels', options, () =>
  view(['volume.mha'], 'layout=oblique&fourth=oblique', async (page, address) => {
    await page.waitForFunction(() => Number(document.querySelector('canvas[data-axis=oblique]')?.dataset.pixels) > 200);
    assert.ok((await colourAt(page, 'canvas[data-axis=oblique]', 0.45, 0.45, 5))[0] > 20);
    const box = await fetch(`${address}api/volumes/0/box?box=0,8,0,8,0,8&max=4&window=0,0.02`);
    assert.equal((await box.arrayBuffer()).byteLength, 64);
  }));

test('a scan: corrections and axis change the slice, the axis is found, the file saved', options, () =>
  view(['scan/scan.toml'], '', async (page) => {
    await page.waitForSelector('[data-picture=slice][aria-busy=false]', { timeout: 60000 });
    await page.waitForSelector('[data-picture=sinogram][aria-busy=false]', { timeout: 60000 });
    const before = await page.locator('.toml').inputValue();
    const picture = () => page.evaluate(() => document.querySelector('[data-picture=slice] canvas').toDataURL());
    const plain = await picture();
    await page.getByLabel('Add a correction').selectOption('filter'); // a median smooths the noise
    await soon(page, picture, (now) => now !== plain);
    await page.getByRole('button', { name: 'Find it' }).click();
    await page.getByRole('button', { name: 'Find it' }).waitFor({ timeout: 60000 });
    assert.equal(await text(page, '.problem'), '');
    await page.getByRole('button', { name: 'Save scan.toml' }).click();
    await soon(page, () => text(page, '.notices'), (one) => /is saved/.test(one));
    const saved = readFileSync(join(folder, 'scan/scan.toml'), 'utf8');
    assert.match(saved, /kind = "filter"/);
    assert.equal(saved.split('[[correct]]')[0].replace(/detector_shift_u_mm = .*\n/, '').trim(), before.trim());
  }));
