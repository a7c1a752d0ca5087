// SPDX-License-Identifier: Apache-2.0
// A server that answers as docs/view-protocol.md says, of the synthetic object of phantom.mjs. `node test/mock.mjs [volume|scan|run] [port]`
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as phantom from './phantom.mjs';

const dist = join(dirname(fileURLToPath(import.meta.url)), '../dist');
const TYPES = { html: 'text/html; charset=utf-8', js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8' };
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' blob: data:; connect-src 'self'; worker-src blob:; base-uri 'none'; form-action 'none'";
const PLANE = { z: [0, 1], y: [0, 2], x: [1, 2] };
const NUMBER = { x: 0, y: 1, z: 2 };

class Refused extends Error {
  constructor(status, what, why = '', hint = '') {
    super(what);
    Object.assign(this, { status, body: { error: { what, where: '', why, hint } } });
  }
}

const grid = { size: phantom.SIZE, step_mm: phantom.STEP, origin_mm: phantom.ORIGIN };
const plain = { type: 'f32', unit: '1/mm', range: [0, 0.1], percentiles: { 0.1: 0, 1: 0, 50: 0.03, 99: 0.06, 99.9: 0.1 }, not_finite: 0, labels: null, hu: { water_per_mm: phantom.WATER }, changed: 0, gone: '', pyramid: { state: 'there', done: 1 } };
const coarse = [2, 2, 2].map((factor, i) => Math.ceil(phantom.SIZE[i] / factor));
const levels = [{ factor: 1, size: phantom.SIZE }, { factor: 2, size: coarse }];

function volumesOf(large) {
  const first = { ...plain, ...grid, id: 0, name: 'part.mha', levels, labels: { volume: 2, blobs: phantom.PORES.length }, field_of_view: { center_mm: [0, 0], radius_mm: 3.8 }, of: phantom.value };
  if (large) return [{ ...first, size: [1024, 1024, 256], step_mm: [0.01, 0.01, 0.04], levels: [{ factor: 1, size: [1024, 1024, 256], plain: true }], labels: null, of: (x, y, z) => ((x ^ y ^ z) & 255) / 2550 }];
  return [
    first,
    { ...plain, ...grid, id: 1, name: 'second.mha', levels, of: phantom.second },
    { ...plain, ...grid, id: 2, name: 'labels.mha', type: 'u32', unit: 'label', range: [0, 6], levels, of: phantom.label },
    { ...plain, id: 3, name: 'porosity.mha', unit: 'raw', hu: null, range: [0, 0.9], size: phantom.POROSITY_SIZE, step_mm: [0.8, 0.8, 1.2], origin_mm: [-4.4, -3.6, -4.2], levels: [{ factor: 1, size: phantom.POROSITY_SIZE }], of: phantom.porosity },
  ];
}

export const TOML = `# a test
[frames]
files = "frames/*.tif"

[geometry]
source_axis_mm = 500      # given by the scanner
source_detector_mm = 1000
pixel_width_mm = 0.2
axis_offset_mm = 0.1

[[correct]]
kind = "dead-pixels"

[[correct]]
kind = "rings"
method = "trend"
iterations = 1
sigma_value = 0.2

[output]
file = "volume.mha"
`;
const scan = { file: 'scan.toml', views: 90, columns: 120, rows: 64, angles: Array.from({ length: 90 }, (_, i) => 4 * i), corrections: [{ kind: 'dead-pixels', options: {} }, { kind: 'rings', options: { method: 'trend', iterations: 1, sigma_value: 0.2 } }], toml: TOML, axis_column: 60.5, stages: ['raw', 'corrected', 'line'], grid: { size: [96, 96, 64], step_mm: [0.1, 0.1, 0.1], origin_mm: [-4.75, -4.75, -3.15] } };

/** The same noise at the same voxel each time. */
const grain = (x, y, z) => {
  let sum = 0;
  for (let i = 0; i < 4; i++) sum += (((Math.imul(x + 131 * y + 7919 * z + 104729 * i, 2654435761) >>> 8) & 0xffff) / 65535 - 0.5);
  return sum;
};

export async function serve({ kind = 'volume', port = 0, delay = 0, large = false, noise = 0 } = {}) {
  const volumes = volumesOf(large).map((volume) => (volume.unit === '1/mm' && noise ? { ...volume, of: (x, y, z) => volume.of(x, y, z) + noise * grain(x, y, z), range: [-0.006, 0.106] } : volume));
  const listeners = new Set();
  const log = [];
  const run = kind === 'run' ? { output: 'part.mha', state: 'running', slices: 64, finished: [[0, 16]], seconds_left: 75, rate: 1.6, residual: [1, 0.4, 0.2, 0.13] } : null;
  const mock = { log, run, saved: null, fail: null, volumes };

  const list = (query, name, length) => {
    const numbers = (query.get(name) ?? '').split(',').map(Number);
    if (numbers.length !== length || !numbers.every(Number.isFinite)) throw new Refused(400, `${name} needs ${length} numbers`, query.get(name) ?? 'it is missing');
    return numbers;
  };
  const optional = (query, name, length, otherwise) => (query.has(name) ? list(query, name, length) : otherwise);
  const unfinished = (z) => run && !run.finished.some(([from, to]) => z >= from && z < to);
  const at = (volume, x, y, z) => (unfinished(z) ? 0 : volume.of(x, y, z));

  const rangeOf = (values) => {
    const finite = Array.from(values).filter(Number.isFinite);
    const [low, high] = finite.reduce(([least, most], one) => [Math.min(least, one), Math.max(most, one)], [Infinity, -Infinity]);
    return high > low ? [low, high] : [Number.isFinite(low) ? low : 0, (Number.isFinite(low) ? low : 0) + 1];
  };
  function pixels(response, width, height, values, query, more = {}) {
    const format = query.get?.('format') ?? query.format ?? 'u8';
    const [low, high] = query.get ? optional(query, 'window', 2, [0, 0.1]) : query.window ?? [0, 1];
    const own = format === 'u16' && rangeOf(values);
    const bytes = own ? Buffer.from(Uint16Array.from(values, (one) => (Number.isNaN(one) ? 0 : 1 + Math.round((65534 * (one - own[0])) / (own[1] - own[0])))).buffer)
      : format === 'f32' ? Buffer.from(Float32Array.from(values).buffer) : format === 'u32' ? Buffer.from(Uint32Array.from(values).buffer)
      : Buffer.from(Uint8Array.from(values, (one) => Math.round(255 * Math.min(1, Math.max(0, (one - low) / (high - low))))));
    response.writeHead(200, { 'Content-Type': 'application/octet-stream', 'X-Lepus-Size': `${width},${height}`, 'X-Lepus-Window': `${own || [low, high]}`, ...(own && { 'X-Lepus-Format': 'u16' }), ...more });
    response.end(bytes);
  }

  function slice(of, volume, query, response) {
    const axis = query.get('axis');
    const index = Number(query.get('index'));
    const n = NUMBER[axis];
    if (!PLANE[axis] || !(index >= 0 && index < volume.size[n])) throw new Refused(400, 'no such slice', `${axis} ${index}`);
    const [a, b] = PLANE[axis];
    const [a0, a1, b0, b1] = optional(query, 'box', 4, [0, volume.size[a], 0, volume.size[b]]);
    const max = Number(query.get('max') ?? 1024);
    const factor = Math.max(1, Math.ceil(Math.max(a1 - a0, b1 - b0) / max));
    const [width, height] = [Math.ceil((a1 - a0) / factor), Math.ceil((b1 - b0) / factor)];
    const slab = Number(query.get('slab') ?? 1);
    const first = Math.max(0, index - ((slab - 1) >> 1));
    const last = Math.min(volume.size[n], index - ((slab - 1) >> 1) + slab);
    const mode = query.get('mode') ?? 'one';
    const out = new Float32Array(width * height);
    const voxel = [0, 0, 0];
    for (let row = 0; row < height; row++)
      for (let column = 0; column < width; column++) {
        voxel[a] = a0 + column * factor;
        voxel[b] = b0 + row * factor;
        let result = mode === 'min' ? Infinity : mode === 'max' ? -Infinity : 0;
        for (let k = slab > 1 ? first : index; k < (slab > 1 ? last : index + 1); k++) {
          voxel[n] = k;
          const one = of(...voxel);
          result = slab === 1 ? one : mode === 'min' ? Math.min(result, one) : mode === 'max' ? Math.max(result, one) : result + one / (last - first);
        }
        out[row * width + column] = result;
      }
    pixels(response, width, height, out, query, { 'X-Lepus-Level': '0', 'X-Lepus-Step': String(factor), 'X-Lepus-Factor': String(factor), 'X-Lepus-Index': String(index) });
  }

  function texels(volume, query, response) {
    const [x0, x1, y0, y1, z0, z1] = list(query, 'box', 6);
    const max = Math.min(512, Number(query.get('max') ?? 256));
    const factor = Math.max(1, Math.ceil(Math.max(x1 - x0, y1 - y0, z1 - z0) / max));
    const size = [x1 - x0, y1 - y0, z1 - z0].map((n) => Math.ceil(n / factor));
    const out = [];
    for (let z = 0; z < size[2]; z++) for (let y = 0; y < size[1]; y++) for (let x = 0; x < size[0]; x++) out.push(at(volume, x0 + x * factor, y0 + y * factor, z0 + z * factor));
    pixels(response, 1, 1, out, query, { 'X-Lepus-Size': size.join(), 'X-Lepus-Level': '0', 'X-Lepus-Step': String(factor), 'X-Lepus-Factor': String(factor) });
  }

  function oblique(volume, query, response) {
    const [origin, u, v] = ['origin', 'u', 'v'].map((name) => list(query, name, 3));
    const [width, height] = list(query, 'size', 2);
    const step = Number(query.get('step'));
    const out = new Float32Array(width * height);
    for (let r = 0; r < height; r++)
      for (let c = 0; c < width; c++) {
        const voxel = [0, 1, 2].map((i) => Math.round((origin[i] + step * (c * u[i] + r * v[i]) - volume.origin_mm[i]) / volume.step_mm[i]));
        out[r * width + c] = voxel.every((one, i) => one >= 0 && one < volume.size[i]) ? volume.of(...voxel) : NaN;
      }
    pixels(response, width, height, out, query);
  }

  function* inBox([x0, x1, y0, y1, z0, z1], shape) {
    const half = [(x1 - x0) / 2, (y1 - y0) / 2, (z1 - z0) / 2];
    for (let z = z0; z < z1; z++) for (let y = y0; y < y1; y++) for (let x = x0; x < x1; x++)
      if (shape !== 'ellipsoid' || ((x + 0.5 - x0 - half[0]) / half[0]) ** 2 + ((y + 0.5 - y0 - half[1]) / half[1]) ** 2 + ((z + 0.5 - z0 - half[2]) / half[2]) ** 2 <= 1) yield [x, y, z];
  }

  const answers = {
    slice: (volume, query, response) => slice((...voxel) => at(volume, ...voxel), volume, query, response),
    box: texels,
    oblique,
    value(volume, query) {
      const voxel = list(query, 'at', 3);
      const one = volume.of(...voxel.map(Math.round));
      return { value: one, hu: volume.hu && 1000 * (one / phantom.WATER - 1), mm: voxel.map((p, i) => volume.origin_mm[i] + p * volume.step_mm[i]) };
    },
    profile(volume, query) {
      const [from, to, samples] = [list(query, 'from', 3), list(query, 'to', 3), Number(query.get('samples'))];
      const length = Math.hypot(...from.map((p, i) => (to[i] - p) * volume.step_mm[i]));
      const places = Array.from({ length: samples }, (_, i) => i / (samples - 1));
      return { mm: places.map((t) => t * length), values: places.map((t) => volume.of(...from.map((p, i) => Math.round(p + t * (to[i] - p))))) };
    },
    histogram(volume, query) {
      const bins = Number(query.get('bins'));
      const [low, high] = volume.range;
      const counts = new Array(bins).fill(0);
      const stride = large ? 17 : 1;
      for (let z = 0; z < volume.size[2]; z += stride) for (let y = 0; y < volume.size[1]; y += stride) for (let x = 0; x < volume.size[0]; x += stride)
        counts[Math.min(bins - 1, Math.floor(((volume.of(x, y, z) - low) / (high - low)) * bins))]++;
      return { low, high, counts, below: 0, above: 0, not_finite: 0, voxels: 1, sampled: false, percentiles: volume.percentiles };
    },
    statistics(volume, query) {
      const values = [...inBox(list(query, 'box', 6), query.get('shape'))].map((voxel) => volume.of(...voxel));
      const mean = values.reduce((sum, one) => sum + one, 0) / values.length;
      return { voxels: values.length, not_finite: 0, mean, sd: Math.sqrt(values.reduce((sum, one) => sum + (one - mean) ** 2, 0) / values.length), min: Math.min(...values), max: Math.max(...values), mm3: values.length * volume.step_mm.reduce((p, s) => p * s, 1) };
    },
    blobs(volume) {
      if (!volume.labels) throw new Refused(404, 'no blobs', 'the volume has no labels');
      return {
        columns: ['label', 'voxels', 'volume_mm3', 'diameter_mm', 'sphericity', 'x_mm', 'y_mm', 'z_mm', 'mean'],
        rows: phantom.PORES.map(([label, x, y, z, r]) => [label, Math.round(4.19 * r ** 3 / 1.5), 4.19 * (r * 0.1) ** 3, 0.2 * r, 0.9 + label / 100, ...[x, y, z].map((p, i) => phantom.ORIGIN[i] + p * phantom.STEP[i]), 0.001]),
      };
    },
    export(volume, query, response) {
      const box = list(query, 'box', 6);
      response.writeHead(200, { 'Content-Disposition': `attachment; filename="crop.${query.get('format')}"` });
      response.end(`crop ${box}`);
    },
    surface(volume, query, response) {
      response.writeHead(200, { 'Content-Disposition': `attachment; filename="surface.${query.get('format')}"` });
      response.end(`surface ${query.get('value')}`);
    },
  };

  /** What a text changes: rings where they are not corrected, the object shifted where the axis is wrong. */
  const rings = (toml) => /kind = "rings"/.test(toml.replace(/^#.*$/gm, ''));
  const offset = (toml) => Number(toml.match(/axis_offset_mm = ([-\d.]+)/)?.[1] ?? 0);
  function frame(body, response) {
    const line = (u, v, t) => Math.max(0, 30 ** 2 - (u - 60.5 - 12 * Math.sin(t)) ** 2) ** 0.5 / 40 + (body.stage === 'corrected' && rings(body.toml) ? 0 : 0.25 * (u % 17 === 5)) + 0.002 * v;
    const [width, height] = 'index' in body ? [scan.columns, scan.rows] : [scan.columns, scan.views];
    const out = Array.from({ length: width * height }, (_, i) => {
      const [u, r] = [i % width, Math.floor(i / width)];
      const p = 'index' in body ? line(u, r, (body.index * 4 * Math.PI) / 180) : line(u, body.row, (r * 4 * Math.PI) / 180);
      return body.stage === 'raw' ? 60000 * Math.exp(-p) : p;
    });
    pixels(response, width, height, out, body, { 'X-Lepus-Factor': '1' });
  }
  const scanAnswers = {
    frame, sinogram: frame,
    slice(body, response) {
      const shift = 10 * offset(body.toml) - 2;
      const out = Array.from({ length: 96 * 96 }, (_, i) => {
        const [x, y] = [i % 96, Math.floor(i / 96)];
        const r = Math.hypot(x - 47.5, y - 47.5);
        return phantom.value(x, Math.min(79, y), body.z ?? 32) + (rings(body.toml) ? 0 : 0.01 * (Math.round(r) % 9 === 0)) + 0.01 * Math.abs(shift) * (Math.abs(r - 36) < 1);
      });
      pixels(response, 96, 96, out, { format: 'f32' }, { 'X-Lepus-Seconds': '0.21', 'X-Lepus-Step-Mm': '0.1,0.1', 'X-Lepus-Factor': '1' });
    },
    axis: () => ({ column: 61.25, doubt: '' }),
    save(body) {
      if (body.read !== TOML && body.read !== mock.saved) throw new Refused(409, 'The scan file changed on the disk', 'it is not the text that this page began with', 'reload this page');
      mock.saved = body.toml;
      return { backup: 'scan.toml.bak' };
    },
  };

  const read = (request) => new Promise((done) => {
    const parts = [];
    request.on('data', (part) => parts.push(part)).on('end', () => done(JSON.parse(Buffer.concat(parts).toString() || '{}')));
  });

  async function handle(request, response) {
    const url = new URL(request.url, 'http://localhost');
    const query = url.searchParams;
    const [, api, what, id, action] = url.pathname.split('/');
    log.push(request.url);
    if (api !== 'api') {
      const name = what === undefined && (url.pathname === '/' ? 'index.html' : url.pathname.slice(1));
      if (!['index.html', 'app.js', 'app.css'].includes(name)) throw new Refused(404, 'no such page');
      response.writeHead(200, { 'Content-Type': TYPES[name.split('.').pop()], 'Content-Security-Policy': POLICY });
      return response.end(readFileSync(join(dist, name)));
    }
    if (mock.fail?.test(url.pathname)) throw new Refused(500, 'It broke', 'the test wanted it', 'do not worry');
    if (delay) await new Promise((wake) => setTimeout(wake, delay));
    const json = (body) => {
      response.writeHead(200, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    if (what === 'session') return json({ version: '0', kind, volumes: kind === 'scan' ? [] : volumes, scan: kind === 'scan' ? scan : null, run });
    if (what === 'events') {
      response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
      response.write('event: session\ndata: {}\n\n');
      listeners.add(response);
      return request.on('close', () => listeners.delete(response));
    }
    if (what === 'difference') return slice((...voxel) => volumes[query.get('a')].of(...voxel) - volumes[query.get('b')].of(...voxel), volumes[0], query, response);
    if (what === 'scan') {
      const body = request.method === 'POST' ? await read(request) : { toml: TOML, stage: query.get('stage'), ...(id === 'frame' ? { index: Number(query.get('index')) } : { row: Number(query.get('row')) }) };
      if (/broken/.test(body.toml)) throw new Refused(422, 'scan.toml:3: unknown key broken', 'it is not a key of lepus', 'did you mean brightness?');
      const answer = scanAnswers[id](body, response);
      return answer && json(answer);
    }
    const volume = volumes.find((one) => String(one.id) === id);
    if (what !== 'volumes' || !volume || !answers[action]) throw new Refused(404, 'No such thing', request.url);
    const answer = answers[action](volume, query, response);
    return answer && json(answer);
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error) => {
      if (!(error instanceof Refused)) console.error(error);
      response.writeHead(error.status ?? 500, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(error.body ?? { error: { what: 'The mock failed', why: String(error), hint: '' } }));
    });
  });
  await new Promise((done) => server.listen(port, '127.0.0.1', done));
  server.unref(); // of a test that failed it is never closed
  mock.address = `http://127.0.0.1:${server.address().port}/`;
  mock.send = (event, data) => listeners.forEach((response) => response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`));
  mock.stay = () => server.ref();
  mock.close = () => {
    for (const response of listeners) response.end();
    server.closeAllConnections();
    server.close();
  };
  return mock;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const mock = await serve({ kind: process.argv[2], port: Number(process.argv[3] ?? 0) });
  mock.stay();
  console.log(mock.address);
}
