// SPDX-License-Identifier: Apache-2.0
// Files in one archive, stored as they are: PNGs do not get smaller.
const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let bit = 0; bit < 8; bit++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n >>> 0;
});

export function crc32(bytes: Uint8Array): number {
  let sum = 0xffffffff;
  for (const byte of bytes) sum = TABLE[(sum ^ byte) & 255] ^ (sum >>> 8);
  return (sum ^ 0xffffffff) >>> 0;
}

/** Little-endian numbers of the given widths. */
function record(...fields: [bytes: 2 | 4, value: number][]): Uint8Array {
  const out = new DataView(new ArrayBuffer(fields.reduce((sum, [bytes]) => sum + bytes, 0)));
  let at = 0;
  for (const [bytes, value] of fields) {
    if (bytes === 2) out.setUint16(at, value, true);
    else out.setUint32(at, value, true);
    at += bytes;
  }
  return new Uint8Array(out.buffer);
}

/** 1 January 1980, the earliest that the format knows. */
const DATE = 0x21;

export function zip(files: { name: string; bytes: Uint8Array }[]): Blob {
  const parts: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let offset = 0;
  for (const { name, bytes } of files) {
    const text = new TextEncoder().encode(name);
    const common: [2 | 4, number][] = [[2, 20], [2, 0], [2, 0], [2, 0], [2, DATE], [4, crc32(bytes)], [4, bytes.length], [4, bytes.length], [2, text.length], [2, 0]];
    const head = record([4, 0x04034b50], ...common);
    parts.push(head, text, bytes);
    directory.push(record([4, 0x02014b50], [2, 20], ...common, [2, 0], [2, 0], [2, 0], [4, 0], [4, offset]), text);
    offset += head.length + text.length + bytes.length;
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0);
  const end = record([4, 0x06054b50], [2, 0], [2, 0], [2, files.length], [2, files.length], [4, size], [4, offset], [2, 0]);
  return new Blob([...parts, ...directory, end] as BlobPart[], { type: 'application/zip' });
}
