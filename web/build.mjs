// SPDX-License-Identifier: Apache-2.0
// Bundles src/ into the files that are compiled into the program: index.html, app.js, app.css and the licences of what is in
// app.js. The output depends on package-lock.json and src/ alone: no dates, no paths.   node build.mjs [--out FOLDER]
import { build } from 'esbuild';
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] === '--out' ? process.argv[3] : join(here, 'dist');
mkdirSync(out, { recursive: true });

const result = await build({
  absWorkingDir: here,
  entryPoints: { app: 'src/main.tsx' },
  bundle: true,
  minify: true,
  format: 'iife',
  target: ['es2022'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  define: { 'process.env.NODE_ENV': '"production"', global: 'globalThis' },
  legalComments: 'none',
  charset: 'utf8',
  metafile: true,
  outdir: out,
  logLevel: 'warning',
});
copyFileSync(join(here, 'src/index.html'), join(out, 'index.html'));

// Every package of which a line is in the bundle, with its own words.
const packages = new Set();
for (const output of Object.values(result.metafile.outputs))
  for (const [file, part] of Object.entries(output.inputs)) {
    const name = file.match(/.*node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1];
    if (name && part.bytesInOutput > 0) packages.add(name);
  }
const notices = [...packages].sort().map((name) => {
  const folder = join(here, 'node_modules', name);
  const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const text = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file)).sort()
    .map((file) => readFileSync(join(folder, file), 'utf8').replace(/\r/g, '').trim());
  return `${'='.repeat(78)}\n${name} ${version} (${license})\n${'='.repeat(78)}\n\n${text.join('\n\n') || `The package names its licence only: ${license}.`}\n`;
});
writeFileSync(join(out, 'LICENSES.txt'), `The page of lepus view holds parts of these packages.\n\n${notices.join('\n')}`);

for (const name of ['app.js', 'app.css', 'index.html', 'LICENSES.txt']) {
  const file = join(out, name);
  if (!existsSync(file)) throw new Error(`${file} was not built`);
  console.log(`${name.padEnd(13)} ${statSync(file).size} bytes, ${gzipSync(readFileSync(file), { level: 9 }).length} in gzip`);
}
if (process.argv.includes('--what')) {
  const largest = Object.entries(Object.values(result.metafile.outputs).find((output) => output.entryPoint)?.inputs ?? {})
    .sort((a, b) => b[1].bytesInOutput - a[1].bytesInOutput).slice(0, 40);
  for (const [file, part] of largest) console.log(String(part.bytesInOutput).padStart(8), file);
}
