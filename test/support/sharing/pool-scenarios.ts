import { connect } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'vitest';
import { findBox } from '../../../src/engine/tools/code/box/box.ts';
import { nestedFormsPdf } from '../knowledge/hostile-pdf.ts';
import { addFile, indexed } from '../knowledge/knowledge.ts';
import type { makeFor, Person } from '../make.ts';
import { claudeConversation } from '../operations/chat-exports.ts';
import { importFile, sendImport } from '../operations/chat-imports.ts';
import { eventually } from '../processes/eventually.ts';
import { ResponseSocket, responsesPath, testModel } from '../runs/responses.ts';
import type { TestService } from '../service.ts';
import { never, type Upstream } from '../upstream.ts';
import { fillBy } from './greedy.ts';

/** The setting in which a greedy tenant fills one pool. */
export interface PoolScene {
  readonly service: TestService;
  readonly upstream: Upstream;
  /** A web site with `/page`, `/fair` (HTML), `/links` (4,000 long ones) and `/silent`; names that end in `.test` resolve to it, unless they begin with `silent`. */
  readonly site: { readonly url: string };
  readonly make: ReturnType<typeof makeFor>;
  /** Twenty keys of three organizations of one tenant. */
  readonly greedy: readonly Person[];
  readonly newcomer: Person;
  /** Run at the end of the scene. */
  readonly leave: (() => unknown)[];
}

const poolMax = 10;
/** What the greedy tenant begins outlasts each test, so another tenant is answered only from a place of its own. No test needs a time limit for that. */
const lastingMs = '600000';
const lastingEnv = {
  PYTHON_TIMEOUT_MS: lastingMs,
  EXTRACT_TIMEOUT_MS: lastingMs,
  CRAWL_TIMEOUT_MS: lastingMs,
  SEARCH_TIMEOUT_MS: lastingMs,
  EGRESS_FETCH_TIMEOUT_MS: lastingMs,
  EGRESS_LOOKUP_TIMEOUT_MS: lastingMs,
};
/** Pools that are small enough to fill. */
export const poolEnv = {
  DEFAULT_MODEL: testModel,
  MODEL_RETRIES_MAX: '0',
  LOG_LEVEL: 'fatal',
  RUNS_ACTIVE_MAX: String(poolMax),
  UPLOADS_ACTIVE_MAX: String(poolMax),
  SUBSCRIPTIONS_MAX: String(poolMax),
  SOCKETS_MAX: String(poolMax),
  REQUESTS_ACTIVE_MAX: '2',
  PYTHON_PROGRAMS_MAX: '1',
  SPREADSHEETS_MAX: '1',
  SEARCH_CALLS_MAX: '1',
  PROMPT_READERS_MAX: '1',
  INDEX_CONCURRENCY: '1',
  EGRESS_CALLS_MAX: '12',
  MCP_SESSIONS_MAX: String(poolMax),
  EGRESS_LOOKUPS_MAX: '8',
  ...lastingEnv,
};
const completion = { model: testModel, messages: [{ role: 'user', content: 'Hi' }] };
const hostile = `data:application/pdf;base64,${Buffer.from(nestedFormsPdf()).toString('base64')}`;
const text = `data:text/plain;base64,${Buffer.from('The fair opens on 9 May.').toString('base64')}`;
const responseWith = (fileData: string) => ({
  model: testModel,
  store: false,
  input: [{ type: 'message', role: 'user', content: [{ type: 'input_file', file_data: fileData, filename: 'a' }] }],
});
const responseFrom = (fileUrl: string) => ({
  model: testModel,
  store: false,
  input: [{ type: 'message', role: 'user', content: [{ type: 'input_file', file_url: fileUrl, filename: 'a.txt' }] }],
});
/** By the name of the pool: fills it as the greedy tenant, and checks that another tenant gets its first place meanwhile. */
export const poolScenarios: Readonly<Record<string, (scene: PoolScene) => Promise<void>>> = {
  async runs({ upstream, greedy, newcomer, leave }) {
    upstream.otherwise({ text: ['One', ' two'], restGate: never });
    const opened = await fillBy(greedy, async (who) => {
      const { status, left } = await openStream(who, '/api/v1/chat/completions', { ...completion, stream: true });
      leave.push(left);
      return status === 200;
    });
    expectShare(opened);
    upstream.otherwise({ text: 'Hello' });
    expect(await newcomer.post('/api/v1/chat/completions', completion)).toMatchObject({ status: 200 });
  },
  async 'active-runs'({ service, upstream, greedy, newcomer }) {
    upstream.otherwise({ text: ['One', ' two'], restGate: never });
    const background = { model: testModel, input: 'Hi', background: true };
    const begun = await fillBy(greedy, async (who) => (await who.post(responsesPath, background)).status === 200);
    expectShare(begun);
    upstream.otherwise({ text: 'Hello' });
    const first = await newcomer.post(responsesPath, background);
    expect(first.status).toBe(200);
    await eventually(async () => expect((await newcomer.get(`${responsesPath}/${first.body.id}`)).body.status).toBe('completed'));
    await eventually(() => expect(service.deps.pools.countOf('active-runs')).toBe(begun));
    expect(await newcomer.post('/api/v1/chat/completions', completion)).toMatchObject({ status: 200 });
  },
  async uploads({ service, make, greedy, newcomer, leave }) {
    const begun = await fillBy(greedy, async (who) => {
      const { socket, isTaken } = await beginUpload(service, who);
      leave.push(() => socket.destroy());
      return isTaken;
    });
    expectShare(begun);
    const agent = await make.agent({ owner: newcomer });
    expect((await addFile(newcomer, agent.id, 'a.txt', 'The fair opens on 9 May.')).status).toBe(200);
  },
  async subscriptions({ make, greedy, newcomer, leave }) {
    const chats = new Map<string, string>();
    const chatOf = async (who: Person) => {
      const known = chats.get(who.orgId);
      if (known !== undefined) return known;
      const { id } = await make.chat({ owner: who, agentId: (await make.agent({ owner: who })).id });
      chats.set(who.orgId, id);
      return id as string;
    };
    const open = async (who: Person) => {
      const body = {
        query: 'subscription ($chatId: ID!) { chatUpdated(chatId: $chatId) { id } }',
        variables: { chatId: await chatOf(who) },
      };
      const { status, left } = await openStream(who, '/graphql', body);
      leave.push(left);
      return status === 200;
    };
    expectShare(await fillBy(greedy, open));
    for (const who of greedy) expect((await who.call('PUT', '/graphql/stream')).status).toBe(429);
    expect(await open(newcomer)).toBe(true);
  },
  async sockets({ service, greedy, newcomer, leave }) {
    const open = async (who: Person) => {
      const socket = await ResponseSocket.connect(service.url, who.key).catch(() => undefined);
      leave.push(() => socket?.close());
      return socket !== undefined;
    };
    expectShare(await fillBy(greedy, open));
    expect(await open(newcomer)).toBe(true);
  },
  async requests({ service, upstream, greedy, newcomer }) {
    upstream.otherwise({ text: ['One', ' two'], restGate: never });
    // The pause waits for the end of a model call, which never comes.
    const paused = await Promise.all(
      greedy
        .slice(0, 3)
        .map(async (who) => (await who.post(responsesPath, { model: testModel, input: 'Hi', background: true })).body.id),
    );
    await upstream.until(({ openStreams }) => openStreams === paused.length);
    for (let call = 0; call < 60; call += 1) {
      const id = paused[call % paused.length];
      void greedy[call % paused.length]?.post(`${responsesPath}/${id}/pause`).catch(() => undefined);
    }
    await eventually(() => expect(service.deps.pools.countOf('requests')).toBeGreaterThanOrEqual(2));
    expect(await newcomer.get('/api/v1/ais')).toMatchObject({ status: 200 });
    expect(await newcomer.graphql('{ viewer { keyId } }')).toMatchObject({ status: 200 });
  },
  async statements({ service, make, greedy, newcomer }) {
    await make.agent({ owner: newcomer });
    const searches = Array.from({ length: 50 }, (_, index) => `a${index}: search(query: "fair ${index}") { __typename }`);
    const asked = greedy.map((who) => who.graphql(`{ ${searches.join(' ')} }`));
    const left = { count: asked.length };
    for (const search of asked) void search.finally(() => (left.count -= 1));
    await eventually(() => expect(service.deps.pools.countOf('statements')).toBeGreaterThan(0));
    expect(await newcomer.get('/api/v1/ais')).toMatchObject({ status: 200 });
    expect(left.count).toBeGreaterThan(0);
    await Promise.all(asked);
  },
  async python({ service, upstream, greedy, newcomer }) {
    if ((await findBox()) === undefined) throw new Error('this machine has no box for Python: the pool cannot be shown');
    answerWithTool(upstream, 'python', (isSlow) => ({ code: isSlow ? 'while True: pass' : 'print(6 * 7)' }));
    const run = (who: Person, input: string) =>
      who.post(responsesPath, { model: testModel, input, tools: [{ type: 'python' }], store: false });
    for (const who of greedy.slice(0, 6)) void run(who, 'slow').catch(() => undefined);
    await eventually(() => expect(service.deps.pools.countOf('python')).toBe(1));
    const { status, body } = await run(newcomer, 'quick');
    expect([status, JSON.stringify(body)]).toEqual([200, expect.stringContaining('42')]);
  },
  async spreadsheet({ service, upstream, greedy, newcomer }) {
    const slow = Array.from({ length: 2_000 }, () => ['=SUM(A1:A1000000)']);
    answerWithTool(upstream, 'spreadsheet', (isSlow) => ({
      operation: 'create',
      file: 'a.xlsx',
      values: isSlow ? slow : [['=6*7']],
    }));
    const run = (who: Person, input: string) =>
      who.post(responsesPath, { model: testModel, input, tools: [{ type: 'spreadsheet' }], store: false });
    for (const who of greedy.slice(0, 6)) void run(who, 'slow').catch(() => undefined);
    await eventually(() => expect(service.deps.pools.countOf('spreadsheet')).toBe(1));
    const { status, body } = await run(newcomer, 'quick');
    expect([status, JSON.stringify(body)]).toEqual([200, expect.stringContaining('42')]);
    expect(service.deps.pools.countOf('spreadsheet')).toBe(1);
  },
  async 'web-searches'({ service, upstream, greedy, newcomer }) {
    answerWithTool(upstream, 'web_search', (isSlow) => ({ query: isSlow ? 'silent' : 'fair' }));
    const run = (who: Person, input: string) =>
      who.post(responsesPath, { model: testModel, input, tools: [{ type: 'web_search' }], store: false });
    for (const who of greedy.slice(0, 6)) void run(who, 'slow').catch(() => undefined);
    await eventually(() => expect(service.deps.pools.countOf('web-searches')).toBe(1));
    const { status, body } = await run(newcomer, 'quick');
    expect([status, body.output[0]]).toMatchObject([200, { type: 'web_search_call', status: 'completed' }]);
    expect(service.deps.pools.countOf('web-searches')).toBe(1);
  },
  async 'prompt-readers'({ service, upstream, greedy, newcomer }) {
    upstream.otherwise({ text: 'Read' });
    for (const who of greedy.slice(0, 8)) void who.post(responsesPath, responseWith(hostile)).catch(() => undefined);
    await eventually(() => expect(service.deps.pools.countOf('prompt-readers')).toBe(1));
    expect(await newcomer.post(responsesPath, responseWith(text))).toMatchObject({ status: 200 });
  },
  async 'export-readers'({ service, make, greedy, newcomer }) {
    const many = Array.from({ length: 2_000 }, (_, index) => claudeConversation(`chat-${index}`));
    const sent = greedy.slice(0, 6).map(async (who) => sendImport(who, (await make.agent({ owner: who })).id, many));
    // Places are held for the moments in which files are read, not while their chats are written.
    while (service.deps.pools.countOf('export-readers') === 0) await nextTurn();
    await Promise.all(sent);
    const agent = await make.agent({ owner: newcomer });
    const imported = importFile(newcomer, agent.id, [claudeConversation('own')]);
    expect(await imported).toMatchObject({ status: 'DONE', importedCount: 1 });
    expect(await service.deps.storage.db.prisma.chatImport.count({ where: { endedAt: null } })).toBeGreaterThan(0);
  },
  async 'page-readers'({ service, make, site, greedy, newcomer }) {
    const crawl = async (who: Person, path: string, more: object = {}) => {
      const agent = await make.agent({ owner: who });
      const input = {
        url: `${site.url}${path}`,
        dataRefreshPeriod: 'NEVER',
        includeFiles: false,
        includedFileTypes: [],
        ...more,
      };
      const { status, body } = await who.post(`/api/v1/ais/${agent.id}/data-sources/web-url`, input);
      expect(status).toBe(200);
      return body.id as string;
    };
    const includeUrlGlobs = Array.from({ length: 100 }, (_, index) => `${site.url}/${'*a'.repeat(20)}${index}b`);
    for (const who of greedy.slice(0, 6)) await crawl(who, '/links', { includeUrlGlobs });
    await eventually(() => expect(service.deps.pools.countOf('page-readers')).toBeGreaterThan(0));
    const source = await crawl(newcomer, '/fair');
    expect(await indexed(newcomer, source)).toMatchObject({ indexStatus: 'INDEXED' });
  },
  async 'egress-calls'({ service, upstream, site, greedy, newcomer }) {
    upstream.otherwise({ text: 'Read' });
    for (const who of greedy) void who.post(responsesPath, responseFrom(`${site.url}/silent`)).catch(() => undefined);
    await eventually(() => expect(service.deps.pools.countOf('egress-calls')).toBeGreaterThanOrEqual(3));
    expect(await newcomer.post(responsesPath, responseFrom(`${site.url}/page`))).toMatchObject({ status: 200 });
  },
  async 'mcp-sessions'({ service, upstream, site, greedy, newcomer }) {
    upstream.otherwise({ text: 'Read' });
    const callServer = (who: Person, path: string, label: string) =>
      who.post(responsesPath, {
        ...{ model: testModel, input: 'Hi', store: false },
        tools: [{ type: 'mcp', server_label: label, server_url: `${site.url}${path}`, require_approval: 'never' }],
      });
    // Sessions with one address are shared.
    for (const [index, who] of greedy.entries()) void callServer(who, `/silent/${index}`, 'silent').catch(() => undefined);
    await eventually(() => expect(service.deps.pools.countOf('mcp-sessions')).toBeGreaterThanOrEqual(poolMax / 2));
    const { status, body } = await callServer(newcomer, '/page', 'page');
    expect([status, body.output[0].type]).toEqual([200, 'mcp_list_tools']);
    // The page is no MCP server, but it was asked.
    expect(body.output[0].error).not.toContain('share');
    expect(service.deps.pools.countOf('mcp-sessions')).toBeLessThan(poolMax);
  },
  async 'egress-lookups'({ service, upstream, site, greedy, newcomer }) {
    upstream.otherwise({ text: 'Read' });
    const named = (name: string, path: string) => responseFrom(`http://${name}.test:${new URL(site.url).port}${path}`);
    for (const [index, who] of greedy.entries()) {
      void who.post(responsesPath, named(`silent-${index}`, '/page')).catch(() => undefined);
    }
    await eventually(() => expect(service.deps.pools.countOf('egress-lookups')).toBeGreaterThanOrEqual(3));
    expect(await newcomer.post(responsesPath, named('fine', '/page'))).toMatchObject({ status: 200 });
  },
};

/** Places of a job queue, which pg-boss shares. */
export async function indexingScenario({ service, make, upstream, greedy, newcomer }: PoolScene): Promise<void> {
  upstream.otherwise({ text: 'Read' });
  const sources: string[] = [];
  for (const who of [greedy[0], greedy[7], greedy[14]]) {
    if (who === undefined) continue;
    const agent = await make.agent({ owner: who });
    for (let file = 0; file < 5; file += 1) sources.push((await addFile(who, agent.id, 'a.pdf', nestedFormsPdf())).body.id);
  }
  await eventually(() => expect(service.deps.jobs.counts.running).toBeGreaterThan(0));
  // A prompt with a file does not wait for the documents that are being indexed.
  expect(await newcomer.post(responsesPath, responseWith(text))).toMatchObject({ status: 200 });
  const agent = await make.agent({ owner: newcomer });
  const added = await addFile(newcomer, agent.id, 'a.txt', 'The fair opens on 9 May.');
  expect(await indexed(newcomer, added.body.id)).toMatchObject({ indexStatus: 'INDEXED' });
}

/** The greedy tenant got much of the pool, but not all of it. */
function expectShare(taken: number): void {
  expect(taken).toBeGreaterThanOrEqual(poolMax / 2);
  expect(taken).toBeLessThan(poolMax);
}

async function openStream(who: Person, path: string, body: unknown) {
  const controller = new AbortController();
  const response = await who.fetch('POST', path, body, { accept: 'text/event-stream' }, controller.signal);
  return { status: response.status, left: () => controller.abort() };
}

/** Sends the head and the first bytes of an upload that never ends. */
async function beginUpload({ url, deps }: TestService, { key }: Person) {
  const before = deps.pools.countOf('uploads');
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  let answer = '';
  socket.on('error', () => undefined).on('data', (data) => (answer += data));
  socket.write(
    `POST /api/v1/ais/ai_any/data-sources/file HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: multipart/form-data; boundary=x\r\ncontent-length: 100000\r\n\r\n`,
  );
  socket.write('--x\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\nThe fair');
  return eventually(() => {
    const isTaken = deps.pools.countOf('uploads') > before;
    if (!isTaken && answer === '') throw new Error('not answered yet');
    if (!isTaken) expect(answer).toMatch(/^HTTP\/1.1 (429|503)[\s\S]*retry-after: 1/i);
    return { socket, isTaken };
  });
}

/** The model calls one tool, then ends. @param argsOf  its arguments, for input with the word "slow" and for other input. */
function answerWithTool(upstream: Upstream, name: string, argsOf: (isSlow: boolean) => object): void {
  upstream.otherwise((request) => {
    const said = JSON.stringify(request.body?.messages);
    if (said.includes('"role":"tool"')) return { text: 'Done' };
    return { toolCalls: [{ id: 'call_1', name, arguments: JSON.stringify(argsOf(said.includes('slow'))) }] };
  });
}
