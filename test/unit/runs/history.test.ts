import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ModelMessage } from '../../../src/engine/models/port.ts';
import { buildHistory, cutToStep } from '../../../src/engine/runs/events/history.ts';
import type { ChatMessage, MessageRole } from '../../../src/entities/conversations/chats/chat.ts';

function message(ordinal: number, role: MessageRole, more: Partial<ChatMessage> = {}): ChatMessage {
  return {
    id: `msg_${ordinal}`,
    chatId: 'chat_1',
    createdAt: new Date(0),
    updatedAt: new Date(0),
    ordinal,
    parentId: null,
    isActive: true,
    role,
    content: `${role} ${ordinal}`,
    parts: null,
    toolCalls: null,
    toolCallId: null,
    toolStatus: null,
    citations: null,
    runId: null,
    status: 'completed',
    context: null,
    isHidden: false,
    ...more,
  };
}
const call = (id: string) => ({ id, name: 'look', arguments: '{}' });

/** Rules of every provider for a history. */
function expectAcceptable(history: readonly ModelMessage[]): void {
  let open: string[] = [];
  for (const entry of history) {
    if (entry.role === 'tool') {
      expect(open).toContain(entry.toolCallId);
      open = open.filter((id) => id !== entry.toolCallId);
      continue;
    }
    expect(open).toEqual([]);
    if (entry.role === 'assistant') {
      expect(entry.content !== null || (entry.toolCalls ?? []).length > 0).toBe(true);
      open = (entry.toolCalls ?? []).map(({ id }) => id);
    }
  }
  expect(open).toEqual([]);
}

describe('the history of a chat', () => {
  it('is one that every provider takes, wherever the transcript was cut and however calls were answered', () => {
    const step = fc.constantFrom('user', 'assistant', 'silent', 'calls', 'output a', 'output b', 'stray');
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), fc.option(fc.nat(200), { nil: undefined }), (steps, tokensMax) => {
        const transcript = steps.map((what, ordinal) => {
          if (what === 'user' || what === 'assistant') return message(ordinal, what);
          if (what === 'silent') return message(ordinal, 'assistant', { content: '' });
          if (what === 'calls') return message(ordinal, 'assistant', { content: '', toolCalls: [call('a'), call('b')] });
          const toolCallId = what === 'stray' ? 'nobody' : what.slice(-1);
          return message(ordinal, 'tool', { toolCallId, toolStatus: 'success' });
        });
        expectAcceptable(buildHistory(transcript, tokensMax));
      }),
    );
  });

  it('tells how each call went', () => {
    const transcript = [
      message(0, 'user'),
      message(1, 'assistant', { content: '', toolCalls: ['a', 'b', 'c'].map(call) }),
      message(2, 'tool', { content: 'no such city', toolCallId: 'b', toolStatus: 'error' }),
      message(3, 'tool', { content: 'sunny', toolCallId: 'a', toolStatus: 'success' }),
    ];
    expect(buildHistory(transcript, undefined).slice(2)).toEqual([
      { role: 'tool', toolCallId: 'a', content: 'sunny' },
      { role: 'tool', toolCallId: 'b', content: 'Error: no such city' },
      { role: 'tool', toolCallId: 'c', content: expect.stringContaining('Cancelled') },
    ]);
  });

  it('leaves out the oldest turns beyond its bound, and never the last', () => {
    const transcript = [0, 2, 4].flatMap((ordinal) => [
      message(ordinal, 'user', { content: 'x'.repeat(400) }),
      message(ordinal + 1, 'assistant', { content: 'y' }),
    ]);
    expect(buildHistory(transcript, 250)).toHaveLength(4);
    expect(buildHistory(transcript, 1)).toHaveLength(2);
    expect(buildHistory(transcript, undefined)).toHaveLength(6);
  });

  it('is cut at a place that stays until a quarter of its bound has been said', () => {
    const turnLength = fc.integer({ min: 1, max: 200 });
    fc.assert(
      fc.property(
        fc.array(turnLength, { minLength: 20, maxLength: 60 }),
        fc.integer({ min: 400, max: 2_500 }),
        (lengths, tokensMax) => {
          const transcript = lengths.flatMap((length, place) => [
            message(2 * place, 'user', { content: `${place} ${'x'.repeat(length)}` }),
            message(2 * place + 1, 'assistant', { content: `${place} ${'y'.repeat(length)}` }),
          ]);
          const whole = buildHistory(transcript, undefined);
          const measure = (messages: readonly ModelMessage[]) =>
            messages.reduce((sum, { role, content }) => sum + JSON.stringify({ role, content }).length + 1.5, 0);
          const charsMax = tokensMax * 4;
          const cuts = new Set<number>();
          for (let end = 1; end < transcript.length; end += 2) {
            const history = buildHistory(transcript.slice(0, end), tokensMax);
            expect(history).toEqual(whole.slice(end - history.length, end));
            expect(measure(history)).toBeLessThanOrEqual(charsMax + 2);
            cuts.add(end - history.length);
            // What is left out beyond need is less than a step and a turn.
            const turn = measure(whole.slice(end - history.length - 2, end - history.length));
            if (history.length < end) expect(measure(history) + charsMax / 4 + turn).toBeGreaterThan(charsMax - 2);
          }
          expect(cuts.size).toBeLessThanOrEqual(1 + Math.ceil(measure(whole) / Math.floor(charsMax / 4)));
        },
      ),
    );
  });

  it('of a chat longer than what is read begins at the same message over many turns', () => {
    const begins = Array.from({ length: 400 }, (_, last) => {
      const newest = Array.from({ length: last + 1 }, (_message, ordinal) => message(ordinal, 'user')).slice(-100);
      const history = cutToStep(newest, 100);
      expect(history.length).toBeGreaterThanOrEqual(Math.min(last + 1, 76));
      expect(history.at(-1)).toBe(newest.at(-1));
      return history[0]?.ordinal;
    });
    expect([...new Set(begins)]).toEqual(Array.from({ length: 13 }, (_, place) => place * 25));
  });
});
