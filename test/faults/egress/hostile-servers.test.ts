import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { createEgress } from '../../../src/engine/egress/egress.ts';
import { EgressError } from '../../../src/engine/egress/error.ts';
import type { EgressRequest } from '../../../src/engine/egress/request.ts';
import { hostileBehaviours, startHostileServer } from '../../support/egress/hostile-server.ts';
import { startClock } from '../../support/processes/clock.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { withService } from '../../support/service.ts';
import { egressPlaces, someOwner } from '../../support/sharing/pools.ts';

const model = 'openai/test-model';
const timeoutMs = 700;
/** The longest time for a call that has `timeoutMs`, on a busy machine. */
const patienceMs = 30_000;
const bytesMax = 1_000_000;
/** The most bytes that a server may send: twice the body limit, a little for frames, and the buffers of six sockets. */
const trafficMax = 2 * bytesMax + 48_000_000;

const { make, upstream } = await withService('model', {
  env: {
    EGRESS_FETCH_TIMEOUT_MS: String(timeoutMs),
    API_FUNCTION_TIMEOUT_MS: String(timeoutMs),
    CHAT_FILE_MAX_BYTES: String(bytesMax),
    UPLOAD_MAX_BYTES: String(bytesMax),
    API_FUNCTION_REPLY_MAX_BYTES: String(bytesMax),
  },
});

const server = await startHostileServer();
const limits = { connectTimeoutMs: 1_000, lookupTimeoutMs: 1_000, ...egressPlaces(16, 64) };
const egress = createEgress({ allow: '127.0.0.1', ...limits });
const ann = await make.person();
const agentId = (await make.agent({ owner: ann })).id;
const toolAgentId = (await make.agent({ owner: ann })).id;
const parameters = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
const data = { description: 'Asks', parameters, method: 'GET', url: `${server.url}/{path}` };
await ann.post(`/api/v1/ais/${toolAgentId}/tools`, { name: 'ask', type: 'API_FUNCTION', data });

beforeEach(() => server.reset());
afterAll(() => Promise.all([egress.close(), server.close()]));

const paths = Object.keys(hostileBehaviours);
const never = new AbortController().signal;
const request = (path: string): EgressRequest => ({ owner: someOwner, url: server.url + path, bytesMax, timeoutMs });
const chatIdOf = async () => (await ann.post(`/api/v1/ais/${agentId}/chats`, {})).body.id as string;
const refusal = ({
  status,
  body,
}: {
  readonly status: number;
  readonly body: { readonly error?: { readonly message: string } };
}) => (status === 400 ? body.error?.message : undefined);
const item = (path: string) => ({
  ...{ name: path, type: 'FILE_UPLOAD', uniqueId: path, filename: 'a.txt', mimeType: 'text/plain', blobUrl: server.url + path },
});

/** Everything that fetches URLs of others. Each returns the text of its error; undefined without one. */
const consumers: Readonly<Record<string, (path: string) => Promise<string | undefined>>> = {
  'egress, as a whole': (path) => egress.send(request(path), never).then(() => undefined, clear),
  'egress, as a stream': (path) =>
    egress
      .receive(request(path), never, async (_head, content) => {
        for await (const _block of content);
      })
      .then(() => undefined, clear),
  'an address in a prompt': async (path) =>
    refusal(await ann.post(`/api/v1/chats/${await chatIdOf()}/messages`, { prompt: [{ type: 'url', url: server.url + path }] })),
  'an image of a completion': async (path) => {
    const content = [{ type: 'image_url', image_url: { url: server.url + path } }];
    return refusal(await ann.post('/api/v1/chat/completions', { model, messages: [{ role: 'user', content }] }));
  },
  'a file of a response': async (path) => {
    const input = [{ role: 'user', content: [{ type: 'input_file', file_url: server.url + path }] }];
    return refusal(await ann.post('/api/v2/responses', { model, input, store: false }));
  },
  'a document of a bundle': async (path) => {
    const agent = { name: 'A', description: 'A', instructions: 'A', src: '' };
    const source = { name: 'S', type: 'FILE_UPLOAD', refreshPeriod: 'NEVER', data: {}, knowledgeItems: [item(path)] };
    const bundle = { version: '1.0', agent, dataSources: [source] };
    const { status, body } = await ann.post('/api/v1/ais/import', { bundle });
    return status === 200 ? body.warnings.find((warning: string) => warning.includes('S')) : `status ${status}`;
  },
  'an API_FUNCTION': async (path) => {
    upstream.next(
      { toolCalls: [{ id: 'call_1', name: 'ask', arguments: JSON.stringify({ path: path.slice(1) }) }] },
      { text: 'Done.' },
    );
    const { status } = await ann.post('/api/v1/chat/completions', {
      model: toolAgentId,
      messages: [{ role: 'user', content: 'x' }],
    });
    const told = ((upstream.requests.at(-1)?.body?.messages ?? []) as { content: string }[]).at(-1)?.content;
    return status === 200 && told?.startsWith('Error: ') === true ? told : undefined;
  },
};

function clear(error: unknown): string {
  if (!(error instanceof EgressError)) throw error;
  return error.message;
}

describe.each(Object.keys(consumers))('%s', (name) => {
  it.each(paths)('ends within its bounds, with a clear error: %s', async (path) => {
    const clock = startClock();
    const words = await consumers[name]?.(path);
    expect(clock.elapsedMs()).toBeLessThan(patienceMs);
    clock.stop();
    expect(words).toEqual(expect.stringMatching(/\w+ \w+/));
    expect(words).not.toContain('unknown');
    expect(server.sentBytes).toBeLessThan(trafficMax);
    // The service closes the connection of an abandoned call.
    await eventually(() => expect(server.openSockets).toBe(0));
  });
});

describe('egress', () => {
  it.each([
    ['/endless-empty-gzip-members', 'BAD_ENCODING'],
    ['/gzip-bomb', 'TOO_LARGE'],
    ['/brotli-bomb', 'BAD_ENCODING'],
    ['/zstd-bomb', 'BAD_ENCODING'],
    ['/gzip-thrice', 'BAD_ENCODING'],
    ['/endless-early-hints', 'BAD_REPLY'],
    ['/endless-headers', 'TOO_LARGE'],
    ['/endless-trailer', 'TOO_LARGE'],
    ['/endless-chunk-size', 'BAD_REPLY'],
    ['/endless-one-byte-chunks', 'BAD_REPLY'],
    ['/switches-protocols', 'BAD_REPLY'],
    ['/redirects-to-itself', 'TOO_MANY_REDIRECTS'],
    ['/redirects-to-metadata', 'FORBIDDEN_ADDRESS'],
    ['/silent', 'TIMEOUT'],
    ['/drips-body', 'TIMEOUT'],
    ['/no-http', 'BAD_REPLY'],
    ['/content-length-never-reached', 'UNREACHABLE'],
  ])('says what %s is: %s', async (path, code) => {
    const unhurried = { ...request(path), timeoutMs: code === 'TIMEOUT' ? timeoutMs : patienceMs };
    await expect(egress.send(unhurried, never)).rejects.toMatchObject({ code });
  });

  it('refuses a body that decodes to far more bytes, also within the byte limit', async () => {
    const roomy = { ...request('/brotli-bomb'), bytesMax: 1_000_000_000, timeoutMs: patienceMs };
    await expect(egress.send(roomy, never)).rejects.toMatchObject({ code: 'BAD_ENCODING' });
  });
});
