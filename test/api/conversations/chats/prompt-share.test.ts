import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startMcpUpstream } from '../../../fixtures/upstreams/mcp/server.ts';
import type { Person } from '../../../support/make.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { propertyRuns, propertySeed } from '../../../support/property/sample.ts';
import { withService } from '../../../support/service.ts';

/**
 * Of what stays between two requests of a conversation, so much is the beginning of the next one, by the characters that are sent: whatever the agent
 * has and whatever people do.
 */
const shareMin = 0.97;

const folder = mkdtempSync(join(tmpdir(), 'parley-prompt-share-'));
const server = await startMcpUpstream();
const file = join(folder, 'servers.json');
writeFileSync(file, JSON.stringify({ servers: [{ name: 'plain', url: server.url }] }));
const { make, upstream } = await withService('model', { env: { MCP_SERVERS_FILE: file } });
const modelId = 'openai/test-model';
const instructions = 'Answer what people ask about repairs, in whole sentences, with the price of each part. '.repeat(4);
let ann: Person;
let agentId: string;
let flowAgentId: string;

async function addKnowledge(agent: string): Promise<void> {
  const services = ['Puncture', 'Brake', 'Chain', 'Wheel'].map((name) => ({
    name: `${name} repair`,
    priceEuro: name.length * 3,
  }));
  const source = await make.apiDataSource({ owner: ann, agentId: agent, name: 'Prices', data: { services } });
  await eventually(async () => {
    const { body } = await ann.get(`/api/v1/data-sources/${source.id}`);
    expect(body.indexStatus).toBe('INDEXED');
  });
}

beforeAll(async () => {
  ann = await make.person();
  agentId = (await make.agent({ owner: ann, instructions, modelId, generateCitations: true })).id;
  flowAgentId = (await make.agent({ owner: ann, instructions, modelId })).id;
  await addKnowledge(agentId);
  await addKnowledge(flowAgentId);
  const steps = [
    { id: 'found', type: 'retrieve', query: '{{input}}', limit: 3 },
    { id: 'kind', type: 'model', prompt: 'Name the kind of repair: {{input}}' },
    { id: 'answer', type: 'model', prompt: 'Answer {{input}} of the kind {{steps.kind.output}}' },
  ];
  const versions = [{ version: 1, active: true, data: { steps } }];
  expect((await ann.post(`/api/v1/ais/${flowAgentId}/flows`, { name: 'Main', versions })).status).toBe(200);
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

const weather = {
  type: 'function',
  function: { name: 'get_weather', description: 'Tells the weather', parameters: { type: 'object', properties: {} } },
};
const tools = [weather, { type: 'mcp_server', server: 'plain', allowedTools: ['echo'] }, { type: 'memory' }];
/** The same for responses. */
const flatTools = [
  { type: 'function', ...weather.function },
  { type: 'mcp_server', server: 'plain', allowed_tools: ['echo'] },
  { type: 'memory' },
];

const turns = ['plain', 'knowledge', 'function', 'mcp', 'memory', 'both', 'file', 'dated', 'edited', 'regenerated'] as const;
type Turn = (typeof turns)[number];

async function send(path: string, body: object) {
  const reply = await ann.post(path, body);
  expect(reply, JSON.stringify(reply.body)).toMatchObject({ status: 200 });
  return reply.body;
}

const callOf = (name: string, place: number, args: object) => ({
  id: `call_${name}_${place}`,
  name,
  arguments: JSON.stringify(args),
});
const words = (place: number) => `of turn ${place}, which is a sentence of some length [1]`;

/** The answers of the model in one turn: those of server tools take two. */
function scriptAnswers(turn: Turn, place: number): void {
  const calls = {
    mcp: [callOf('plain__echo', place, { text: 'a "sign"' })],
    memory: [callOf('remember', place, { text: `Likes the colour ${place}` })],
    both: [callOf('recall', place, { query: 'colour' }), callOf('plain__echo', place, { text: words(place) })],
    function: [callOf('get_weather', place, {})],
  };
  if (turn in calls) upstream.next({ text: `Let me see [1] ${place}.`, toolCalls: calls[turn as keyof typeof calls] });
  upstream.next({ text: `An answer ${words(place)}` });
}

async function say(chatId: string, turn: Turn, place: number): Promise<void> {
  const path = `/api/v1/chats/${chatId}`;
  const question = `${turn === 'knowledge' ? 'What does a puncture repair cost?' : 'Something'} ${words(place)}`;
  let prompt: unknown = question;
  if (turn === 'file') {
    const form = new FormData();
    form.append('file', new Blob([`The frame ${words(place)}`.repeat(5)]), `notes-${place}.txt`);
    prompt = [
      { type: 'text', text: question },
      { type: 'id', id: (await send(`${path}/files`, form)).id },
    ];
  }
  scriptAnswers(turn, place);
  const date = turn === 'dated' ? { date: `2026-11-2${place % 10}T10:0${place % 10}:00Z` } : {};
  const reply = await send(`${path}/messages`, { prompt, tools, ...date });
  if (turn === 'function') {
    const outputs = [{ toolCallId: `call_get_weather_${place}`, status: 'success', output: `{"sky":"${place}"}` }];
    await send(`${path}/tool-outputs`, { systemMessageId: reply.systemMessageId, outputs });
  }
  if (turn !== 'edited' && turn !== 'regenerated') return;
  const { body } = await ann.get(path);
  const { id } = body.messages.findLast(({ role }: { role: string }) => role === 'user');
  upstream.next({ text: `Another answer ${words(place)}` });
  if (turn === 'edited') await send(`${path}/messages/${id}/edit`, { prompt: `Edited: ${question}`, tools });
  else await send(`${path}/messages/${id}/regenerate`, { tools });
}

interface Sent {
  readonly role: string;
  readonly content: string | null | readonly { readonly type: string; readonly text?: string }[];
}
type Body = Readonly<Record<string, unknown>> | undefined;

const ending = /(?:^|\n\n)(?:The passages below|Current date)[\s\S]*$/;
function withoutEnding(message: Sent): Sent {
  const { content } = message;
  if (typeof content === 'string') return { ...message, content: content.replace(ending, '') };
  return { ...message, content: content?.filter(({ text = '' }) => !ending.test(text)) ?? null };
}

/** A request as its provider reads it: tools, then messages. */
const readParts = (body: Body) =>
  [body?.tools ?? [], ...((body?.messages ?? []) as readonly Sent[])].map((part) => JSON.stringify(part));

/** The parts that the next request may repeat. */
function readStable(body: Body): readonly string[] {
  const messages = (body?.messages ?? []) as readonly Sent[];
  const last = messages.findLastIndex(({ role }) => role === 'user' || role === 'tool');
  return readParts({ ...body, messages: messages.map((message, place) => (place === last ? withoutEnding(message) : message)) });
}

/** Of what stays of a request in the next one, the part that is its beginning. */
function measureShare(before: Body, next: Body) {
  const later = [...readStable(next)];
  let staying = 0;
  for (const part of readStable(before)) {
    const place = later.indexOf(part);
    if (place < 0) continue;
    staying += part.length;
    later.splice(place, 1);
  }
  const [a, b] = [readParts(before).join(''), readParts(next).join('')];
  let beginning = 0;
  while (beginning < a.length && a[beginning] === b[beginning]) beginning += 1;
  const [sent, sentNext] = [a, b].map((text) => text.slice(Math.max(0, beginning - 200), beginning + 200));
  return { staying, beginning: Math.min(staying, beginning), place: `${sent}\n\nthen\n\n${sentNext}` };
}

function expectShares(bodies: readonly Body[]): void {
  let [staying, beginning] = [0, 0];
  for (const [place, next] of bodies.entries()) {
    if (place === 0) continue;
    const share = measureShare(bodies[place - 1], next);
    staying += share.staying;
    beginning += share.beginning;
    // Tools and instructions stay in any case.
    expect(share.staying).toBeGreaterThan(instructions.length);
    expect(share.beginning / share.staying, share.place).toBeGreaterThanOrEqual(shareMin);
  }
  expect(beginning / staying).toBeGreaterThanOrEqual(shareMin);
}

describe('the requests of a conversation share their beginnings', () => {
  it.each([
    ['one after the other', turns],
    ['backwards', turns.toReversed()],
  ])('in a chat with tools, memory, files, branches and knowledge: %s', async (_name, said) => {
    const chatId = (await make.chat({ owner: ann, agentId })).id;
    const from = upstream.requests.length;
    for (const [place, turn] of said.entries()) await say(chatId, turn, place);
    const bodies = upstream.requests.slice(from).map(({ body }) => body);
    expect(bodies.length).toBe(said.length + 6);
    expectShares(bodies);
  });

  it('in any chat', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...turns), { minLength: 2, maxLength: 6 }), async (said) => {
        const chatId = (await make.chat({ owner: ann, agentId })).id;
        const from = upstream.requests.length;
        for (const [place, turn] of said.entries()) await say(chatId, turn, place);
        expectShares(upstream.requests.slice(from).map(({ body }) => body));
      }),
      { numRuns: propertyRuns(16), seed: propertySeed },
    );
  });

  it('in a chat whose turns a flow answers', async () => {
    const chatId = (await make.chat({ owner: ann, agentId: flowAgentId })).id;
    const from = upstream.requests.length;
    for (let place = 0; place < 5; place += 1) {
      upstream.next({ text: `A kind ${words(place)}` }, { text: `An answer ${words(place)}` });
      await send(`/api/v1/chats/${chatId}/messages`, { prompt: `What does a puncture repair cost? ${words(place)}` });
    }
    const bodies = upstream.requests.slice(from).map(({ body }) => body);
    expect(bodies.length).toBe(10);
    expectShares(bodies);
  });

  it('in responses that go on from each other', async () => {
    const from = upstream.requests.length;
    let previous: string | undefined;
    for (const [place, turn] of turns.slice(0, 6).entries()) {
      scriptAnswers(turn, place);
      const goesOn = previous === undefined ? {} : { previous_response_id: previous };
      const input = `${turn === 'knowledge' ? 'What does a puncture repair cost?' : 'Something'} ${words(place)}`;
      const reply = await send('/api/v2/responses', { model: agentId, input, tools: flatTools, ...goesOn });
      previous = reply.id;
      if (turn !== 'function') continue;
      const output = { type: 'function_call_output', call_id: `call_get_weather_${place}`, output: `{"sky":"${place}"}` };
      previous = (
        await send('/api/v2/responses', { model: agentId, input: [output], tools: flatTools, previous_response_id: previous })
      ).id;
    }
    const bodies = upstream.requests.slice(from).map(({ body }) => body);
    expect(bodies.length).toBe(10);
    expectShares(bodies);
  });

  it('in a chat that is longer than its agent takes, but for a few turns', async () => {
    const options = { maxInputTokens: [1_000] };
    const { id } = await make.agent({ owner: ann, instructions, modelId, options });
    const chatId = (await make.chat({ owner: ann, agentId: id })).id;
    const from = upstream.requests.length;
    for (let place = 0; place < 40; place += 1) await say(chatId, 'plain', place);
    const bodies = upstream.requests.slice(from).map(({ body }) => body);
    const firsts = bodies.map((body) => readStable(body).find((part) => part.includes('"role":"user"')));
    expect(bodies.at(-1)?.messages).not.toHaveLength(80);
    // A cut takes a quarter of 4,000 characters, some five turns.
    expect(new Set(firsts).size).toBeLessThanOrEqual(8);
    for (const first of new Set(firsts)) expectShares(bodies.filter((_body, place) => firsts[place] === first));
  });
});
