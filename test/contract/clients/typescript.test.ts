import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ChatEvent, documents, ParleyClient, ParleyError } from '../../../clients/typescript/src/index.ts';
import type { Person } from '../../support/make.ts';
import { withService } from '../../support/service.ts';

const run = promisify(execFile);
const folder = join(import.meta.dirname, '../../../clients/typescript');

describe.skipIf(!hasPackages())('the client is what generators print', () => {
  const node = (...args: string[]) => run(process.execPath, args, { cwd: folder });

  it('src/generated/ is printed from openapi.json and schema.graphql (rewrite with: npm --prefix clients/typescript run generate)', async () => {
    // No warning either: of openapi-typescript, or of graphql-codegen.
    expect(await node('scripts/generate.ts', '--check')).toEqual({ stdout: '', stderr: '' });
  });

  it('its types hold', async () => {
    expect(await node('node_modules/typescript/bin/tsc', '-p', 'tsconfig.json')).toEqual({ stdout: '', stderr: '' });
  });

  it('@hey-api/openapi-ts accepts openapi.json without a warning, one function an operation', async () => {
    const out = mkdtempSync(join(tmpdir(), 'parley-generated-'));
    try {
      const { stdout, stderr } = await node(
        'node_modules/.bin/openapi-ts',
        '-i',
        '../../openapi.json',
        '-o',
        join(out, 'client'),
      );
      expect(`${stdout}${stderr}`).not.toMatch(/warn|duplicate|conflict|error/i);
      const printed = readFileSync(join(out, 'client/sdk.gen.ts'), 'utf8');
      const { paths } = JSON.parse(readFileSync(join(folder, '../../openapi.json'), 'utf8')) as { paths: Record<string, object> };
      const ids = Object.values(paths).flatMap((path) => Object.values(path).flatMap(({ operationId }) => operationId ?? []));
      expect(ids.filter((id) => !printed.includes(`export const ${id} = `))).toEqual([]);
      expect(ids.length).toBeGreaterThan(100);
    } finally {
      rmSync(out, { recursive: true, force: true });
    }
  });
});

/** @throws Error in CI, where no test is skipped. */
function hasPackages(): boolean {
  if (existsSync(join(folder, 'node_modules'))) return true;
  const message = 'The generators are not installed: npm --prefix clients/typescript ci';
  if (process.env.CI !== undefined && process.env.CI !== '') throw new Error(message);
  console.warn(`Tests of generators are skipped. ${message}.`);
  return false;
}

const { service, make, upstream } = await withService('model');
const model = 'openai/test-model';
const agent = { name: 'Ada', description: 'Answers.', instructions: 'Answer.', modelId: model };

describe('the client, with a running service', () => {
  let ann: Person;
  let client: ParleyClient;
  beforeAll(async () => {
    ann = await make.person();
    client = new ParleyClient({ url: service.url, apiKey: ann.key ?? '' });
  });
  beforeEach(() => {
    upstream.otherwise({ text: ['One', ' two', ' three'] });
  });

  it('calls REST by its types', async () => {
    const { id } = await client.rest('post', '/api/v1/ais', { body: { ...agent, src: '', name: 'Ada & co' } });
    const { data } = await client.rest('get', '/api/v1/ais', { query: { search: 'Ada & co' } });
    expect(data.map((listed) => listed.id)).toEqual([id]);
    expect((await client.rest('get', '/api/v1/ais/{aiId}', { path: { aiId: id } })).name).toBe('Ada & co');
    // Only what the format requires is required: no tool_choice.
    const response = await client.rest('post', '/api/v2/responses', { body: { model, input: 'Hi' } });
    expect(response).toMatchObject({ status: 'completed', tool_choice: 'auto' });
  });

  it('runs documents of GraphQL by their types, and follows a subscription', async () => {
    const { createAgent } = await client.graphql(documents.CreateAgentDocument, { input: { ...agent, name: 'Grace' } });
    expect(createAgent.name).toBe('Grace');
    const messages = [{ user: { text: 'Hi' } }];
    const input = { model, messages, reasoningEffort: 'LOW' as const, stop: ['end'] };
    let text = '';
    for await (const { completionEvents } of client.subscribe(documents.CompletionEventsDocument, { input })) {
      if ('delta' in completionEvents) text += completionEvents.delta;
    }
    expect(text).toBe('One two three');
  });

  it('streams a chat to its end', async () => {
    const chatId = await newChat();
    const events = await Array.fromAsync(client.streamChat(chatId, { prompt: 'Hi' }));
    expect(textOf(events)).toBe('One two three');
    expect(sequencesOf(events)).toEqual(events.map((_event, index) => index));
    expect(events.at(-1)?.type).toBe('done');
  });

  it('goes on with a stream whose connection broke, without a gap', async () => {
    const chatId = await newChat();
    const asked: string[] = [];
    const cutting: typeof fetch = async (url, init) => {
      asked.push(`${init?.method}`);
      const reply = await fetch(url, init);
      return asked.length > 1 ? reply : new Response(firstFrames(await reply.text(), 2), reply);
    };
    const cut = new ParleyClient({ url: service.url, apiKey: ann.key ?? '', fetch: cutting });
    const events = await Array.fromAsync(cut.streamChat(chatId, { prompt: 'Hi' }));
    expect(asked).toEqual(['POST', 'GET']);
    expect(textOf(events)).toBe('One two three');
    expect(sequencesOf(events)).toEqual(events.map((_event, index) => index));
  });

  it('throws what the service refuses, with its code, member and request id', async () => {
    const wrong = client.rest('post', '/api/v1/ais', { body: { ...agent, src: '', name: ' ' } });
    await expect(wrong).rejects.toMatchObject({ status: 400, param: 'name', requestId: expect.stringMatching(/./) });
    await expect(wrong).rejects.toBeInstanceOf(ParleyError);
    expect((await client.graphql(documents.ChatQueryDocument, { id: 'chat_none' })).chat).toBeNull();
    await expect(Array.fromAsync(client.streamChat('chat_none', { prompt: 'Hi' }))).rejects.toMatchObject({ status: 404 });
  });

  async function newChat(): Promise<string> {
    const { createAgent } = await client.graphql(documents.CreateAgentDocument, { input: agent });
    return (await client.graphql(documents.CreateChatDocument, { agentId: createAgent.id })).createChat.id;
  }
});

const firstFrames = (text: string, count: number) => `${text.split('\n\n').slice(0, count).join('\n\n')}\n\n`;

function sequencesOf(events: readonly ChatEvent[]): readonly (number | undefined)[] {
  return events.map((event) => ('sequence' in event ? event.sequence : undefined));
}

function textOf(events: readonly ChatEvent[]): string {
  return events.map((event) => (event.type === 'message.delta' ? event.delta : '')).join('');
}
