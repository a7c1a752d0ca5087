// SPDX-License-Identifier: Apache-2.0
// 3-D in a real browser, WebGL 2 drawn by SwiftShader on a small canvas: every control changes the picture.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { colourAt, hashOf } from './browser.mjs';
import { options, setUp } from './helpers.mjs';

const t = setUp();
const SMALL = { width: 1000, height: 300 };
const VIEW = '.volume-canvas';

/** Share of the screen's 3-D view that is far from its background, and its mean colour. */
async function picture() {
  const png = await t.page.locator(VIEW).screenshot({ timeout: 60000 });
  return t.page.evaluate(async (data) => {
    const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(data), (c) => c.charCodeAt(0))], { type: 'image/png' }));
    const canvas = Object.assign(document.createElement('canvas'), { width: bitmap.width, height: bitmap.height });
    const context = canvas.getContext('2d');
    context.drawImage(bitmap, 0, 0);
    const { data: pixels } = context.getImageData(0, 0, bitmap.width, bitmap.height);
    let [covered, r, g, b] = [0, 0, 0, 0];
    for (let i = 0; i < pixels.length; i += 4) {
      if (Math.abs(pixels[i] - 14) + Math.abs(pixels[i + 1] - 17) + Math.abs(pixels[i + 2] - 20) < 60) continue;
      covered++;
      r += pixels[i];
      g += pixels[i + 1];
      b += pixels[i + 2];
    }
    return { covered: covered / (pixels.length / 4), mean: [r, g, b].map((sum) => sum / Math.max(1, covered)), sum: r + g + b };
  }, png.toString('base64'));
}

/** The picture once it no longer changes. */
async function settled() {
  await t.page.waitForSelector(`${VIEW}[data-busy=false][data-drawn]`, { timeout: 60000 });
  let last = -1;
  for (let tries = 0; tries < 30; tries++) {
    const now = await picture();
    if (Math.abs(now.sum - last) <= 1e-6 * now.sum) return now;
    last = now.sum;
    await t.page.waitForTimeout(700);
  }
  throw new Error('the picture does not settle');
}
const start = async (hash) => {
  const page = await t.open(`layout=volume&theme=dark&texels=128&panels=volume&at=47,40,32&${hash}`, SMALL);
  page.setDefaultTimeout(90000); // compiling a shader takes seconds where there is no GPU
};

test('3-D is there again when the graphics process of the browser ended', options, async () => {
  t.expected = /WebGL|GPU/;
  await start('transfer=[[0,0],[0.2,0.3],[1,1]]&lit=false&volumeMap=grey');
  const before = await settled();
  assert.ok(before.covered > 0.03, `${before.covered}`);
  await t.page.evaluate(() => document.addEventListener('webglcontextrestored', () => (window.restored = true), true));
  const session = await t.browser.newBrowserCDPSession();
  await session.send('Browser.crashGpuProcess');
  await t.page.waitForFunction(() => window.restored, null, { timeout: 60000 });
  await t.soon(async () => (await picture()).covered / before.covered, (share) => share > 0.5); // a slow machine draws it with fewer pixels
});

test('volume: colours, opacity, transfer function, clipping, cut, rotation, maximum', { ...options, timeout: 400000 }, async () => {
  await start('transfer=[[0,0],[0.2,0.3],[1,1]]&lit=false&volumeMap=grey');
  const first = await settled();
  assert.ok(first.covered > 0.03, `only ${first.covered} of the picture is drawn`);
  assert.ok(t.mock.log.some((line) => /box\?box=0,96,0,80,0,64&max=64/.test(line)), 'coarse texels come first');
  assert.ok(t.mock.log.some((line) => /max=128/.test(line)), 'then fine ones');

  await t.page.getByRole('button', { name: 'hot' }).click();
  const hot = await settled();
  assert.ok(hot.mean[0] > hot.mean[2] + 20, `${hot.mean} is not red`);

  await t.page.getByRole('slider', { name: 'Clip z to' }).fill('30');
  const clipped = await settled();
  assert.ok(clipped.covered < 0.8 * hot.covered, `${clipped.covered} of ${hot.covered}`);
  await t.page.getByRole('button', { name: 'Whole volume' }).click();

  const curve = t.page.locator('.histogram canvas');
  const { width, height } = await curve.boundingBox();
  await curve.click({ position: { x: 0.62 * width, y: height - 8 } }); // a point that makes the body transparent
  await t.soon(() => hashOf(t.page), (hash) => (hash.match(/transfer=\[\[.*?\]\]/)?.[0].match(/\[/g) ?? []).length === 5);
  const thinner = await settled();
  assert.ok(thinner.sum < hot.sum, 'less is seen through a lower curve');

  await t.page.locator(VIEW).focus();
  const before = await hashOf(t.page);
  for (let i = 0; i < 4; i++) await t.key('ArrowRight');
  await t.soon(() => hashOf(t.page), (hash) => /camera=/.test(hash) && hash !== before);
  const turned = await settled();
  assert.notEqual(turned.sum, thinner.sum);

  await t.page.getByRole('button', { name: 'maximum', exact: true }).click();
  const maximum = await settled();
  assert.notEqual(maximum.sum, turned.sum);
});

test('a surface, its cut, a saved picture and a turntable; STL as a file', { ...options, timeout: 400000 }, async () => {
  await start('render=surface&iso=0.015&volumeMap=ice');
  const whole = await settled();
  const triangles = Number(await t.page.locator(VIEW).getAttribute('data-triangles'));
  assert.ok(triangles > 5000, `${triangles} triangles`);
  assert.ok(whole.covered > 0.05);
  await t.page.getByRole('button', { name: 'y', exact: true }).click();
  const cut = await settled();
  assert.notEqual(cut.sum, whole.sum);
  await t.page.getByRole('slider', { name: 'Value' }).fill('0.08'); // only the cube is above
  await t.soon(() => t.page.locator(VIEW).getAttribute('data-triangles').then(Number), (count) => count > 100 && count < 2000, 200);

  const [picture] = await Promise.all([t.page.waitForEvent('download'), t.page.getByRole('button', { name: 'Save picture' }).click()]);
  const png = readFileSync(await picture.path());
  assert.deepEqual([...png.subarray(1, 4)], [...Buffer.from('PNG')]);
  await t.page.getByLabel('pictures').fill('3');
  await t.key('Enter');
  const [turntable] = await Promise.all([t.page.waitForEvent('download', { timeout: 60000 }), t.page.getByRole('button', { name: 'Save turntable' }).click()]);
  const zip = readFileSync(await turntable.path());
  assert.equal(zip.readUInt32LE(0), 0x04034b50);
  assert.equal(zip.readUInt16LE(zip.length - 12), 3); // files in the archive
  const [stl] = await Promise.all([t.page.waitForEvent('download'), t.page.getByRole('button', { name: '.stl' }).click()]);
  assert.equal(stl.suggestedFilename(), 'surface.stl');
  assert.ok(t.mock.log.some((line) => /surface\?value=0\.08.*format=stl/.test(line)));
});
