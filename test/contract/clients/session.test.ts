import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { follow } from '../../../clients/typescript/src/follow.ts';
import {
  documents,
  type FollowStatus,
  ParleyClient,
  ParleyError,
  type UploadProgress,
} from '../../../clients/typescript/src/index.ts';
import { operationScopes } from '../../../src/domain/ground/access/operation-scopes.ts';
import { startFaultyNetwork } from '../../support/apis/faulty-network.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { withService } from '../../support/service.ts';

const heartbeatMs = 50;
const { service, make, upstream } = await withService('model', { env: { SSE_HEARTBEAT_MS: String(heartbeatMs) } });
const quick = { pauseMs: 20, pauseMaxMs: 100 };

const ann = await make.person();
const agent = await make.agent({ owner: ann });
const chatId = (await make.chat({ owner: ann, agentId: agent.id })).id;
const proxy = await startFaultyNetwork(() => service.url);
const client = new ParleyClient({ url: proxy.url, apiKey: ann.key ?? '' });

afterAll(() => proxy.close());
beforeEach(() => {
  proxy.cutAfterBytes = undefined;
});

type Events = { readonly runEvents: { readonly sequence: number; readonly runId: string } };
const runEvents = new documents.TypedDocumentString<Events, { runId: string; after?: number }>(
  'subscription ($runId: ID!, $after: Int) { runEvents(runId: $runId, after: $after) { sequence runId } }',
);
const chatUpdated = new documents.TypedDocumentString<{ chatUpdated: { id: string } }, { id: string }>(
  'subscription ($id: ID!) { chatUpdated(chatId: $id) { id } }',
);

async function endedRun(): Promise<string> {
  const agent = await make.agent({ owner: ann, modelId: 'openai/test-model' });
  const chat = await make.chat({ owner: ann, agentId: agent.id });
  upstream.next({ text: Array.from({ length: 60 }, (_, index) => `word ${index} `), chunkDelayMs: 2 });
  const mutation = 'mutation ($id: ID!) { sendMessage(chatId: $id, input: { prompt: { text: "Hi" } }) { id } }';
  const data = await ann.ask(mutation, { id: chat.id });
  return data.sendMessage.id;
}

describe('a subscription that is followed', () => {
  it('goes on behind the last event when its connection is cut, again and again', async () => {
    const runId = await endedRun();
    const whole = await Array.fromAsync(
      ann.subscribe('subscription ($id: ID!) { runEvents(runId: $id) { sequence } }', { id: runId }),
    );
    proxy.cutAfterBytes = 2_000;
    const before = proxy.count;
    const sequences: number[] = [];
    for await (const event of client.follow(runEvents, { runId }, quick)) sequences.push(event.runEvents.sequence);
    expect(sequences).toEqual(whole.map(({ data }) => data.runEvents.sequence));
    expect(proxy.count - before).toBeGreaterThan(2);
  });

  it('is asked for again when nothing is heard of it', async () => {
    const statuses: FollowStatus[] = [];
    let results = 0;
    for await (const _result of client.follow(
      chatUpdated,
      { id: chatId },
      { ...quick, silenceMs: 8 * heartbeatMs, onStatus: (now) => statuses.push(now) },
    )) {
      results += 1;
      if (results === 2) break;
      proxy.silence();
    }
    expect(statuses).toContain('waiting');
    expect(statuses.filter((status) => status === 'open')).toHaveLength(2);
  });

  it('counts heartbeats: a subscription without news is not silent', async () => {
    const controller = new AbortController();
    const statuses: FollowStatus[] = [];
    const options = {
      ...quick,
      silenceMs: 8 * heartbeatMs,
      signal: controller.signal,
      onStatus: (now: FollowStatus) => statuses.push(now),
    };
    const following = (async () => {
      for await (const _result of client.follow(chatUpdated, { id: chatId }, options)) void _result;
    })();
    await eventually(async () => expect(statuses).toContain('open'));
    const start = performance.now();
    await eventually(async () => expect(performance.now() - start).toBeGreaterThan(20 * heartbeatMs));
    controller.abort(new Error('left'));
    await expect(following).rejects.toThrow('left');
    expect(statuses).toEqual(['connecting', 'open']);
  });

  it('throws what the service refuses for good, at once', async () => {
    const wrong = new ParleyClient({ url: proxy.url, apiKey: 'none' });
    await expect(wrong.follow(chatUpdated, { id: chatId }, quick).next()).rejects.toMatchObject({
      status: 401,
      code: 'INVALID_API_KEY',
    });
    await expect(client.follow(runEvents, { runId: 'run_none' }, quick).next()).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it.each(Object.entries(operationScopes).filter(([operation]) => operation.startsWith('Subscription.')))(
    '%s is asked for again unless it acts (%s)',
    async (operation, scope) => {
      const text = `subscription { ${operation.slice('Subscription.'.length)}(id: "x") { id } }`;
      let tries = 0;
      const unreachable = async () => {
        tries += 1;
        throw new TypeError('fetch failed');
      };
      const document = new documents.TypedDocumentString<unknown, object>(text);
      const followed = follow(unreachable, { document, variables: {} }, { ...quick, retriesMax: 1 });
      await expect(followed.next()).rejects.toThrow('fetch failed');
      expect(tries).toBe(scope?.endsWith(':WRITE') === true ? 1 : 2);
    },
  );

  it('is not asked for twice when it acts, but where another document goes on', async () => {
    const agent = await make.agent({ owner: ann, modelId: 'openai/test-model' });
    const chat = await make.chat({ owner: ann, agentId: agent.id });
    const document = new documents.TypedDocumentString<Events, Record<string, unknown>>(
      'subscription ($chatId: ID!) { runEvents: messageEvents(chatId: $chatId, input: { prompt: { text: "Hi" } }) { sequence runId } }',
    );
    const ask = async (again: boolean) => {
      upstream.next({ text: Array.from({ length: 60 }, (_, index) => `word ${index} `), chunkDelayMs: 2 });
      proxy.cutAfterBytes = 3_000;
      const sequences: number[] = [];
      const goOn = (last: Events | undefined) => {
        if (last === undefined) return undefined;
        const { runId, sequence: after } = last.runEvents;
        return { document: runEvents as unknown as typeof document, variables: { runId, after } };
      };
      const options = again ? { ...quick, again: goOn } : quick;
      for await (const event of client.follow(document, { chatId: chat.id }, options)) sequences.push(event.runEvents.sequence);
      return sequences;
    };
    await expect(ask(false)).rejects.toThrow();
    await eventually(async () => expect((await ann.graphql('{ activeRuns { id } }')).data.activeRuns).toEqual([]));
    const sequences = await ask(true);
    expect(sequences.length).toBeGreaterThan(60);
    expect(sequences).toEqual([...new Set(sequences)].sort((a, b) => a - b));
  });

  it('waits while the service cannot be reached, as long as it may', async () => {
    const gone = new ParleyClient({ url: 'http://127.0.0.1:9', apiKey: ann.key ?? '' });
    const statuses: FollowStatus[] = [];
    const options = { ...quick, retriesMax: 2, onStatus: (now: FollowStatus) => statuses.push(now) };
    await expect(gone.follow(chatUpdated, { id: chatId }, options).next()).rejects.toThrow();
    expect(statuses).toEqual(['connecting', 'waiting', 'connecting', 'waiting', 'connecting']);
  });
});

describe('an upload', () => {
  const uploadFile = new documents.TypedDocumentString<
    { createFile: { id: string; filename: string; sizeBytes: number } },
    object
  >('mutation ($file: File!, $purpose: FilePurpose!) { createFile(file: $file, purpose: $purpose) { id filename sizeBytes } }');
  const file = new File(['x'.repeat(300_000)], 'a "quoted" näme.txt', { type: 'text/plain' });

  it('sends files among variables, and tells how far it is', async () => {
    const told: UploadProgress[] = [];
    const variables = { file, purpose: 'USER_DATA' };
    const { createFile } = await client.upload(uploadFile, variables, { onProgress: (progress) => told.push(progress) });
    expect(createFile).toMatchObject({ sizeBytes: 300_000, filename: expect.stringContaining('näme.txt') });
    expect(told.length).toBeGreaterThan(1);
    expect(told.at(-1)?.sentBytes).toBe(told.at(-1)?.totalBytes);
    expect(told.map(({ sentBytes }) => sentBytes)).toEqual(told.map(({ sentBytes }) => sentBytes).toSorted((a, b) => a - b));
    expect((await client.upload(uploadFile, variables)).createFile.sizeBytes).toBe(300_000);
  });

  it('throws what the service refuses, and ends with its signal', async () => {
    const refused = client.upload(uploadFile, { file, purpose: 'nothing' });
    await expect(refused).rejects.toMatchObject({ code: 'INVALID_VALUE', faults: [{ path: 'purpose' }] });
    await expect(refused).rejects.toBeInstanceOf(ParleyError);
    const signal = AbortSignal.abort(new Error('left'));
    await expect(client.upload(uploadFile, { file, purpose: 'USER_DATA' }, { signal })).rejects.toThrow('left');
  });
});
