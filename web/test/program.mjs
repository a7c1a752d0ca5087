// SPDX-License-Identifier: Apache-2.0
// The program itself, LEPUS_PROGRAM=build/bin/lepus, as a server of the page.
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const program = process.env.LEPUS_PROGRAM && resolve(fileURLToPath(new URL('../..', import.meta.url)), process.env.LEPUS_PROGRAM);
export const NO_PROGRAM = program ? false : 'LEPUS_PROGRAM is not set';

/** Starts `lepus view` in a folder, does the work with its address, and ends it. */
export async function whileViewing(folder, words, work) {
  const server = spawn(program, ['view', ...words, '--no-browser', '--threads', '2'], { cwd: folder });
  try {
    const address = await new Promise((found, failed) => {
      let said = '';
      const hear = (part) => {
        said += part;
        const match = said.match(/http:\/\/\S+/);
        if (match) found(match[0]);
      };
      server.stdout.on('data', hear);
      server.stderr.on('data', hear);
      server.on('exit', () => failed(new Error(`lepus view ended: ${said}`)));
    });
    await work(address);
  } finally {
    server.kill();
  }
}
