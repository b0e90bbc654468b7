import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StreamParser } from '../../../src/engine/models/openai/stream-parser.ts';
import { type ModelDelta, ModelError } from '../../../src/engine/models/port.ts';
import { cpuMs } from '../../support/processes/clock.ts';
import { chatFrames } from '../../support/runs/upstream-frames.ts';

/** Deltas in a form that does not depend on where text is cut: neighbours of one kind are joined. */
function parse(bytes: Buffer, sizes: readonly number[] = [bytes.length]): readonly unknown[] {
  const parser = new StreamParser();
  const out: ModelDelta[] = [];
  let at = 0;
  for (let turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? bytes.length;
    parser.push(bytes.subarray(at, at + size), out);
    at += size;
  }
  parser.end(out);
  return decoded(out);
}

function decoded(deltas: readonly ModelDelta[]): readonly unknown[] {
  return deltas.map((delta) => ('json' in delta ? { ...delta, json: JSON.parse(delta.json) as unknown } : delta));
}

const chunk = (delta: object, more: object = {}) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: null, ...more }] })}\n\n`;
const finish = (reason = 'stop') => chunk({}, { finish_reason: reason });
const done = 'data: [DONE]\n\n';
const call = (part: object) => chunk({ tool_calls: [part] });

describe('the stream of an OpenAI-compatible upstream', () => {
  it('gives the same deltas however its bytes are cut into reads', () => {
    const texts = fc.array(
      fc.oneof(
        fc.string({ unit: 'grapheme', maxLength: 12 }),
        fc.constantFrom('"', '\\', '\\"', '\n', '€', '😀', '\u2028', 'data: ', ''),
      ),
      { maxLength: 12 },
    );
    const calls = fc.array(fc.record({ id: fc.uuid(), name: fc.constantFrom('add', 'find'), arguments: fc.json() }), {
      maxLength: 2,
    });
    fc.assert(
      fc.property(
        texts,
        calls,
        fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 8 }),
        fc.boolean(),
        (text, toolCalls, sizes, isCrlf) => {
          const frames = chatFrames({ text, toolCalls, reasoning: 'hm' }, 'm', true).join('');
          const bytes = Buffer.from(isCrlf ? frames.replaceAll('\n\n', '\r\n\r\n') : frames);
          const whole = parse(bytes);
          expect(parse(bytes, sizes)).toEqual(whole);
          expect(parse(bytes, [1])).toEqual(whole);
          const said = whole
            .filter((delta) => (delta as ModelDelta).type === 'text')
            .map((delta) => (delta as { json: string }).json);
          expect(said).toEqual(text.filter((piece) => piece !== ''));
          expect(whole.at(-1)).toEqual({ type: 'finish', reason: toolCalls.length > 0 ? 'tool_calls' : 'stop' });
        },
      ),
      { numRuns: 150 },
    );
  });

  it('is never misled by text that looks like the end of a chunk', () => {
    const tricky = [
      '},"finish_reason":null}]}',
      '"},"finish_reason":null}]}\n\ndata: [DONE]',
      '\\',
      '\\\\"',
      'plain',
      '"content":"x"',
      'plain',
    ];
    const bytes = Buffer.from(chatFrames({ text: tricky }, 'm', false).join(''));
    expect(parse(bytes).slice(0, -1)).toEqual(tricky.map((json) => ({ type: 'text', json })));
  });

  const text = (json: string) => ({ type: 'text', json });
  const start = (index: number, id: unknown, name: string) => ({ type: 'tool.start', index, id, name });
  const args = (index: number, json: string) => ({ type: 'tool.arguments', index, json });
  const usage = { type: 'usage', usage: { inputTokens: 3, outputTokens: 2, cachedTokens: 1, reasoningTokens: 0 } };
  const usageMember = { prompt_tokens: 3, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 1 } };
  const thoughtUsage = (completion: number, reasoning: number, total?: number) => {
    return {
      prompt_tokens: 3,
      completion_tokens: completion,
      total_tokens: total,
      completion_tokens_details: { reasoning_tokens: reasoning },
    };
  };
  const thoughtTokens = (outputTokens: number, reasoningTokens: number) => {
    return { type: 'usage', usage: { inputTokens: 3, outputTokens, cachedTokens: 0, reasoningTokens } };
  };
  const stop = { type: 'finish', reason: 'stop' };
  const toolCalls = { type: 'finish', reason: 'tool_calls' };

  it.each<[string, string, readonly unknown[]]>([
    [
      'comments, ids, event names and empty data lines',
      `: ping\n\nid: 3\nevent: message\ndata:\n\n${chunk({ content: 'a' })}: ping\n${finish()}${done}`,
      [text('a'), stop],
    ],
    ['data spread over lines', `data: {"choices":[{"delta":\ndata: {"content":"a"}}]}\n\n${finish()}${done}`, [text('a'), stop]],
    [
      'no space after data:',
      chunk({ content: 'a' }).replace('data: ', 'data:') + chunk({ content: 'b' }).replace('data: ', 'data:') + finish() + done,
      [text('a'), text('b'), stop],
    ],
    ['a byte order mark', `\ufeff${chunk({ content: 'a' })}${finish()}${done}`, [text('a'), stop]],
    ['no [DONE]', chunk({ content: 'a' }) + finish(), [text('a'), stop]],
    ['no blank line at the end', (chunk({ content: 'a' }) + finish()).trimEnd(), [text('a'), stop]],
    [
      'usage without choices',
      `${chunk({ content: 'a' })}${finish()}data: ${JSON.stringify({ usage: usageMember })}\n\n${done}`,
      [text('a'), usage, stop],
    ],
    [
      'usage whose thoughts stand beside the completion, as the total says',
      `${chunk({ content: 'a' })}${finish()}data: ${JSON.stringify({ usage: thoughtUsage(5, 400, 408) })}\n\n${done}`,
      [text('a'), thoughtTokens(405, 400), stop],
    ],
    [
      'usage with more thoughts than completion, without a total',
      `${chunk({ content: 'a' })}${finish()}data: ${JSON.stringify({ usage: thoughtUsage(5, 400) })}\n\n${done}`,
      [text('a'), thoughtTokens(405, 400), stop],
    ],
    [
      'usage whose completion holds the thoughts',
      `${chunk({ content: 'a' })}${finish()}data: ${JSON.stringify({ usage: thoughtUsage(405, 400, 408) })}\n\n${done}`,
      [text('a'), thoughtTokens(405, 400), stop],
    ],
    [
      'usage within the choice',
      `${chunk({ content: 'a' })}${chunk({}, { finish_reason: 'stop', usage: usageMember })}${done}`,
      [text('a'), usage, stop],
    ],
    [
      'content as lists of parts, thoughts among them',
      chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm' }] }] }) +
        chunk({
          content: [
            { type: 'thinking', thinking: [{ type: 'text', text: '.' }], closed: true },
            { type: 'text', text: 'a' },
          ],
        }) +
        chunk({ content: [{ type: 'reference', reference_ids: [1] }] }) +
        chunk({ content: 'a' }) +
        finish() +
        done,
      [{ type: 'reasoning', json: 'Hm' }, { type: 'reasoning', json: '.' }, text('a'), text('a'), stop],
    ],
    [
      'usage beside the finish',
      chunk({ content: 'a' }) + finish().replace('"choices"', `"usage":${JSON.stringify(usageMember)},"choices"`) + done,
      [text('a'), usage, stop],
    ],
    [
      'usage that grows in every chunk',
      [1, 2]
        .map((n) =>
          chunk({ content: 'a' }).replace(
            '"choices"',
            `"usage":{"prompt_tokens":3,"completion_tokens":${n},"prompt_tokens_details":{"cached_tokens":1}},"choices"`,
          ),
        )
        .join('') +
        finish() +
        done,
      [text('a'), text('a'), usage, stop],
    ],
    [
      'reasoning_content',
      chunk({ reasoning_content: 'hm' }) + chunk({ reasoning_content: ' so' }) + chunk({ content: 'a' }) + finish() + done,
      [{ type: 'reasoning', json: 'hm' }, { type: 'reasoning', json: ' so' }, text('a'), stop],
    ],
    [
      'null members',
      chunk({ role: 'assistant', content: 'a', refusal: null, tool_calls: null, reasoning: null }) + finish() + done,
      [text('a'), stop],
    ],
    ['a refusal', chunk({ refusal: 'No.' }) + finish() + done, [{ type: 'refusal', json: 'No.' }, stop]],
    ['tool_calls as the reason without any call', chunk({ content: 'a' }) + finish('tool_calls') + done, [text('a'), stop]],
    [
      'stop with calls',
      call({ index: 0, id: 'x', function: { name: 'f', arguments: '{}' } }) + finish() + done,
      [start(0, 'x', 'f'), args(0, '{}'), toolCalls],
    ],
    [
      'a call without arguments',
      call({ index: 0, id: 'x', function: { name: 'f', arguments: '' } }) + finish() + done,
      [start(0, 'x', 'f'), args(0, '{}'), toolCalls],
    ],
    [
      'arguments that are an object',
      call({ index: 0, id: 'x', function: { name: 'f', arguments: { a: 1 } } }) + finish() + done,
      [start(0, 'x', 'f'), args(0, '{"a":1}'), toolCalls],
    ],
    [
      'calls without an index',
      ['x', 'y']
        .map(
          (id) =>
            call({ id, function: { name: 'f', arguments: '' } }) +
            call({ function: { arguments: '{"a"' } }) +
            call({ function: { arguments: ':1' } }) +
            call({ function: { arguments: '}' } }),
        )
        .join('') +
        finish('tool_calls') +
        done,
      [...['x', 'y'].flatMap((id, n) => [start(n, id, 'f'), args(n, '{"a"'), args(n, ':1'), args(n, '}')]), toolCalls],
    ],
    [
      'a new id with every delta',
      call({ index: 0, id: 'x', function: { name: 'f', arguments: '{"a"' } }) +
        call({ index: 0, id: 'y', function: { name: 'f', arguments: ':1}' } }) +
        finish() +
        done,
      [start(0, 'x', 'f'), args(0, '{"a"'), args(0, ':1}'), toolCalls],
    ],
    [
      'whole calls that all have index 0',
      call({ index: 0, id: 'x', function: { name: 'f', arguments: '{}' } }) +
        call({ index: 0, id: 'y', function: { name: 'f', arguments: '{}' } }) +
        finish() +
        done,
      [start(0, 'x', 'f'), args(0, '{}'), start(1, 'y', 'f'), args(1, '{}'), toolCalls],
    ],
    [
      'arguments under another index than their call',
      call({ index: 0, id: 'x', function: { name: 'f', arguments: '' } }) +
        call({ index: 1, function: { arguments: '{}' } }) +
        finish() +
        done,
      [start(0, 'x', 'f'), args(0, '{}'), toolCalls],
    ],
  ])('forgives: %s', (_case, stream, expected) => {
    const bytes = Buffer.from(stream);
    expect(parse(bytes)).toEqual(expected);
    expect(parse(bytes, [1])).toEqual(expected);
  });

  it('makes up an id for a call that has none', () => {
    const deltas = parse(Buffer.from(call({ index: 0, function: { name: 'f', arguments: '{}' } }) + finish() + done));
    expect(deltas[0]).toEqual(start(0, expect.stringMatching(/^call_\w{24}$/), 'f'));
  });

  it.each([
    ['an event that is no JSON', 'data: {"choices"\n\n', 'UPSTREAM_ERROR'],
    ['no finish', chunk({ content: 'a' }) + done, 'UPSTREAM_ERROR'],
    ['nothing at all', '', 'UPSTREAM_ERROR'],
    ['an error object', 'data: {"error":{"message":"boom","code":500}}\n\n', 'UPSTREAM_ERROR'],
    ['an error event', 'event: error\ndata: {"message":"Rate limited","code":429}\n\n', 'RATE_LIMIT_EXCEEDED'],
    ['a line without end', `data: ${'x'.repeat(5 * 1024 * 1024)}`, 'UPSTREAM_ERROR'],
  ])('refuses: %s', (_case, stream, code) => {
    const error = failureOf(() => parse(Buffer.from(stream), [64 * 1024]));
    expect(error).toBeInstanceOf(ModelError);
    expect(error).toMatchObject({ code });
  });

  it('takes a long stream in one piece faster than JSON.parse would take its events', () => {
    const frames = chatFrames({ text: Array.from({ length: 100_000 }, (_, n) => `word${n % 100} `) }, 'm', false);
    const bytes = Buffer.from(frames.join(''));
    const lean = Math.min(...[1, 2, 3].map(() => cpuMs(() => expect(parseRaw(bytes)).toBe(100_001))));
    const parsed = cpuMs(() => {
      for (const frame of frames.slice(0, -1)) JSON.parse(frame.slice('data: '.length));
    });
    expect(lean).toBeLessThan(parsed);
  });
});

function parseRaw(bytes: Buffer): number {
  const parser = new StreamParser();
  let deltas = 0;
  for (let at = 0; at < bytes.length; at += 65_536) {
    const out: ModelDelta[] = [];
    parser.push(bytes.subarray(at, at + 65_536), out);
    deltas += out.length;
  }
  const out: ModelDelta[] = [];
  parser.end(out);
  return deltas + out.length;
}

function failureOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}
