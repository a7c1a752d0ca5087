// SPDX-License-Identifier: Apache-2.0
// The scan: what is shown follows the text, the text follows the controls, and nothing else in it changes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { colourAt } from './browser.mjs';
import { options, setUp } from './helpers.mjs';
import { TOML } from './mock.mjs';

const t = setUp({ server: { kind: 'scan' } });
const pane = (name) => `[data-picture=${name}] canvas`;
const toml = () => t.page.locator('.toml').inputValue();
/** The slice is there, and drawn: effects run after the next frame. */
const ready = async () => {
  await t.page.waitForSelector('[data-picture=slice][aria-busy=false]');
  await t.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(() => requestAnimationFrame(done), 100))));
};

test('frames and sinograms, raw and corrected, and what a correction changed', options, async () => {
  await t.open('');
  await ready();
  // Column 56 is a stripe (56 mod 17 = 5): corrected away, there in the raw frame.
  const stripe = async (x) => (await colourAt(t.page, pane('sinogram'), (x + 0.5) / 120, 0.4))[0];
  const corrected = (await stripe(56)) - (await stripe(54));
  await t.page.getByRole('button', { name: 'line' }).click();
  await t.soon(async () => (await stripe(56)) - (await stripe(54)), (step) => step > corrected + 10);
  await t.page.getByRole('button', { name: 'raw' }).click();
  await t.soon(async () => (await stripe(56)) - (await stripe(54)), (step) => step < corrected - 3); // counts: darker
  await t.page.locator('[data-kind=rings]').getByRole('button', { name: 'change' }).click();
  await t.soon(() => colourAt(t.page, pane('sinogram'), 56.5 / 120, 0.4), ([r, , b]) => b > r + 30); // taken away: blue
  await t.page.getByRole('slider', { name: 'View' }).fill('45');
  await t.shows('[data-picture=frame]', /view 45 of 89 · 180°/);
});

test('corrections switched, moved, tuned, added and removed, with the slice following', options, async () => {
  await t.open('');
  await ready();
  const ring = async () => (await colourAt(t.page, pane('slice'), 0.5, 0.5 + 18 / 96, 3))[0];
  const corrected = await ring();
  await t.page.locator('[data-kind=rings] input[type=checkbox]').uncheck();
  await t.soon(toml, (text) => /# \[\[correct\]\]\n# kind = "rings"/.test(text));
  await t.soon(ring, (grey) => grey > corrected + 10);
  await t.page.locator('[data-kind=rings] input[type=checkbox]').check();
  await t.near(ring, corrected);
  assert.equal(await toml(), TOML);
  await t.page.getByRole('slider', { name: 'iterations' }).fill('3');
  assert.equal(await toml(), TOML.replace('iterations = 1', 'iterations = 3'));
  await t.page.locator('[data-kind=rings]').getByLabel('method').selectOption('sorting');
  assert.ok(!/sigma_value/.test(await toml()), 'what sorting does not use is refused');
  await t.page.getByRole('button', { name: 'Back to the file' }).click();
  await t.page.getByRole('button', { name: 'rings earlier' }).click();
  assert.match(await toml(), /kind = "rings"[^]*kind = "dead-pixels"/);
  await t.page.getByLabel('Add a correction').selectOption('zingers');
  assert.match(await toml(), /kind = "zingers"/);
  await t.page.getByRole('button', { name: 'Remove zingers' }).click();
  await t.page.getByRole('button', { name: 'Back to the file' }).click();
  assert.equal(await toml(), TOML);
});

test('the axis dragged and found, a wrong text told, the file saved', options, async () => {
  await t.open('');
  await ready();
  const box = await t.page.locator(pane('sinogram')).boundingBox();
  const x = box.x + (61 / 120) * box.width;
  await t.page.mouse.move(x, box.y + 60);
  await t.page.mouse.down();
  await t.page.mouse.move(x + box.width / 60, box.y + 60, { steps: 3 });
  await t.page.mouse.up();
  await t.soon(toml, (text) => /detector_shift_u_mm = -0\.(3|4)/.test(text)); // two columns of 0.2 mm to the right
  await t.page.getByRole('button', { name: 'Find it' }).click();
  await t.soon(toml, (text) => /detector_shift_u_mm = -0\.15/.test(text)); // 61.25 − 60.5 columns
  await t.page.locator('.toml').fill(`${await toml()}broken = 1\n`);
  t.expected = /422/;
  await t.shows('.problem', /unknown key broken.*did you mean/);
  await t.page.locator('.toml').fill((await toml()).replace('broken = 1\n', ''));
  await t.page.waitForSelector('.problem', { state: 'detached' });
  await t.page.getByRole('button', { name: 'Save scan.toml' }).click();
  await t.shows('.notices', /scan\.toml is saved/);
  assert.equal(t.mock.saved, TOML.replace('axis_offset_mm = 0.1\n', 'axis_offset_mm = 0.1\ndetector_shift_u_mm = -0.15\n'));
});
