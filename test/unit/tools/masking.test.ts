import { describe, expect, it } from 'vitest';
import { RunOutput } from '../../../src/engine/runs/output/output.ts';
import { createRunMask, masker } from '../../../src/engine/tools/secrets/masking.ts';
import type { RunEvent } from '../../../src/entities/conversations/runs/event.ts';

const secrets = { A: 'abcd', B: 'abcdefgh', C: 'cdab', D: 'sk-17/ö"x', E: 'aaaaaaab' };
const mask = createRunMask(secrets) ?? expect.fail('no mask');
const texts = [
  'x abcd abcdefgh abcdabcdefg',
  'cdabcdab abcdef',
  'aaaaaaaaaaaaaaab aaaaaa',
  'sk-17/ö"x sk-17/ö"',
  'sk-17%2F%C3%B6%22x abc',
];

/** The same text in pieces of a length. */
const streamed = (text: string, length: number) => {
  const stream = mask.stream();
  const said: string[] = [];
  for (let from = 0; from < text.length; from += length) said.push(stream.feed(text.slice(from, from + length)));
  return said.join('') + stream.flush();
};

describe('a text that arrives in pieces', () => {
  it.each(texts)('is masked like the whole, wherever it is cut: %s', (text) => {
    const whole = streamed(text, text.length);
    for (let length = 1; length < text.length; length += 1) expect(streamed(text, length)).toBe(whole);
    for (const secret of Object.values(secrets)) expect(whole).not.toContain(secret);
  });

  it('leaves at once where nothing of it may be a secret', () => {
    const stream = mask.stream();
    expect([stream.feed('Hello, '), stream.feed('ab'), stream.feed('out')]).toEqual(['Hello, ', '', 'about']);
  });

  it('takes time in proportion to its length', () => {
    const stream = createRunMask({ A: `${'a'.repeat(2_000)}b` })?.stream() ?? expect.fail('no mask');
    let length = 0;
    for (let piece = 0; piece < 20_000; piece += 1) length += stream.feed('a').length;
    expect(length + stream.flush().length).toBe(20_000);
  });
});

it('is the same when a text is masked again', () => {
  const twice = masker(['secret', 'ecre']);
  expect(twice(twice('my secret'))).toBe(twice('my secret'));
});

it('keeps what the service names by: types, ids and names of functions', () => {
  const event = { type: 'abcd', itemId: 'abcd', name: 'abcd', detail: { name: 'abcd', list: ['abcd'] }, at: 1, none: null };
  expect(mask.value(event)).toEqual({ ...event, detail: { name: '[secret]', list: ['[secret]'] } });
});

it('shows the tokens of a text only where none of it was masked', () => {
  const output = new RunOutput((kind) => kind, 0, [], 1_000, false, mask);
  const say = (text: string) => {
    output.text(JSON.stringify(text));
    output.logprobs([{ token: text, logprob: 0, bytes: [], top_logprobs: [] }]);
  };
  for (const piece of ['Hi ', 'ab', 'cd', 'efgh', ' there', ' a', 'bout']) say(piece);
  output.close('completed');
  const events: readonly RunEvent[] = output.take();
  const done = events.find((event) => event.type === 'response.output_text.done');
  expect(done).toMatchObject({ text: 'Hi [secret] there about' });
  const tokens = done?.type === 'response.output_text.done' ? (done.logprobs ?? []).map(({ token }) => token) : [];
  expect(tokens).toEqual(['Hi ', ' there', ' a', 'bout']);
  expect(JSON.stringify(events)).not.toMatch(/abcd|efgh/);
});
