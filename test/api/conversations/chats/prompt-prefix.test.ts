import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Person } from '../../../support/make.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { propertyRuns, propertySeed } from '../../../support/property/sample.ts';
import { withService } from '../../../support/service.ts';

const { make, upstream } = await withService('model');
let ann: Person;
let agentId: string;

beforeAll(async () => {
  ann = await make.person();
  const agent = await make.agent({ owner: ann, instructions: 'Answer what people ask about repairs.' });
  agentId = agent.id;
  const services = ['Puncture', 'Brake', 'Chain', 'Wheel'].map((name) => ({
    name: `${name} repair`,
    priceEuro: name.length * 3,
  }));
  const source = await make.apiDataSource({ owner: ann, agentId, name: 'Prices', data: { services } });
  await eventually(async () => {
    const { body } = await ann.get(`/api/v1/data-sources/${source.id}`);
    expect(body.indexStatus).toBe('INDEXED');
  });
});

const weather = {
  type: 'function',
  function: { name: 'get_weather', description: 'Tells the weather', parameters: { type: 'object', properties: {} } },
};

type Turn = 'plain' | 'knowledge' | 'function' | 'dated' | 'edited';
const turns = fc.array(fc.constantFrom<Turn>('plain', 'knowledge', 'function', 'dated', 'edited'), {
  minLength: 2,
  maxLength: 5,
});

async function send(path: string, body: object) {
  const reply = await ann.post(path, body);
  expect(reply).toMatchObject({ status: 200 });
  return reply;
}

async function say(chatId: string, turn: Turn, place: number): Promise<void> {
  const path = `/api/v1/chats/${chatId}/messages`;
  const words = `of turn ${place}, which is a sentence of some length`;
  if (turn === 'function') {
    upstream.next({ text: 'Let me see.', toolCalls: [{ id: `call_${place}`, name: 'get_weather', arguments: '{}' }] });
    const asked = await send(path, { prompt: `The weather ${words}`, tools: [weather] });
    const output = { toolCallId: `call_${place}`, status: 'success', output: `{"sky":"${words}"}` };
    upstream.next({ text: `It is sunny ${words}` });
    await send(`/api/v1/chats/${chatId}/tool-outputs`, { systemMessageId: asked.body.systemMessageId, outputs: [output] });
    return;
  }
  upstream.next({ text: `An answer [1] ${words}` });
  const prompt = turn === 'knowledge' ? `What does a puncture repair cost? ${words}` : `Something ${words}`;
  const date = turn === 'dated' ? { date: `2026-11-2${place}T10:0${place}:00Z` } : {};
  await send(path, { prompt, tools: [weather], ...date });
  if (turn !== 'edited') return;
  const { body } = await ann.get(`/api/v1/chats/${chatId}`);
  const { id } = body.messages.findLast(({ role }: { role: string }) => role === 'user');
  upstream.next({ text: `Another answer ${words}` });
  await send(`/api/v1/chats/${chatId}/messages/${id}/edit`, { prompt: `Edited: ${prompt}`, tools: [weather] });
}

interface Sent {
  readonly role: string;
  readonly content: string | null;
  readonly tool_calls?: unknown;
}

/** What a provider's cache sees of a request, message by message, without what changes behind the last one. */
function stable({ tools, messages }: Readonly<Record<string, unknown>>): readonly string[] {
  const texts = (messages as readonly Sent[]).map(({ role, content, tool_calls: calls }, place, all) => {
    const isLast = place === all.findLastIndex((message) => message.role === 'user' || message.role === 'tool');
    const text = isLast ? (content ?? '').replace(/\n\n(?:The passages below|Current date)[\s\S]*$/, '') : content;
    return JSON.stringify([role, text, calls]);
  });
  return [JSON.stringify(tools), ...texts];
}

describe('the requests of a chat', () => {
  it('begin with all that the request before them had and they still have', async () => {
    await fc.assert(
      fc.asyncProperty(turns, async (said) => {
        const chatId = (await make.chat({ owner: ann, agentId })).id;
        const from = upstream.requests.length;
        for (const [place, turn] of said.entries()) await say(chatId, turn, place);
        const requests = upstream.requests.slice(from).map(({ body }) => stable(body ?? {}));
        expect(requests.length).toBeGreaterThanOrEqual(said.length);
        for (const [place, next] of requests.entries()) {
          const before = place === 0 ? [] : (requests[place - 1] ?? []);
          const stays = before.filter((text) => next.includes(text));
          expect(next.slice(0, stays.length)).toEqual(stays);
          // An edited message takes the place of one; nothing else goes.
          expect(before.length - stays.length).toBeLessThanOrEqual(1);
        }
      }),
      { numRuns: propertyRuns(24), seed: propertySeed },
    );
  });

  it('have passages behind the question, and nothing of them later', async () => {
    const chatId = (await make.chat({ owner: ann, agentId })).id;
    await say(chatId, 'knowledge', 0);
    await say(chatId, 'plain', 1);
    const [first, second] = upstream.requests.slice(-2).map(({ body }) => (body?.messages ?? []) as readonly Sent[]);
    expect(first?.at(-1)?.content).toMatch(
      /^What does a puncture repair cost\?[^\n]*\n\nThe passages below[\s\S]*<passage n="1"/,
    );
    expect(
      first
        ?.slice(0, -1)
        .map(({ content }) => content)
        .join(),
    ).not.toContain('<passage');
    expect(second?.[1]?.content).toMatch(/^What does a puncture repair cost\?[^\n]*$/);
  });
});
