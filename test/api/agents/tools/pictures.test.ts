import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { findBox } from '../../../../src/engine/tools/code/box/box.ts';
import { startImageServer } from '../../../fixtures/upstreams/images.ts';
import { startMcpUpstream } from '../../../fixtures/upstreams/mcp/server.ts';
import { startApiServer } from '../../../support/egress/api-server.ts';
import { sampled } from '../../../support/property/sample.ts';
import { withService } from '../../../support/service.ts';

/** Pictures that tools give: what the model sees in this turn and in later ones, and where callers find them. docs/tools.md has the table. */
const images = await startImageServer();
const server = await startMcpUpstream();
const { make, upstream } = await withService('model', {
  env: { IMAGE_MODEL: 'ollama/one', OLLAMA_BASE_URL: images.url, PYTHON_TIMEOUT_MS: '60000' },
});
const box = await findBox();
const model = 'openai/test-model';
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

const api = await startApiServer();
const ann = await make.person();

afterAll(() => Promise.all([server.close(), images.close(), api.close()]));

/** The server answers its tool with a picture. */
function giveByMcp(): void {
  const content = [{ type: 'image', mimeType: 'image/png', data: png.toString('base64') }];
  server.intercept = (rpc, res, id) => {
    if (rpc !== 'tools/call') return false;
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result: { content } })}\n\n`);
    return true;
  };
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of any shape; what is found is what is checked.
type Body = any;
interface Giver {
  readonly tools: readonly object[];
  readonly call: { readonly name: string; readonly arguments: string };
  /** What the agent needs. */
  readonly equip?: (agentId: string) => Promise<unknown>;
}
const drawing = "import plot; plot.line([1, 2]); plot.save('line.png')";
const givers: Readonly<Record<string, Giver>> = {
  mcp: {
    tools: [{ type: 'mcp', server_label: 'shop', server_url: server.url, allowed_tools: ['picture'], require_approval: 'never' }],
    call: { name: 'shop__picture', arguments: '{}' },
  },
  image_generation: {
    tools: [{ type: 'image_generation' }],
    call: { name: 'generate_image', arguments: '{"prompt":"A red cat"}' },
  },
  python: { tools: [{ type: 'python' }], call: { name: 'python', arguments: JSON.stringify({ code: drawing }) } },
  API_FUNCTION: {
    tools: [],
    call: { name: 'get_chart', arguments: '{}' },
    async equip(agentId) {
      api.answer(() => ({ body: png, headers: { 'content-type': 'image/png' } }));
      const data = { description: 'Draws', parameters: { type: 'object' }, method: 'GET', url: `${api.url}/chart` };
      const made = await ann.post(`/api/v1/ais/${agentId}/tools`, { name: 'get_chart', type: 'API_FUNCTION', data });
      expect(made.status).toBe(200);
    },
  },
};

/** Each asks an agent, and once more in the same conversation. */
const apis: Readonly<Record<string, (agentId: string, tools: readonly object[]) => Promise<readonly [Body, Body]>>> = {
  chats: async (agentId, tools) => {
    const { id } = await make.chat({ owner: ann, agentId });
    const send = async (prompt: string) => ok(await ann.post(`/api/v1/chats/${id}/messages`, { prompt, tools }));
    return [await send('Show it'), await send('And now?')];
  },
  'responses (/api/v2)': (agentId, tools) => twoResponses('/api/v2/responses', agentId, tools),
  'responses (/v1)': (agentId, tools) => twoResponses('/v1/responses', agentId, tools),
  completions: async (agentId, tools) => {
    const messages = [{ role: 'user', content: 'Show it' }];
    const first = ok(await ann.post('/v1/chat/completions', { model: agentId, messages, tools }));
    const { role, content } = first.choices[0].message;
    const more = [...messages, { role, content }, { role: 'user', content: 'And now?' }];
    return [first, ok(await ann.post('/v1/chat/completions', { model: agentId, messages: more, tools }))];
  },
};

async function twoResponses(path: string, agentId: string, tools: readonly object[]): Promise<readonly [Body, Body]> {
  const first = ok(await ann.post(path, { model: agentId, input: 'Show it', tools }));
  const next = { model: agentId, input: 'And now?', tools, previous_response_id: first.id };
  return [first, ok(await ann.post(path, next))];
}

function ok({ status, body }: { readonly status: number; readonly body: Body }): Body {
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}

/** How many pictures a request of the model has. */
const seenIn = ({ body }: Body): number =>
  body.messages.flatMap(({ content }: Body) => (Array.isArray(content) ? content : [])).filter(isPicture).length;
const isPicture = ({ type, image_url: image }: Body) => type === 'image_url' && /^data:image\/png;base64,iVBOR/.test(image.url);

/** Where in a reply an address stands that opens a picture. */
async function placesOf(value: Body, place = ''): Promise<readonly string[]> {
  if (typeof value === 'string') {
    const found = await Promise.all((value.match(/(?:https?:|data:image)[^\s)]+/g) ?? []).map(opensPicture));
    return found.includes(true) ? [place] : [];
  }
  if (typeof value !== 'object' || value === null) return [];
  const entries = Array.isArray(value)
    ? value.map((one): [string, Body] => [`${place}[${one?.type ?? ''}]`, one])
    : Object.entries(value).map(([name, one]): [string, Body] => [place === '' ? name : `${place}.${name}`, one]);
  const places = await Promise.all(entries.map(([at, one]) => placesOf(one, at)));
  return [...new Set(places.flat())];
}

async function opensPicture(address: string): Promise<boolean> {
  const reply = await fetch(address).catch(() => undefined);
  const bytes = reply?.ok === true ? Buffer.from(await reply.arrayBuffer()) : Buffer.alloc(0);
  return bytes.subarray(0, 4).equals(png.subarray(0, 4));
}

const rows = readFileSync('docs/tools.md', 'utf8').split('\n');

describe.each(sampled(Object.entries(givers)))('a picture of %s', (tool, { tools, call, equip }) => {
  it.runIf(tool !== 'python' || box !== undefined).each(Object.entries(apis))(
    'on %s does what the table in docs/tools.md says',
    { timeout: 120_000 },
    async (name, ask) => {
      giveByMcp();
      const agent = await make.agent({ owner: ann, modelId: model, intermediateStepsVisible: true });
      await equip?.(agent.id);
      upstream.next({ toolCalls: [{ id: 'call_1', ...call }] }, { text: 'Here.' }, { text: 'The same.' });
      const before = upstream.requests.length;
      const [reply] = await ask(agent.id, tools);
      const seen = upstream.requests.slice(before).map(seenIn);
      expect(seen.length).toBe(3);
      const words = (count: number | undefined) => (count === 1 ? 'seen' : count === 0 ? '–' : `${count} times`);
      const places = (await placesOf(reply)).map((place) => `\`${place}\``).join(', ');
      const row = `| ${tool} | ${name} | ${words(seen[1])} | ${words(seen[2])} | ${places === '' ? '–' : places} |`;
      expect(rows.filter((written) => written.startsWith(`| ${tool} | ${name} |`))).toEqual([row]);
    },
  );
});
