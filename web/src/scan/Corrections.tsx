// SPDX-License-Identifier: Apache-2.0
// The chain of corrections: each switched, moved, tuned, removed, and looked at alone; others added.
import { digits } from '../core/axes';
import { changeCorrections, corrections, getKey, kindOf, removeKeys, setKey, type Part } from './toml';
import { NEW, ONLY_FOR, OPTIONS, type Option } from './options';
import { Choice, Slider, Toggle } from '../ui/Fields';
import { Icon } from '../ui/Icon';

interface Props {
  text: string;
  change: (text: string) => void;
  /** The correction whose change is shown, or null. */
  looked: number | null;
  look: (index: number | null) => void;
}

function Control({ part, option, set }: { part: Part; option: Option; set: (value: string) => void }) {
  const text = getKey(part.lines, option.key);
  const label = option.key.replace(/_px$/, ' px').replace(/_/g, ' ');
  if (option.kind === 'switch') return <Toggle label={label} value={text === null ? option.start : text === 'true'} set={(on) => set(String(on))} />;
  if (option.kind === 'choice') return <Choice label={label} value={(text ?? option.choices[0]).replace(/"/g, '')} options={option.choices.map((one) => [one, one])} set={(one) => set(`"${one}"`)} />;
  const value = Number(text ?? option.start);
  return <Slider label={label} value={value} min={Math.min(option.min, value)} max={Math.max(option.max, value)} step={option.step} set={(one) => set(digits(one))} />;
}

/** The options of a kind that count for nothing beside a choice. */
const without = (kind: string, word: string): string[] => Object.entries(ONLY_FOR[kind]?.words ?? {}).flatMap(([key, words]) => (words.includes(word) ? [] : [key]));

function changed(kind: string, lines: string[], key: string, value: string): string[] {
  const next = setKey(lines, key, value);
  return key === ONLY_FOR[kind]?.choice ? removeKeys(next, without(kind, value.replace(/"/g, ''))) : next;
}

export function Corrections({ text, change, looked, look }: Props) {
  const chain = corrections(text);
  const put = (index: number, part: Part) => change(changeCorrections(text, (all) => all.map((one, i) => (i === index ? part : one))));
  const move = (from: number, to: number) => change(changeCorrections(text, (all) => {
    const next = [...all];
    next.splice(to, 0, ...next.splice(from, 1));
    return next;
  }));
  const remove = (index: number) => change(changeCorrections(text, (all) => all.filter((_, i) => i !== index)));
  const add = (kind: string) => kind && change(changeCorrections(text, (all) => [...all, { kind: 'correct', on: true, lines: ['[[correct]]', `kind = "${kind}"`, ...NEW[kind], ''] }]));
  return (
    <ol class="chain" aria-label="Corrections in their order">
      {chain.map((part, i) => {
        const kind = kindOf(part);
        const chosen = ONLY_FOR[kind] && (getKey(part.lines, ONLY_FOR[kind].choice) ?? ONLY_FOR[kind].start).replace(/"/g, '');
        const hidden = without(kind, chosen);
        const options = (OPTIONS[kind] ?? []).filter(({ key }) => !hidden.includes(key));
        return (
          <li key={`${i} ${kind}`} class={part.on ? '' : 'off'} data-kind={kind}>
            <div class="chain-head">
              <Toggle label={kind} value={part.on} set={(on) => put(i, { ...part, on })} />
              <span class="spacer" />
              <button class="small-button" aria-pressed={looked === i} disabled={!part.on} title="Show what it changes" onClick={() => look(looked === i ? null : i)}>change</button>
              <button class="icon small" aria-label={`${kind} earlier`} disabled={i === 0} onClick={() => move(i, i - 1)}><Icon name="up" /></button>
              <button class="icon small" aria-label={`${kind} later`} disabled={i === chain.length - 1} onClick={() => move(i, i + 1)}><Icon name="down" /></button>
              <button class="icon small" aria-label={`Remove ${kind}`} onClick={() => remove(i)}><Icon name="close" /></button>
            </div>
            {part.on && options.map((option) => <Control key={option.key} part={part} option={option} set={(value) => put(i, { ...part, lines: changed(kind, part.lines, option.key, value) })} />)}
          </li>
        );
      })}
      <li class="chain-add">
        <label class="field"><span>Add</span>
          <select value="" aria-label="Add a correction" onChange={(event) => { add(event.currentTarget.value); event.currentTarget.value = ''; }}>
            <option value="">a correction…</option>
            {Object.keys(NEW).map((kind) => <option key={kind} value={kind}>{kind}</option>)}
          </select>
        </label>
      </li>
    </ol>
  );
}
