import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findBox } from '../../../../src/engine/tools/code/box/box.ts';
import { pixel, startImageServer } from '../../../fixtures/upstreams/images.ts';
import { startMcpUpstream } from '../../../fixtures/upstreams/mcp/server.ts';
import { html, startWeb } from '../../../fixtures/upstreams/web.ts';
import { indexed } from '../../../support/knowledge/knowledge.ts';
import type { Person } from '../../../support/make.ts';
import { inTurn } from '../../../support/property/sample.ts';
import { isSubagent, messagesOf, toolsOf } from '../../../support/runs/research.ts';
import { withService } from '../../../support/service.ts';
import { chatsOnGraphql, everyApi } from '../../../support/tools/every-api.ts';
import type { UpstreamRequest, UpstreamScript } from '../../../support/upstream.ts';

/** Each tool of the service on each API, streamed and whole: the model is told the same, and the caller gets the same text, sources and files. */
const web = await startWeb({
  '/bikes': { title: 'Bikes', snippet: 'All bikes are blue.', reply: html('Bikes', '<main><p>All bikes are blue.</p></main>') },
});
const images = await startImageServer();
const server = await startMcpUpstream();
const folder = mkdtempSync(join(tmpdir(), 'parley-tools-'));
const file = join(folder, 'servers.json');
writeFileSync(file, JSON.stringify({ servers: [{ name: 'desk', url: server.url }] }));
const bench = await withService('model', {
  env: {
    ...{ SEARCH_URL: web.url, MCP_SERVERS_FILE: file, PYTHON_TIMEOUT_MS: '60000' },
    ...{ IMAGE_MODEL: 'ollama/one', OLLAMA_BASE_URL: images.url },
  },
});
const { make, upstream, service } = bench;
const box = await findBox();
const modelId = 'openai/test-model';
let ann: Person;
let desk: string;

beforeAll(async () => {
  ann = await make.person();
  desk = (await make.agent({ owner: ann, name: 'Desk', modelId, instructions: 'DESK RULES' })).id;
});
afterAll(async () => {
  await Promise.all([web.close(), images.close(), server.close()]);
  rmSync(folder, { recursive: true });
});

type Call = readonly [name: string, args: object];
interface Row {
  /** Undefined for what an agent brings along. */
  readonly tool?: () => Readonly<Record<string, unknown>>;
  /** Gives the agent what it needs. */
  readonly equip?: (agentId: string) => Promise<unknown>;
  /** The calls of the model, one after the other; then it answers. */
  readonly calls: readonly Call[];
  /** What the model is told by each. */
  readonly told: readonly RegExp[];
  readonly answer?: (told: readonly string[]) => string;
  /** Answers requests of others than the run itself. */
  readonly aside?: (request: UpstreamRequest) => UpstreamScript | undefined;
  readonly text: string;
  readonly cites?: RegExp;
  /** Whether these are the bytes of the one file that it makes; absent for none. */
  readonly made?: (bytes: Buffer) => boolean;
  readonly needsBox?: true;
}

const told = (request: UpstreamRequest) =>
  messagesOf(request).flatMap(({ role, content }) => (role === 'tool' ? [content ?? ''] : []));
const systemOf = (request: UpstreamRequest) => messagesOf(request)[0]?.content ?? '';
const prices = async (agentId: string) =>
  indexed(
    ann,
    (await make.apiDataSource({ owner: ann, agentId, name: 'Prices', data: { repair: 'A repair costs 15 euros.' } })).id,
  );
const passage = (output = '') => / n="(\d+)"/.exec(output)?.[1] ?? '0';
const isPixel = (bytes: Buffer) => bytes.equals(pixel);
const isText = (bytes: Buffer) => bytes.toString() === 'made\n';
const done = 'It is done.';

const rows: Readonly<Record<string, Row>> = {
  web_search: {
    tool: () => ({ type: 'web_search', search_context_size: 'low', filters: { allowed_domains: ['127.0.0.1'] } }),
    calls: [['web_search', { query: 'bikes' }]],
    told: [/<result n="1" [\s\S]*All bikes are blue/],
    ...{ text: 'Blue [1].', cites: /\/bikes$/ },
  },
  open_page: {
    tool: () => ({ type: 'web_search' }),
    calls: [
      ['web_search', { query: 'bikes' }],
      ['open_page', { url: `${web.url}/bikes` }],
    ],
    told: [/<result n="1" /, /<page n="1" [\s\S]*All bikes are blue/],
    ...{ text: 'Blue [1].', cites: /\/bikes$/ },
  },
  file_search: {
    tool: () => ({ type: 'file_search', max_num_results: 3 }),
    equip: prices,
    calls: [['search_knowledge', { query: 'repair' }]],
    told: [/costs 15 euros/],
    answer: ([found]) => `15 € [${passage(found)}].`,
    ...{ text: '15 € [1].', cites: /./ },
  },
  python: {
    tool: () => ({ type: 'python' }),
    calls: [['python', { code: "open('made.txt', 'w').write('made\\n')\nprint(6 * 7)" }]],
    told: [/^42\n\[Files given to the user: "made\.txt"/],
    ...{ text: done, made: isText, needsBox: true },
  },
  sandbox: {
    tool: () => ({ type: 'sandbox' }),
    calls: [['shell', { command: 'echo made > made.txt; wc -l < made.txt' }]],
    told: [/^\s*1\n\[Files given to the user: "made\.txt"/],
    ...{ text: done, made: isText, needsBox: true },
  },
  spreadsheet: {
    tool: () => ({ type: 'spreadsheet' }),
    calls: [['spreadsheet', { operation: 'create', file: 'made.csv', values: [[2, '=A1*21']] }]],
    told: [/"values":\[\[2,42\]\]/],
    ...{ text: done, made: (bytes) => bytes.toString().trim() === '2,42' },
  },
  image_generation: {
    tool: () => ({ type: 'image_generation', output_format: 'png' }),
    calls: [['generate_image', { prompt: 'A red cat' }]],
    told: [/^Made an image, shown to the user: a-red-cat\.png/],
    ...{ text: done, made: isPixel },
  },
  memory: {
    tool: () => ({ type: 'memory', scope: 'user' }),
    calls: [
      ['remember', { text: 'Likes green tea', key: 'drink' }],
      ['recall', { query: 'tea' }],
    ],
    told: [/^Remembered as memo_/, /Likes green tea/],
    text: done,
  },
  mcp_server: {
    tool: () => ({ type: 'mcp_server', server: 'desk', allowed_tools: ['picture'] }),
    calls: [['desk__picture', {}]],
    told: [/Here it is\./],
    ...{ text: done, made: isPixel },
  },
  mcp: {
    tool: () => ({
      ...{ type: 'mcp', server_label: 'shop', server_url: server.url },
      ...{ allowed_tools: { tool_names: ['picture'] }, require_approval: 'never' },
    }),
    calls: [['shop__picture', {}]],
    told: [/Here it is\./],
    ...{ text: done, made: isPixel },
  },
  subagent: {
    tool: () => ({ type: 'subagent', agents: [desk] }),
    calls: [['ask_Desk', { question: 'When?' }]],
    told: [/<answer agent="Desk">\nAt nine\.\n<\/answer>/],
    aside: (request) => (systemOf(request).includes('DESK RULES') ? { text: 'At nine.' } : undefined),
    text: done,
  },
  deep_research: {
    tool: () => ({ type: 'deep_research', budget: { subagents: 1 } }),
    equip: prices,
    calls: [['deep_research', { question: 'What does a repair cost?' }]],
    told: [/It costs 15 euros/],
    answer: ([report]) => `15 € [${/\[(\d+)\] [^;\n]*Prices/.exec(report ?? '')?.[1]}].`,
    aside(request) {
      if (systemOf(request).startsWith('You plan a research')) return { text: '{"questions":["What does a repair cost?"]}' };
      return isSubagent(request) ? { text: 'It costs 15 euros [1].' } : undefined;
    },
    ...{ text: '15 € [1].', cites: /./ },
  },
  skills: {
    equip: (agentId) =>
      ann.post(`/api/v1/ais/${agentId}/skills`, {
        name: 'Pirate',
        description: 'For pirates',
        content: 'Arr, matey. '.repeat(300),
      }),
    calls: [['use_skill', { name: 'Pirate' }]],
    told: [/Arr, matey/],
    text: done,
  },
  flows: {
    async equip(agentId) {
      await prices(agentId);
      const steps = [
        { id: 'found', type: 'retrieve', query: 'repair {{input}}' },
        { id: 'answer', type: 'model', prompt: 'FLOW {{steps.found.output}}' },
      ];
      const flow = { name: 'Main', versions: [{ version: 1, active: true, data: { steps } }] };
      expect((await ann.post(`/api/v1/ais/${agentId}/flows`, flow)).status).toBe(200);
    },
    ...{ calls: [], told: [], text: '15 € [1].', cites: /./ },
  },
};

/** The model of a row: it makes its calls, then answers. @returns what it was told before it answered. */
function script({ calls, aside, answer, text: said }: Row): () => readonly string[] {
  let heard: readonly string[] = [];
  upstream.otherwise((request) => {
    const other = aside?.(request);
    if (other !== undefined) return other;
    const outputs = told(request);
    const [name, args] = calls[outputs.length] ?? [];
    if (name !== undefined) {
      expect(toolsOf(request)).toContain(name);
      return { toolCalls: [{ id: `call_${outputs.length}`, name, arguments: JSON.stringify(args) }] };
    }
    heard = outputs;
    return { text: answer?.(outputs) ?? said };
  });
  return () => heard;
}

/** The bytes behind an address that a caller got: a data URL, a link that needs no key, or a file of a chat of the caller. */
async function opened(url: string): Promise<Buffer> {
  const place = url.startsWith('data:') ? url : service.url + url.replace(/^https?:\/\/[^/]+/, '');
  const needsKey = !url.startsWith('data:') && !url.includes('link=');
  const reply = await fetch(place, needsKey ? { headers: { authorization: `Bearer ${ann.key}` } } : {});
  expect(reply.status, url).toBe(200);
  return Buffer.from(await reply.arrayBuffer());
}

const apis = [...everyApi, ...chatsOnGraphql];

describe.each(Object.entries(rows).map(([type, row], turn) => [type, row, turn] as const))(
  '%s',
  { timeout: 120_000 },
  (_type, row, turn) => {
    let agentId: string;
    beforeAll(async () => {
      ({ id: agentId } = await make.agent({ owner: ann, modelId, generateCitations: true }));
      await row.equip?.(agentId);
    });
    const isRunnable = row.needsBox !== true || box !== undefined;

    it.runIf(isRunnable).each(inTurn(apis, turn))('%s', async (_api, ask) => {
      const heard = script(row);
      const answer = await ask(ann, { tool: row.tool?.(), input: 'Go', model: agentId, agentId }, bench);
      expect(heard()).toEqual(row.told.map((expected) => expect.stringMatching(expected)));
      expect(answer.text).toBe(row.text);
      expect(answer.cited).toEqual(row.cites === undefined ? [] : [expect.stringMatching(row.cites)]);
      const files = await Promise.all(answer.files.map(opened));
      expect(files.map((bytes) => row.made?.(bytes))).toEqual(row.made === undefined ? [] : [true]);
    });
  },
);
