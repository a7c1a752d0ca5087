// SPDX-License-Identifier: Apache-2.0
// Slices in a real browser: what is drawn is the object, and every control changes it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { colourAt, drawn, hashOf } from './browser.mjs';
import { options, setUp } from './helpers.mjs';

const t = setUp();
const { key, near, shows, soon, text } = t;
const Z = 'canvas[data-axis=z]';
const start = async (hash = '', more = {}) => {
  await t.open(`layout=row&crosshair=false&${hash}`, more);
  await drawn(t.page, 'z');
};
const grey = async (x, y, selector = Z) => (await colourAt(t.page, selector, x, y))[0];
/** The place of a voxel of the z slice, in shares of the canvas, as the page fits it. */
const voxel = async (x, y) => t.page.evaluate(([vx, vy]) => {
  const { clientWidth: w, clientHeight: h } = document.querySelector('canvas[data-axis=z]');
  const scale = 0.94 * Math.min(w / 9.6, h / 8);
  return [0.5 + ((vx - 47.5) * 0.1 * scale) / w, 0.5 + ((vy - 39.5) * 0.1 * scale) / h];
}, [x, y]);
const at = async (x, y) => grey(...(await voxel(x, y)));
const point = async (x, y) => {
  const [u, v] = await voxel(x, y);
  const box = await t.page.locator(Z).boundingBox();
  return [box.x + u * box.width, box.y + v * box.height];
};
const drag = async (from, to, button = 'left') => {
  await t.page.mouse.move(...(await point(...from)));
  await t.page.mouse.down({ button });
  await t.page.mouse.move(...(await point(...to)), { steps: 4 });
  await t.page.mouse.up({ button });
};

test('the three slices show the object, in its grey levels', options, async () => {
  await start('at=56,40,32');
  await Promise.all([drawn(t.page, 'z', 32), drawn(t.page, 'x', 56), drawn(t.page, 'y', 40)]);
  await near(() => at(24, 38), 255); // the cube, 0.1 of 0 to 0.1
  await near(() => at(47, 55), 76); // the body
  await near(() => at(56, 40), 153); // the rod
  await near(() => at(2, 2), 0);
  await near(() => grey(0.5, 0.5, 'canvas[data-axis=y]'), 76);
});

test('wheel, keys and the slider scroll; zoom and pan are linked', options, async () => {
  await start('at=24,38,32');
  await near(() => at(24, 38), 255);
  await t.page.locator(Z).hover();
  await t.page.mouse.wheel(0, 500);
  await t.page.waitForFunction(() => Number(document.querySelector('canvas[data-axis=z]').dataset.shown) > 36);
  await near(() => at(24, 38), 76); // past the cube
  await t.page.locator(Z).focus();
  await key('Home');
  await drawn(t.page, 'z', 0);
  await near(() => at(47, 39), 0);
  await t.page.locator('input[aria-label="Slice along z"]').fill('32');
  await drawn(t.page, 'z', 32);
  await key('+');
  await key('+');
  await t.page.waitForTimeout(300);
  assert.match(await hashOf(t.page), /zoom=1\.5625/);
  await t.page.locator(Z).focus();
  await key('m');
  await drawn(t.page, 'y');
  await near(() => grey(0.5, 0.5), 255); // the cube is in the middle of the pane
  await near(() => grey(0.5, 0.5, 'canvas[data-axis=y]'), 255);
  await key('f');
  await t.page.waitForTimeout(300);
  assert.doesNotMatch(await hashOf(t.page), /zoom|centre/);
});

test('values under the pointer in 1/mm, HU and raw, and where it is', options, async () => {
  await start('at=10,10,32');
  await t.page.mouse.move(...(await point(56, 40)));
  await shows('[data-unit=per-mm]', /0\.06 1\/mm/);
  assert.match(await text('[data-unit=hu]'), /2000 HU/);
  assert.match(await text('[data-unit=raw]'), /0\.06 raw/);
  assert.match(await text('[data-unit=voxel]'), /56, 40, 32/);
  assert.match(await text('[data-unit=mm]'), /0\.85, 0\.05, 0\.075/);
});

test('window by right drag, presets, numbers, percentiles of the volume and of each slice', options, async () => {
  await start('at=56,40,32');
  await drag([47, 60], [70, 60], 'right'); // wider
  await t.page.waitForTimeout(100);
  const [low, high] = (await hashOf(t.page).then(async () => { await t.page.waitForTimeout(300); return hashOf(t.page); })).match(/window=([^&]*)/)[1].split(',').map(Number);
  assert.ok(low < -0.01 && high > 0.11);
  await near(() => at(47, 60), (255 * (0.03 - low)) / (high - low));
  await t.page.getByRole('button', { name: '1–99 %' }).click();
  await near(() => at(47, 60), 127); // 0 to 0.06
  await t.page.getByLabel('to', { exact: true }).first().fill('0.03');
  await key('Enter');
  await near(() => at(47, 60), 255);
  await t.page.getByRole('button', { name: 'each slice' }).click();
  await t.page.waitForTimeout(200);
  await near(() => at(24, 38), 255);
  await near(() => at(47, 60), 76, 8);
  await key('Escape');
  await t.page.locator(Z).focus();
  await key('r');
  await near(() => at(47, 60), 76);
  await key('i');
  await near(() => at(47, 60), 255 - 76);
  await key('i');
  await t.page.getByRole('button', { name: 'viridis' }).first().click();
  await soon(async () => colourAt(t.page, Z, ...(await voxel(24, 38))), ([r, g, b]) => r > 240 && g > 220 && b < 60); // viridis ends in yellow
});

test('a slab: maximum, mean, minimum', options, async () => {
  await start('at=56,40,40&panels=slices');
  await near(() => at(24, 38), 76);
  await t.page.getByRole('slider', { name: 'Slab' }).fill('17');
  await drawn(t.page, 'z', 40);
  await t.page.waitForTimeout(300);
  await near(() => at(24, 38), 255); // the cube ends at 36
  await t.page.getByRole('button', { name: 'minimum' }).click();
  await near(() => at(24, 38), 76);
  await t.page.getByRole('button', { name: 'mean' }).click();
  await near(() => at(24, 38), (255 * (4 * 0.1 + 13 * 0.03)) / (17 * 0.1), 6);
});

test('distance, angle, area and profile by mouse, and a distance by keys alone', options, async () => {
  await start('at=10,10,32');
  await key('d');
  await drag([20, 38], [60, 38]);
  await shows('.measures', /1 distance(3\.9|4(\.0)?)\d* mm/);
  await key('a');
  for (const [x, y] of [[30, 50], [30, 60], [40, 60]]) await t.page.mouse.click(...(await point(x, y)));
  await shows('.measures', /2 angle(8[6-9]|9[0-4])(\.\d+)?°/);
  await key('g');
  for (const [x, y] of [[40, 20], [60, 20], [60, 30], [40, 30]]) await t.page.mouse.click(...(await point(x, y)));
  await key('q');
  await shows('.measures', /3 area(1\.9|2(\.0)?)\d* mm²/);
  await key('p');
  await drag([10, 40], [80, 40]);
  await t.page.waitForSelector('.plot[data-points]');
  assert.ok(Number(await t.page.locator('.plot').getAttribute('data-points')) > 100);
  await key('d');
  await t.page.locator(Z).focus();
  await key('Enter');
  for (let i = 0; i < 2; i++) await key('Shift+ArrowRight');
  await key('Enter');
  await shows('.measures', /5 distance2 mm/);
  await soon(async () => colourAt(t.page, Z, ...(await voxel(30, 38)), 5), ([r, , b]) => r - b > 30); // the line is drawn
  await key('Control+z');
  await t.page.waitForFunction(() => document.querySelectorAll('.measures tbody tr').length === 4);
  await key('Control+y');
  await t.page.waitForFunction(() => document.querySelectorAll('.measures tbody tr').length === 5);
});

test('a region: drawn, measured, changed, exported', options, async () => {
  await start('at=24,38,32');
  await key('b');
  await drag([21, 35], [26, 40]);
  await shows('[data-statistics]', /mean0\.1/);
  assert.match(await text('[data-statistics]'), /SD\s*(0\b|\d\.\d+e-1\d)/);
  await t.page.getByLabel('x to').or(t.page.locator('.box-fields input').nth(1)).first().fill('60');
  await key('Enter');
  await shows('[data-statistics]', /maximum0\.1/);
  await shows('[data-statistics]', /SD0\.0\d/);
  await t.page.getByRole('button', { name: 'ellipsoid', exact: true }).click();
  await t.page.waitForFunction(() => /voxels/.test(document.querySelector('[data-statistics]').textContent));
  const [download] = await Promise.all([t.page.waitForEvent('download'), t.page.getByRole('button', { name: '.npy' }).click()]);
  assert.equal(download.suggestedFilename(), 'crop.npy');
  assert.match(t.mock.log.filter((line) => /export/.test(line)).join(), /export\?box=21,60,35,41,\d+,\d+&format=npy/);
  await t.page.getByRole('button', { name: 'Crop 3-D to it' }).click();
  await t.page.waitForTimeout(300);
  assert.match(await hashOf(t.page), /clip=21,60,35,41/);
});

test('a region ends where the mouse was let go, moved there or not', options, async () => {
  await start('at=24,38,32');
  await key('b');
  const [from, to] = [await point(21, 35), await point(26, 40)];
  await t.page.mouse.move(...from); // the pointer that the events below are of
  await t.page.evaluate(([css, ...places]) => {
    const canvas = document.querySelector(css);
    for (const [name, [clientX, clientY]] of [['pointerdown', places[0]], ['pointerup', places[1]]])
      canvas.dispatchEvent(new PointerEvent(name, { pointerId: 1, pointerType: 'mouse', button: 0, clientX, clientY, bubbles: true }));
  }, [Z, from, to]);
  await soon(() => hashOf(t.page), (hash) => /"box":\[21,27,35,41,/.test(hash));
});

test('labels, numbers, the table of blobs and the field of view', options, async () => {
  await start('at=62,30,32&panels=overlays');
  await near(async () => (await colourAt(t.page, Z, ...(await voxel(62, 30))))[1], 2, 3);
  await t.page.getByLabel('Labels').check();
  await soon(async () => colourAt(t.page, Z, ...(await voxel(62, 30))), (colour) => Math.max(...colour) - Math.min(...colour) > 20);
  await t.page.getByRole('button', { name: 'voxels' }).click(); // most voxels first
  assert.match(await text('.blobs tbody tr'), /^3\b/);
  await t.page.locator('.blobs tbody').getByRole('button', { name: '4', exact: true }).click();
  await shows('[data-unit=voxel]', /30, 48, 36/);
  await shows('[data-blob]', /sphericity0\.94/);
  await t.page.locator('input[aria-label="Slice along z"]').fill('32');
  await drawn(t.page, 'z', 32);
  await soon(async () => {
    await t.page.mouse.click(...(await point(62, 30))); // a click on a blob chooses it
    return text('[data-blob]');
  }, (details) => /0\.93/.test(details));
  const top = await voxel(47.5, 39.5 - 38);
  const without = await colourAt(t.page, Z, ...top, 9);
  await t.page.getByLabel('Field of view').check();
  await soon(() => colourAt(t.page, Z, ...top, 9), (colour) => colour[2] > without[2] + 10);
  await t.page.getByLabel('Map', { exact: true }).selectOption('3'); // the porosity map
  await soon(async () => colourAt(t.page, Z, ...(await voxel(4, 4))), ([, g, b]) => b > g + 10); // viridis begins in violet
});

test('slices and their blobs are drawn again when the graphics process of the browser ended', options, async () => {
  t.expected = /CONTEXT_LOST|WebGL|GPU/i;
  await start('at=62,30,32&labels=true');
  const coloured = async () => colourAt(t.page, Z, ...(await voxel(62, 30)));
  const before = await soon(coloured, (colour) => Math.max(...colour) - Math.min(...colour) > 20);
  await t.page.evaluate(() => {
    window.restored = 0;
    document.addEventListener('contextrestored', () => window.restored++, true);
  });
  const session = await t.browser.newBrowserCDPSession();
  await session.send('Browser.crashGpuProcess');
  await soon(() => t.page.evaluate(() => window.restored), (times) => times >= 3, 150); // else nothing was lost, and this shows nothing
  await soon(coloured, (colour) => colour.every((one, i) => Math.abs(one - before[i]) < 4));
});

test('two volumes: side by side, swiped, difference', options, async () => {
  await start('at=56,40,32&panels=compare&window=0,0.1');
  await t.page.getByRole('button', { name: 'side', exact: true }).click();
  await near(() => grey(0.25, 0.5), 76);
  await t.page.getByRole('button', { name: 'swipe' }).click();
  await near(() => at(30, 60), 76);
  await near(() => at(70, 56), 255 * 0.34, 5);
  await t.page.getByLabel('Border').fill('0.98');
  await t.page.waitForTimeout(200);
  await near(() => at(70, 56), 76);
  await t.page.getByRole('button', { name: 'difference' }).click();
  await soon(async () => colourAt(t.page, Z, ...(await voxel(70, 56))), ([r, , b]) => b > r + 10); // first − second is below zero: blue
  await near(async () => (await colourAt(t.page, Z, ...(await voxel(30, 60))))[0], 242, 6);
});

test('an oblique slice', options, async () => {
  await t.open('layout=oblique&fourth=oblique&plane=0,0&at=24,38,32&crosshair=false');
  const O = 'canvas[data-axis=oblique]';
  await t.page.waitForFunction(() => Number(document.querySelector('canvas[data-axis=oblique]').dataset.pixels) > 200);
  await near(async () => (await colourAt(t.page, O))[0], 255);
  await t.page.locator(O).focus();
  for (let i = 0; i < 3; i++) await key('ArrowDown');
  await shows('.pane-detail', /tilt 15°/);
  await t.page.locator(O).hover();
  await t.page.mouse.wheel(0, 100);
  await t.page.waitForTimeout(300);
  assert.match(await hashOf(t.page), /at=\d+,\d+,33/);
});

test('the address holds the view, and opens it again', options, async () => {
  await start('at=24,38,32');
  await key('k');
  await key('i');
  await t.page.waitForTimeout(400);
  const hash = await t.page.evaluate(() => location.hash.slice(1));
  await t.page.goto('about:blank');
  await t.page.goto(`${t.mock.address}#${hash}`);
  await drawn(t.page, 'z', 32);
  assert.equal((await hashOf(t.page)).includes('map=bone'), true);
  await near(async () => (await colourAt(t.page, Z, ...(await voxel(24, 38))))[0], 0);
});

test('a broken address does no harm', options, async () => {
  await start('at=1e99,a,3&zoom=NaN&map=%E0%A4%A&window=1&measures=7&toml=x&region=%7B&layout=row');
  await drawn(t.page, 'z');
});
