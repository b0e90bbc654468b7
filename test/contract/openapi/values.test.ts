import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startMcpUpstream } from '../../fixtures/upstreams/mcp/server.ts';
import { type Json, openapi } from '../../support/apis/described.ts';
import type { Person } from '../../support/make.ts';
import { sampled } from '../../support/property/sample.ts';
import { withService } from '../../support/service.ts';
import type { UpstreamRequest, UpstreamScript } from '../../support/upstream.ts';

/** Every value that openapi.json lists for a member of a request is accepted, and an error about any other value names the member. */

// With every setting that a tool of the service needs. No search is made: its call has no question.
const { make, upstream } = await withService('model', {
  env: { SEARCH_URL: 'http://127.0.0.1:1', IMAGE_MODEL: 'openai/test-image' },
});
const mcpServer = await startMcpUpstream();
let ann: Person;
/** An agent with knowledge: some tools of the service work for agents only. */
let agentId = '';
/** What a tool of the service cannot do without, by its type. */
let needed: Readonly<Record<string, object>> = {};
let knownItem = '';

beforeAll(async () => {
  ann = await make.person();
  const { body } = await ann.post('/api/v2/responses', { model: 'openai/test-model', input: 'Hello' });
  knownItem = body.output[0].id;
  agentId = (await make.agent({ owner: ann, modelId: 'openai/test-model' })).id;
  await make.apiDataSource({ owner: ann, agentId, data: { a: 'the harbour' } });
  const desk = { name: 'desk', url: mcpServer.url, headers: { 'X-Key': 'key-of-the-desk' } };
  const made = await ann.post('/api/v1/connections/mcp-servers', desk);
  expect(made.status, JSON.stringify(made.body)).toBeLessThan(300);
  needed = {
    mcp: { server_label: 'other_desk', server_url: mcpServer.url },
    mcp_server: { server: desk.name },
    subagent: { agents: [(await make.agent({ owner: ann, modelId: 'openai/test-model' })).id] },
  };
});
afterAll(() => mcpServer.close());
beforeEach(() => upstream.otherwise(obedient));

/** Calls a tool if the request forces a call, and answers with text otherwise. */
function obedient({ body }: UpstreamRequest): UpstreamScript {
  const { tool_choice: choice, tools } = body as Json;
  const name = choice === 'required' ? tools[0].function.name : choice?.function?.name;
  return name === undefined ? { text: '{}' } : { toolCalls: [{ id: 'call_1', name, arguments: '{}' }] };
}

interface Site {
  readonly path: string;
  readonly values: readonly string[];
  /** Puts the value into a request that is valid otherwise. */
  readonly within: (value: unknown) => unknown;
  /** A tool that this version does not serve: every value is refused by that name. */
  readonly isUnserved: boolean;
}

const named = (schema: Json): Json =>
  schema.$ref === undefined ? schema : openapi.components.schemas[schema.$ref.split('/').at(-1)];

/** All places of a schema where only certain texts are right. */
function* sitesOf(schema: Json, path: string, within: Site['within'], depth = 0, outer = false): Generator<Site> {
  const own = named(schema);
  const isUnserved = outer || own['x-parley-unserved'] === true;
  if (depth > 12) return;
  const values = own.const === undefined ? own.enum : [own.const];
  if (values?.some((value: unknown) => typeof value === 'string')) {
    yield { path, values: values.filter((value: unknown) => value !== null), within, isUnserved };
  }
  for (const variant of [...(own.oneOf ?? []), ...(own.anyOf ?? [])])
    yield* sitesOf(variant, path, within, depth + 1, isUnserved);
  if (own.items !== undefined) yield* sitesOf(own.items, `${path}[0]`, (value) => within([value]), depth + 1, isUnserved);
  for (const [name, member] of Object.entries<Json>(own.properties ?? {})) {
    const place = path === '' ? name : `${path}.${name}`;
    yield* sitesOf(member, place, (value) => within({ ...sample(own), [name]: value }), depth + 1, isUnserved);
  }
}

/** The service fetches images by address, so the examples' images are sent as data instead. */
function withOwnPictures(example: unknown): unknown {
  return JSON.parse(JSON.stringify(example).replaceAll('https://example.com/photo.png', 'data:image/png;base64,iVBORw0KGgo='));
}

/** A value that the schema allows; objects have their required members only. */
function sample(schema: Json): Json {
  const own = named(schema);
  if (own.examples !== undefined) return withOwnPictures(own.examples[0]);
  if (own.const !== undefined) return own.const;
  if (own.enum !== undefined) return own.enum[0];
  if (own.oneOf !== undefined || own.anyOf !== undefined) return sample((own.oneOf ?? own.anyOf)[0]);
  const type = Array.isArray(own.type) ? own.type[0] : own.type;
  if (type === 'object') {
    return Object.fromEntries((own.required ?? []).map((name: string) => [name, sample(own.properties[name])]));
  }
  if (type === 'array') return own.minItems > 0 ? [sample(own.items)] : [];
  return { string: 'sample', integer: own.minimum ?? 0, number: own.minimum ?? 0, boolean: false }[String(type)] ?? {};
}

const { ResponseInput, CompletionInput } = openapi.components.schemas;
const serverTools = openapi.components.schemas.ToolChoiceServerTool.properties.type.enum;
const call = { type: 'function_call', call_id: 'sample', name: 'sample', arguments: '{}' };

/** With what its type cannot do without. */
const whole = (tool: Json): Json => ({ ...tool, ...needed[tool.type] });

function responseBody(members: Json): Json {
  const tools = (members.tools ?? [{ type: 'function', name: 'sample' }, ...serverTools.map((type: string) => ({ type }))]).map(
    whole,
  );
  const input = Array.isArray(members.input) ? [{ role: 'user', content: 'Hello' }, call, ...members.input] : 'Hello';
  return { model: agentId, store: false, ...members, tools, input };
}
function completionBody(members: Json): Json {
  const given = members.tools?.map((tool: Json) =>
    serverTools.includes(tool.type) ? tool : { function: { name: 'sample' }, ...tool },
  );
  const every = [{ type: 'function', function: { name: 'sample' } }, ...serverTools.map((type: string) => ({ type }))];
  const tools = (given ?? every).map(whole);
  const messages = members.messages.map((message: Json) => {
    const role = Array.isArray(message.content) ? 'user' : message.role;
    return { content: 'Hello', ...message, role };
  });
  return { ...members, tools, messages, model: agentId };
}
/** References an item that exists. */
function referring(body: Json): Json {
  if (!Array.isArray(body.input)) return body;
  const isReference = (item: Json) => item.type === 'item_reference' || (item.type === undefined && item.role === undefined);
  return { ...body, input: body.input.map((item: Json) => (isReference(item) ? { ...item, id: knownItem } : item)) };
}

const apis = [
  ['/api/v2/responses', [...sitesOf(ResponseInput, '', (value) => responseBody(value as Json))]],
  ['/api/v1/chat/completions', [...sitesOf(CompletionInput, '', (value) => completionBody(value as Json))]],
] as const;

describe.each(apis)('%s', (path, sites) => {
  const places = [...Map.groupBy(sites, (site) => site.path)].map(([place, same]) => [place, same] as const);
  it('has members that take certain values only', () => {
    expect(places.length).toBeGreaterThan(5);
  });
  // Messages of the role tool need the call that they answer, answers to approvals a call that waits, parts with an id a file; other tests send them.
  const needsMore = (place: string, value: string) =>
    (place === 'input[0].type' && value === 'mcp_approval_response') ||
    (place === 'messages[0].role' && value === 'tool') ||
    (place === 'messages[0].content[0].type' && value === 'id');

  it.each(sampled(places))('%s takes what is described, and nothing else', async (place, same) => {
    for (const { values, within, isUnserved } of same) {
      for (const value of values) {
        if (needsMore(place, value)) continue;
        const { status, body } = await ann.post(path, referring(within(value) as Json));
        const outcome = isUnserved ? [status, body.error?.code] : [status, body.error ?? null];
        expect(outcome, `${place}: ${value}`).toEqual(isUnserved ? [400, 'tool_not_available'] : [200, null]);
      }
      const { status, body } = await ann.post(path, referring(within('nonsense') as Json));
      const faults = body.error?.errors ?? [body.error];
      const told = faults.map((fault: Json) => String(fault?.param).replace(/^input\[2\]/, 'input[0]'));
      const isNamed = told.some((param: string) => place === param || /^[.[]/.test(place.replace(param, '')));
      expect([status, isNamed], `${place}: ${JSON.stringify(body.error ?? body.status)}`).toEqual([400, true]);
    }
  });
});
