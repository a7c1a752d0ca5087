// SPDX-License-Identifier: Apache-2.0
// The page as a whole: size, accessibility, help, phone, errors, a run, no WebGL, events.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { colourAt, drawn, hashOf, launch, open } from './browser.mjs';
import { options, setUp } from './helpers.mjs';
import { serve } from './mock.mjs';

const t = setUp();
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

async function accessible(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target).join(' ')}`), []);
}

test('the bundle is below 550 kB in gzip', () => {
  const size = ['app.js', 'app.css', 'index.html'].reduce((sum, name) => sum + gzipSync(readFileSync(new URL(`../dist/${name}`, import.meta.url)), { level: 9 }).length, 0);
  console.log(`${size} bytes in gzip`);
  assert.ok(size < 550000);
});

for (const theme of ['light', 'dark'])
  test(`axe-core finds nothing, ${theme}, every panel open`, options, async () => {
    await t.open(`layout=row&theme=${theme}&panels=display,slices,measure,region,volume,overlays,compare&compare=swipe&other=1&normalise=slice&labels=true&blob=3&overlay=3&region=${encodeURIComponent('{"shape":"box","box":[1,9,1,9,1,9]}')}&measures=${encodeURIComponent('[{"kind":"profile","axis":"z","points":[[10,40,32],[85,40,32]]}]')}`);
    await drawn(t.page, 'z');
    await t.page.waitForSelector('.plot canvas');
    await t.page.waitForSelector('.blobs tbody tr');
    await accessible(t.page);
    await t.key('?');
    await t.page.waitForSelector('dialog[open]');
    await accessible(t.page);
    await t.key('Escape');
    await t.page.waitForSelector('dialog', { state: 'detached' });
  });

test('a phone: one pane, panels below, nothing wider than the screen; large text', options, async () => {
  await t.open('layout=z&large=true', { width: 390, height: 800, hasTouch: true, isMobile: true });
  await drawn(t.page, 'z');
  assert.equal(await t.page.evaluate(() => document.documentElement.scrollWidth), 390);
  assert.equal(await t.page.locator('.sidebar').count(), 0);
  await t.key('s');
  const [side, pane] = await Promise.all(['.sidebar', '.pane'].map((css) => t.page.locator(css).boundingBox()));
  assert.ok(side.y > pane.y && side.width > 380 && pane.height > 200);
  assert.equal(await t.page.evaluate(() => getComputedStyle(document.documentElement).fontSize), '17px');
  await accessible(t.page);
});

test('an error of the server is shown with its reason, and the page goes on', options, async () => {
  t.expected = /500/;
  await t.open('layout=row');
  await drawn(t.page, 'z');
  t.mock.fail = /slice|histogram/;
  await t.page.locator('canvas[data-axis=z]').focus();
  await t.key('Home');
  await t.shows('.notices', /A slice cannot be shown.*It broke.*the test wanted it.*do not worry/);
  t.mock.fail = null;
  await t.key('PageUp');
  await drawn(t.page, 'z', 1);
});

test('a session that cannot be read is no blank page', options, async () => {
  t.expected = /500/;
  t.mock.fail = /session/;
  await t.open('layout=row');
  assert.match(await t.text('.fatal'), /It broke/);
  t.mock.fail = null;
  await t.page.getByRole('button', { name: 'Try again' }).click();
  await t.page.waitForSelector('.panes');
});

test('a file that vanishes and a server that ends are told', options, async () => {
  t.expected = /ERR_|Failed to load/;
  const mock = await serve();
  t.page = await open(t.browser, mock.address, { hash: 'layout=row' });
  await drawn(t.page, 'z');
  await t.soon(() => mock.log.filter((line) => line === '/api/events').length, (count) => count > 0);
  mock.send('gone', { volume: 0, why: 'vanished' });
  await t.shows('.notices', /part\.mha is no longer there/);
  mock.close();
  await t.shows('.notices', /connection to lepus view is lost/);
});

test('a running reconstruction: slabs appear, progress, time left, residual', options, async () => {
  const mock = await serve({ kind: 'run' });
  t.page = await open(t.browser, mock.address, { hash: 'layout=row&at=47,40,40&crosshair=false' });
  await drawn(t.page, 'z', 40);
  await t.shows('.run', /25 %.*16 of 64.*1\.6 \/s.*75 s/);
  await t.page.waitForSelector('.run .plot canvas');
  const bright = async () => (await colourAt(t.page, 'canvas[data-axis=z]', 0.5, 0.5))[0];
  await t.near(bright, 0);
  Object.assign(mock.run, { finished: [[0, 16], [32, 64]], seconds_left: 12 });
  await t.soon(() => mock.log.filter((line) => line === '/api/events').length, (count) => count > 0);
  mock.send('run', mock.run);
  await t.shows('.run', /75 %.*12 s/);
  await t.near(bright, 76);
  assert.equal(await t.page.locator('.slabs i').count(), 2);
  mock.close();
  t.expected = /ERR_|Failed to load/;
});

test('an iterative method that runs: iterations, time left, residual, before there is a volume', options, async () => {
  const mock = await serve({ kind: 'run' });
  mock.volumes.length = 0;
  Object.assign(mock.run, { slices: 0, finished: [], iterations: 40, iterations_done: 4, rate: 0.5, seconds_left: 72 });
  t.page = await open(t.browser, mock.address, {});
  await t.shows('.run', /10 %.*4 of 40.*0\.5 \/s.*72 s/);
  await t.page.waitForSelector('.run .plot canvas');
  await t.soon(() => mock.log.filter((line) => line === '/api/events').length, (count) => count > 0);
  mock.send('run', { ...mock.run, iterations_done: 8, residual: [1, 0.4, 0.2, 0.13, 0.1, 0.08, 0.07, 0.06], seconds_left: 64 });
  await t.shows('.run', /20 %.*8 of 40.*64 s/);
  mock.close();
  t.expected = /ERR_|Failed to load/;
});

test('without WebGL 2 slices work and the page says what is missing', options, async () => {
  const browser = await launch({ webgl: false });
  const page = await open(browser, t.mock.address, {});
  await drawn(page, 'z');
  assert.match(await page.locator('.no-webgl').innerText(), /No 3-D in this browser/);
  assert.deepEqual(page.problems, []);
  await browser.close();
});

test('undo and redo go through the view; keys reach everything', options, async () => {
  await t.open('layout=row');
  await drawn(t.page, 'z');
  const url = () => hashOf(t.page);
  await t.key('k');
  await t.soon(url, (hash) => /map=bone/.test(hash));
  await t.page.waitForTimeout(700);
  await t.key('j');
  await t.key('t');
  await t.soon(url, (hash) => /compare=side/.test(hash));
  await t.key('Control+z');
  await t.soon(url, (hash) => !/compare/.test(hash) && /map=bone/.test(hash));
  await t.key('Control+z');
  await t.soon(url, (hash) => !/map/.test(hash));
  await t.key('Control+y');
  await t.soon(url, (hash) => /map=bone/.test(hash));
  await t.key('2');
  assert.equal(await t.page.evaluate(() => document.activeElement.dataset.axis), 'x');
  await t.key('z');
  await t.page.waitForSelector('.panes-1');
  await t.key('Escape');
  await t.page.waitForSelector('.panes-4');
});
