// SPDX-License-Identifier: Apache-2.0
// Changes to the text of a scan file that leave everything else in it as it is: comments, order, spaces. A correction that is
// switched off stays in the text as comments.

export interface Part {
  kind: 'text' | 'correct';
  on: boolean;
  lines: string[];
}

const HEADER = /^\s*\[\[?[^\]]+\]\]?\s*(#.*)?$/;
const CORRECT = /^\s*\[\[\s*correct\s*\]\]\s*(#.*)?$/;
const CORRECT_OFF = /^#\s?(\[\[\s*correct\s*\]\].*)$/;

/** The text in parts: one for each correction, on or off, and what lies between them. */
export function parts(text: string): Part[] {
  const found: Part[] = [{ kind: 'text', on: true, lines: [] }];
  for (const line of text.split('\n')) {
    const last = found[found.length - 1];
    const off = line.match(CORRECT_OFF);
    if (off) found.push({ kind: 'correct', on: false, lines: [off[1]] });
    else if (CORRECT.test(line)) found.push({ kind: 'correct', on: true, lines: [line] });
    else if (last.kind === 'correct' && !last.on && (line.startsWith('#') || line === '')) last.lines.push(line.replace(/^# ?/, ''));
    else if (last.kind === 'correct' && (HEADER.test(line) || !last.on)) found.push({ kind: 'text', on: true, lines: [line] });
    else last.lines.push(line);
  }
  return found;
}

export const join = (all: Part[]): string => all.flatMap(({ kind, on, lines }) => (kind === 'correct' && !on ? lines.map((line) => (line === '' ? '' : `# ${line}`)) : lines)).join('\n');

const assignment = (key: string) => new RegExp(`^(\\s*${key}\\s*=\\s*)("(?:[^"\\\\]|\\\\.)*"|'[^']*'|\\[[^\\]]*\\]|[^#]*?)(\\s*(?:#.*)?)$`);

export function getKey(lines: string[], key: string): string | null {
  for (const line of lines) {
    const match = line.match(assignment(key));
    if (match) return match[2].trim();
  }
  return null;
}

export function setKey(lines: string[], key: string, value: string): string[] {
  let found = false;
  const next = lines.map((line) => {
    const match = line.match(assignment(key));
    if (!match || found) return line;
    found = true;
    return `${match[1]}${value}${match[3]}`;
  });
  if (found) return next;
  let end = next.length;
  while (end > 1 && next[end - 1].trim() === '') end--;
  return [...next.slice(0, end), `${key} = ${value}`, ...next.slice(end)];
}

export const removeKeys = (lines: string[], names: string[]): string[] => lines.filter((line) => !names.some((key) => assignment(key).test(line)));

export const keys = (lines: string[]): string[] => lines.flatMap((line) => line.match(/^\s*([A-Za-z0-9_-]+)\s*=/)?.[1] ?? []);

/** The correction parts, changed; the rest of the text stays. */
export function changeCorrections(text: string, change: (corrections: Part[]) => Part[]): string {
  const all = parts(text);
  const corrections = change(all.filter(({ kind }) => kind === 'correct'));
  let next = 0;
  const out = all.flatMap((part) => (part.kind === 'text' ? [part] : next < corrections.length ? [corrections[next++]] : []));
  const rest = corrections.slice(next).map((part) => ({ ...part, lines: ['', ...part.lines] }));
  return join([...out, ...rest]);
}

export const corrections = (text: string): Part[] => parts(text).filter(({ kind }) => kind === 'correct');
export const kindOf = (part: Part): string => (getKey(part.lines, 'kind') ?? '?').replace(/["']/g, '');

/** Lines [from, to) of a section, its header included; null where it is not there. */
function section(lines: string[], name: string): [number, number] | null {
  const from = lines.findIndex((line) => new RegExp(`^\\s*\\[\\s*${name}\\s*\\]`).test(line));
  if (from < 0) return null;
  const after = lines.findIndex((line, i) => i > from && (HEADER.test(line) || CORRECT_OFF.test(line)));
  return [from, after < 0 ? lines.length : after];
}

export function getSectionKey(text: string, name: string, key: string): string | null {
  const lines = text.split('\n');
  const range = section(lines, name);
  return range && getKey(lines.slice(...range), key);
}

export function setSectionKey(text: string, name: string, key: string, value: string): string {
  const lines = text.split('\n');
  const range = section(lines, name);
  if (!range) return `${text.replace(/\n*$/, '\n')}\n[${name}]\n${key} = ${value}\n`;
  return [...lines.slice(0, range[0]), ...setKey(lines.slice(...range), key, value), ...lines.slice(range[1])].join('\n');
}
