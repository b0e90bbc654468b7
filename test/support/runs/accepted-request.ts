import { expect } from 'vitest';
import type { UpstreamRequest } from '../upstream.ts';

interface AskedMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { readonly id: string; readonly type: string; readonly function: AskedFunction }[];
}
interface AskedFunction {
  readonly name: string;
  readonly arguments: string;
}

/**
 * The rules of the strictest provider for a history: system messages first; a user's turn or the outputs of calls last; no empty message; every call
 * is answered exactly once, directly after it; no output without a call; arguments are a JSON object.
 */
export function expectAccepted(request: UpstreamRequest | undefined): void {
  const messages = request?.body?.messages as readonly AskedMessage[];
  const shown = JSON.stringify(messages, null, 1);
  const seen = new Set<string>();
  let open: readonly string[] = [];
  let isConversation = false;
  for (const message of messages) {
    if (message.role === 'tool') {
      expect(open, shown).toContain(message.tool_call_id);
      expect(typeof message.content, shown).toBe('string');
      open = open.filter((id) => id !== message.tool_call_id);
      continue;
    }
    expect(open, `not answered at once: ${shown}`).toEqual([]);
    expect(['system', 'user', 'assistant'], shown).toContain(message.role);
    if (message.role === 'system') expect(isConversation, `system message in the middle: ${shown}`).toBe(false);
    else isConversation = true;
    const calls = message.tool_calls ?? [];
    if (calls.length === 0) expectContent(message.content, shown);
    else expect([message.role, message.content === ''], shown).toEqual(['assistant', false]);
    for (const { id, type, function: called } of calls) {
      expect([type, typeof id, id === '', seen.has(id)], shown).toEqual(['function', 'string', false, false]);
      expect(called.name, shown).toMatch(/^[\w-]{1,64}$/);
      expect(JSON.parse(called.arguments), shown).toBeTypeOf('object');
      seen.add(id);
    }
    open = calls.map(({ id }) => id);
  }
  expect(open, `not answered: ${shown}`).toEqual([]);
  expect(['user', 'tool'], shown).toContain(messages.at(-1)?.role);
}

function expectContent(content: unknown, shown: string): void {
  if (typeof content === 'string') expect(content, `an empty message: ${shown}`).not.toBe('');
  else expect(Array.isArray(content) && content.length > 0, `an empty message: ${shown}`).toBe(true);
}
