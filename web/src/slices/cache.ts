// SPDX-License-Identifier: Apache-2.0
// Pictures that were fetched, the least recently used ones forgotten when they take more than a given number of bytes.
import type { Picture } from '../core/protocol';

const bytesOf = ({ width, height, steps }: Picture): number => steps?.of.byteLength ?? 4 * width * height; // at least; few are unpacked

export class PictureCache {
  private kept = new Map<string, Picture>();
  private bytes = 0;
  constructor(private readonly limit: number) {}

  get(key: string): Picture | undefined {
    const picture = this.kept.get(key);
    if (picture) {
      this.kept.delete(key);
      this.kept.set(key, picture);
    }
    return picture;
  }

  has = (key: string): boolean => this.kept.has(key);

  put(key: string, picture: Picture): void {
    if (this.kept.has(key)) return;
    this.kept.set(key, picture);
    this.bytes += bytesOf(picture);
    for (const [oldest, old] of this.kept) {
      if (this.bytes <= this.limit) break;
      this.kept.delete(oldest);
      this.bytes -= bytesOf(old);
    }
  }

  get size(): number {
    return this.bytes;
  }
}

export const cache = new PictureCache(256 * 2 ** 20);
