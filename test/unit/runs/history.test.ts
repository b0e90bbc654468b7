import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ModelMessage } from '../../../src/engine/models/port.ts';
import { buildHistory } from '../../../src/engine/runs/events/history.ts';
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
});
