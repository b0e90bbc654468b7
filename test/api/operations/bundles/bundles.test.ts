import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scopes } from '../../../../src/entities/people/caller.ts';
import { type ApiServer, startApiServer } from '../../../support/egress/api-server.ts';
import { makeFor, type Person } from '../../../support/make.ts';
import { timed } from '../../../support/processes/clock.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { propertyRuns } from '../../../support/property/sample.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { databaseText } from '../../../support/storage/dump.ts';

let here: TestService;
let there: TestService;
let api: ApiServer;
let ann: Person;
let bob: Person;
const log: string[] = [];

beforeAll(async () => {
  api = await startApiServer();
  const env = { LOG_LEVEL: 'debug', EGRESS_ALLOW: '127.0.0.1' };
  here = await startService({ env, onLog: (line) => void log.push(line) });
  there = await startService({ onLog: (line) => void log.push(line) });
  ann = await makeFor(here).person();
  bob = await makeFor(there).person();
});
afterAll(async () => {
  await here.close();
  await there.close();
  await api.close();
});

const canaries = (n: number) => `CANARY-${n}-4711`;
const agentPart = {
  name: 'Workshop help',
  introduction: 'Ask me.',
  description: 'Answers questions about the workshop',
  instructions: 'Answer {{name}} briefly.',
  seed: 'Hello',
  src: '',
  modelId: 'parley/offline',
  visibility: 'ORGANIZATION',
  generateCitations: true,
  options: { temperature: [0.2], maxTokens: [500] },
  profile: { headline: 'Knows bikes', features: [{ title: 'Fast', description: 'Very' }], conversations: [{ q: 'a' }] },
};
/** An agent with parts of every kind, and secrets nested in its tools. */
const whole = () => ({
  version: '1.0',
  agent: agentPart,
  tools: [
    {
      name: 'stock',
      type: 'API_FUNCTION',
      data: {
        description: 'Counts parts',
        parameters: { type: 'object', properties: { zeta: { type: 'string' }, alpha: { type: 'integer' } } },
        url: `https://ann:${canaries(1)}@api.example.com/{zeta}?api_key=${canaries(2)}`,
        headers: { Authorization: `Bearer ${canaries(3)}`, Accept: 'application/json' },
        body: { deep: [{ password: canaries(4) }] },
        auth: { type: 'apiKey', name: 'X-Key', value: canaries(5) },
      },
    },
    {
      name: 'mcp',
      type: 'MCP_SERVER',
      data: { url: 'https://mcp.example.com', env: { API_TOKEN: canaries(6) }, args: ['--token', canaries(7)] },
    },
    { name: 'ask', type: 'CLIENT_FUNCTION', data: { description: 'Asks', parameters: { type: 'object', properties: {} } } },
  ],
  userInputs: [
    {
      variableName: 'name',
      type: 'SHORT_TEXT',
      label: 'Name',
      configuration: { required: true, default: 'Ann' },
      showOnChatCreate: true,
      orderIndex: 1,
    },
    { variableName: 'age', type: 'NUMBER', label: 'Age', configuration: { min: 1 }, showOnChatCreate: false, orderIndex: 0 },
  ],
  flows: [
    { name: 'Second', enabled: false, versions: [] },
    {
      name: 'First',
      enabled: true,
      versions: [
        { version: 2, active: true, description: 'New', data: { steps: [{ type: 'retrieve' }, { type: 'model' }] } },
        { version: 1, active: false, description: '', data: {} },
      ],
    },
  ],
  dataSources: [
    {
      name: 'Prices',
      type: 'API',
      refreshPeriod: 'NEVER',
      data: {
        zebra: 1,
        services: [
          { name: 'Full service', priceEuro: 89 },
          { name: 'Puncture repair', priceEuro: 15 },
        ],
        apple: 2,
      },
    },
    {
      name: 'Handbook',
      type: 'FILE_UPLOAD',
      refreshPeriod: 'NEVER',
      data: { filename: 'handbook.md', mimeType: 'text/markdown', size: 60 },
      knowledgeItems: [
        {
          name: 'handbook.md',
          type: 'FILE_UPLOAD',
          uniqueId: 'h1',
          blobUrl: dataUrl('# Hours\n\nThe workshop is open from nine to five on weekdays.\n'),
          filename: 'handbook.md',
          mimeType: 'text/markdown',
        },
      ],
    },
    { name: 'Site', type: 'WEB_URL', refreshPeriod: 'DAILY', data: { url: 'https://bikes.example.com/', maxPages: 5 } },
  ],
  skills: [{ name: 'Refunds', description: 'Money back', content: 'Ask for the order.', enabled: true }],
  requiredSecrets: [{ key: 'EXTRA', description: 'By hand', secretType: 'header' }],
});

function dataUrl(text: string): string {
  return `data:text/markdown;base64,${Buffer.from(text).toString('base64')}`;
}
const importInto = (who: Person, bundle: unknown, more: object = {}, query = '') =>
  who.post(`/api/v1/ais/import${query}`, { bundle, ...more });
const exported = async (who: Person, id: string, query = '') => (await who.get(`/api/v1/ais/${id}/export${query}`)).body;

async function imported(who: Person, bundle: unknown, more: object = {}): Promise<string> {
  const reply = await importInto(who, bundle, more);
  expect(reply, JSON.stringify(reply.body)).toMatchObject({ status: 200, body: { aiId: expect.stringMatching(/^ai_/) } });
  return reply.body.aiId;
}

async function indexed(who: Person, id: string): Promise<void> {
  await eventually(async () => {
    const { body } = await who.get(`/api/v1/ais/${id}/data-sources`);
    const states = body.data
      .filter(({ type }: { type: string }) => type !== 'WEB_URL')
      .map(({ indexStatus }: { indexStatus: string }) => indexStatus);
    expect(states.every((state: string) => state === 'INDEXED')).toBe(true);
  });
}

/** Members that differ between two exports of equal agents: time, source, and ids. */
// biome-ignore lint/suspicious/noExplicitAny: bundles are JSON here.
function comparable({ exportedAt: _at, source: _source, dataSources, ...rest }: any) {
  return JSON.stringify({
    ...rest,
    dataSources: dataSources.map(({ originalId: _id, ...source }: { originalId: string }) => source),
  });
}
const ask = async (who: Person, model: string, content: string) => {
  const { body } = await who.post('/api/v1/chat/completions', { model, messages: [{ role: 'user', content }] });
  return body.choices[0].message.content;
};

describe('a bundle', () => {
  it('is exported without secrets, imported elsewhere, answers the same, and exports the same again', async () => {
    const first = await imported(ann, whole());
    await indexed(ann, first);
    const bundle = await exported(ann, first);
    expect(JSON.stringify(bundle)).not.toContain('CANARY');
    expect(bundle).toMatchObject({
      version: '1.0',
      source: { apiBaseUrl: here.url, orgId: ann.orgId },
      agent: { ...agentPart, options: { temperature: [0.2], maxTokens: [500], topP: [] }, profile: agentPart.profile },
      flows: [{ name: 'First', versions: [{ version: 1 }, { version: 2, active: true }] }, { name: 'Second' }],
      skills: whole().skills,
    });
    expect(bundle.tools.map(({ name }: { name: string }) => name)).toEqual(['ask', 'mcp', 'stock']);
    const keys = bundle.requiredSecrets.map(({ key }: { key: string }) => key);
    expect(keys).toEqual([
      'EXTRA',
      'MCP_ARGS_1',
      'MCP_ENV_API_TOKEN',
      'STOCK_AUTH_VALUE',
      'STOCK_BODY_DEEP_0_PASSWORD',
      'STOCK_HEADERS_AUTHORIZATION',
      'STOCK_URL',
      'STOCK_URL_API_KEY',
    ]);
    expect(JSON.stringify(bundle.dataSources[1].data)).toBe(JSON.stringify(whole().dataSources[0]?.data));

    const reply = await importInto(bob, bundle, { secrets: { EXTRA: 'CANARY-x', STOCK_URL: 'ann:CANARY-y' } });
    const missing = keys
      .filter((key: string) => key !== 'EXTRA' && key !== 'STOCK_URL')
      .map((key: string) => `secret missing: ${key}`);
    expect(reply.body.warnings).toEqual(['data source content not included: Site', ...missing]);
    const second = reply.body.aiId;
    await indexed(bob, second);
    const again = await exported(bob, second);
    expect(comparable(again)).toBe(comparable(bundle));
    for (const question of ['What does a full service cost?', 'When is the workshop open?']) {
      const answer = await ask(ann, first, question);
      expect(answer).toMatch(/89|nine/);
      expect(await ask(bob, second, question)).toBe(answer);
    }
    for (const service of [here, there]) expect(await databaseText(service)).not.toContain('CANARY');
    expect(log.join('\n')).not.toContain('CANARY');
  });

  it('is the same bytes twice, but for exportedAt', async () => {
    const id = await imported(ann, whole());
    await indexed(ann, id);
    const [one, two] = [await exported(ann, id), await exported(ann, id)];
    expect(JSON.stringify({ ...one, exportedAt: '' })).toBe(JSON.stringify({ ...two, exportedAt: '' }));
  });

  it('contains the requested data sources', async () => {
    const id = await imported(ann, whole());
    expect((await exported(ann, id, '?includeDataSources=false')).dataSources).toEqual([]);
    const [source] = (await exported(ann, id)).dataSources;
    const some = await exported(ann, id, `?dataSourceIds=${source.originalId}`);
    expect(some.dataSources.map(({ originalId }: { originalId: string }) => originalId)).toEqual([source.originalId]);
    const other = await imported(ann, whole());
    expect(await ann.get(`/api/v1/ais/${other}/export?dataSourceIds=${source.originalId}`)).toMatchObject({
      status: 400,
      body: { error: { param: 'dataSourceIds' } },
    });
  });

  it('accepts another name, and in a dry run only reports', async () => {
    const before = (await ann.get('/api/v1/ais?scope=OWNED')).body.data.length;
    const dry = await importInto(ann, { ...whole(), agent: { ...agentPart, modelId: 'nobody/none' } }, {}, '?dryRun=true');
    expect(dry.body).toMatchObject({
      aiId: null,
      warnings: expect.arrayContaining([
        expect.stringMatching(/^model substituted: nobody\/none is not available; parley\/offline/),
      ]),
    });
    expect((await ann.get('/api/v1/ais?scope=OWNED')).body.data.length).toBe(before);
    const id = await imported(ann, whole(), { name: 'Another' });
    expect((await ann.get(`/api/v1/ais/${id}`)).body).toMatchObject({ name: 'Another', userId: ann.userId, orgId: ann.orgId });
  });

  it('imports skills only with SKILLS:WRITE, and exports them only with SKILLS:READ', async () => {
    const make = makeFor(here);
    const withoutSkills = await make.withKey(ann, { scopes: scopes.filter((scope) => !scope.startsWith('SKILLS')) });
    const reply = await importInto(withoutSkills, whole());
    expect(reply.body.warnings.filter((text: string) => text.startsWith('skills'))).toEqual([
      'skills skipped: the key has no SKILLS:WRITE scope',
    ]);
    expect((await exported(ann, reply.body.aiId)).skills).toEqual([]);
    const id = await imported(ann, whole());
    expect((await exported(withoutSkills, id)).skills).toEqual([]);
    expect((await exported(ann, id)).skills).toHaveLength(1);
  });

  it('leaves its organization with an INSTANCE key only, and is for whoever there may use the agent', async () => {
    const make = makeFor(here);
    const id = await imported(ann, whole());
    const colleague = await make.person({ organization: { id: ann.orgId, tenantId: ann.tenantId } });
    const sister = await make.organization({ tenant: { id: ann.tenantId } });
    const tenantKey = await make.person({ organization: sister, role: 'ADMIN', level: 'TENANT' });
    const path = `/api/v1/ais/${id}/export`;
    const statuses = [ann, colleague, tenantKey, await make.person({ role: 'ADMIN' }), here.client()].map(
      async (who) => (await who.get(path)).status,
    );
    expect(await Promise.all(statuses)).toEqual([200, 200, 404, 404, 200]);
    await ann.patch(`/api/v1/ais/${id}`, { visibility: 'PRIVATE' });
    expect((await colleague.get(path)).status).toBe(404);
    const query = 'query ($id: ID!) { agentBundle(agentId: $id) { file requiredSecrets { key } } }';
    expect((await here.client().graphql(query, { id })).data.agentBundle.file.agent.instructions).toBe(agentPart.instructions);
    await ann.patch(`/api/v1/ais/${id}`, { visibility: 'ANYONE_WITH_LINK' });
    const stranger = await make.person();
    expect((await stranger.graphql(query, { id })).errors?.[0]?.extensions.code).toBe('FORBIDDEN');
  });

  it('is imported over GraphQL as over REST', async () => {
    const mutation = 'mutation ($input: ImportAgentInput!) { importAgent(input: $input) { agent { name } warnings } }';
    const reply = await ann.graphql(mutation, { input: { bundle: whole() } });
    expect(reply.data.importAgent).toMatchObject({ agent: { name: 'Workshop help' } });
    expect(JSON.stringify(reply.data)).not.toContain('CANARY');
  });

  it('is over GraphQL the file that REST exports, and is refused with the place of a fault', async () => {
    const { id } = await makeFor(here).agent({
      owner: ann,
      enabledTools: [{ type: 'web_search', user_location: { city: 'Bern' } }],
    });
    const { data } = await ann.graphql('query ($id: ID!) { agentBundle(agentId: $id) { file } }', { id });
    const { file } = data.agentBundle;
    const exported = (await ann.get(`/api/v1/ais/${id}/export`)).body;
    const [tool] = exported.agent.enabledTools;
    expect(tool).toMatchObject(file.agent.enabledTools[0]);
    expect({ ...exported, exportedAt: file.exportedAt, agent: null }).toEqual({ ...file, agent: null });
    const mutation = 'mutation ($input: ImportAgentInput!) { importAgent(input: $input) { agentId warnings } }';
    const copy = await ann.graphql(mutation, { input: { bundle: file } });
    expect(copy.errors).toBeUndefined();
    const again = (await ann.get(`/api/v1/ais/${copy.data.importAgent.agentId}/export`)).body;
    expect({ ...again, exportedAt: exported.exportedAt }).toEqual(exported);
    const { errors } = await ann.graphql(mutation, { input: { bundle: { ...file, agent: { ...file.agent, name: 7 } } } });
    expect(errors?.[0]?.extensions.faults[0].path).toBe('input.bundle.agent.name');
  });
});

describe('content that a bundle names by address', () => {
  const withFile = (blobUrl: string, name = 'a.md') => ({
    version: '1.0',
    agent: agentPart,
    dataSources: [
      {
        name: 'File',
        type: 'FILE_UPLOAD',
        data: {},
        knowledgeItems: [{ name, uniqueId: 'a', blobUrl, filename: 'a.md', mimeType: 'text/markdown' }],
      },
    ],
  });

  it('is fetched where that is allowed', async () => {
    api.answer(() => ({ headers: { 'content-type': 'text/markdown' }, body: 'The workshop lamp costs 42 euro.' }));
    const reply = await importInto(ann, withFile(`${api.url}/a.md`));
    expect(reply.body.warnings).toEqual([]);
    await indexed(ann, reply.body.aiId);
    expect(await ask(ann, reply.body.aiId, 'What does the workshop lamp cost?')).toContain('42');
  });

  it('has a name that is cut where the index of names does not take it', async () => {
    // Signs of three bytes, in an order that does not compress.
    const name = String.fromCodePoint(...Array.from({ length: 2_000 }, (_, n) => 0x4e00 + ((n * n * 7_919) % 20_011)));
    const { status, body } = await importInto(ann, withFile('', name));
    expect(status).toBe(200);
    const [source] = (await ann.get(`/api/v1/ais/${body.aiId}/data-sources`)).body.data;
    const [item] = (await ann.get(`/api/v1/data-sources/${source.id}/knowledge`)).body.data;
    expect(item.name).toBe(`${name.slice(0, 665)}…`);
  });

  it.each([
    '',
    'file:///etc/passwd',
    'http://169.254.169.254/latest',
    'data:text/plain,no',
    'javascript:alert(1)',
    'ftp://a.example/x',
  ])('is left out with a warning: %s', async (blobUrl) => {
    api.reset();
    const reply = await importInto(bob, withFile(blobUrl === '' ? `${api.url}/a.md` : blobUrl));
    expect(reply).toMatchObject({ status: 200, body: { warnings: ['data source content not included: File'] } });
    expect(api.requests).toEqual([]);
    const [source] = (await bob.get(`/api/v1/ais/${reply.body.aiId}/data-sources`)).body.data;
    expect(source.indexStatus).toBe('FAILED');
  });
});

describe('an invalid bundle', () => {
  const count = async (who: Person) => (await who.get('/api/v1/ais?scope=OWNED')).body.data.length;

  it.each<[string, object, string]>([
    ['another version', { version: '2.0' }, 'bundle.version'],
    ['a blank name', { agent: { ...agentPart, name: ' ' } }, 'bundle.agent.name'],
    [
      'an option out of bounds',
      { agent: { ...agentPart, options: { temperature: [9] } } },
      'bundle.agent.options.temperature[0]',
    ],
    ['tools that are none', { tools: 'x' }, 'bundle.tools'],
    ['a source of a blank name', { dataSources: [{ name: ' ', type: 'API', data: {} }] }, 'bundle.dataSources[0].name'],
    [
      'a source of a long name',
      { dataSources: [{ name: 'x'.repeat(201), type: 'API', data: {} }] },
      'bundle.dataSources[0].name',
    ],
    ['a tool of no type', { tools: [{ name: 'a', type: 'SHELL', data: {} }] }, 'bundle.tools[0].type'],
    ['a tool that is a script', { tools: [{ name: '<script>', type: 'CLIENT_FUNCTION', data: {} }] }, 'bundle.tools[0].name'],
    [
      'two tools of a name',
      { tools: ['a', 'a'].map((name) => ({ name, type: 'CLIENT_FUNCTION', data: {} })) },
      'bundle.tools[1].name',
    ],
    ['tool data that is a list', { tools: [{ name: 'a', type: 'MCP_SERVER', data: [] }] }, 'bundle.tools[0].data'],
    [
      'a name of code',
      { tools: [{ name: 'a', type: 'MCP_SERVER', data: { a: { prototype: 1 } } }] },
      'bundle.tools[0].data.a.prototype',
    ],
    ['a bad address', { tools: [{ name: 'a', type: 'API_FUNCTION', data: { url: 'gopher://x' } }] }, 'bundle.tools[0].data.url'],
    [
      'too many tools',
      { tools: Array.from({ length: 65 }, (_, n) => ({ name: `t${n}`, type: 'CLIENT_FUNCTION', data: {} })) },
      'bundle.tools',
    ],
    [
      'a user input without a label',
      { userInputs: [{ variableName: 'a', type: 'SHORT_TEXT', label: '' }] },
      'bundle.userInputs[0].label',
    ],
    [
      'a default that does not fit',
      { userInputs: [{ variableName: 'a', type: 'NUMBER', label: 'A', configuration: { default: 'x' } }] },
      'bundle.userInputs[0].configuration.default',
    ],
    [
      'two active versions',
      { flows: [{ name: 'F', versions: [1, 2].map((version) => ({ version, active: true, data: {} })) }] },
      'bundle.flows[0].versions[1].active',
    ],
    ['a source of no type', { dataSources: [{ name: 'S', type: 'TAPE' }] }, 'bundle.dataSources[0].type'],
    ['a payload that is a text', { dataSources: [{ name: 'S', type: 'API', data: 'x' }] }, 'bundle.dataSources[0].data'],
    ['a bad key', { requiredSecrets: [{ key: '{{x}}' }] }, 'bundle.requiredSecrets[0].key'],
    ['a skill without a name', { skills: [{ name: '', content: 'x' }] }, 'bundle.skills[0].name'],
    ['null', { agent: null }, 'bundle.agent'],
  ])('is refused whole, with the place: %s', async (_case, members, param) => {
    const before = await count(ann);
    const reply = await importInto(ann, { ...whole(), ...members });
    const params = (reply.body.error.errors ?? [reply.body.error]).map((fault: { param: string }) => fault.param);
    expect([reply.status, params]).toEqual([400, expect.arrayContaining([param])]);
    expect(JSON.stringify(reply.body)).not.toContain('CANARY');
    expect(await count(ann)).toBe(before);
  });

  it('is refused for secrets that it does not need, without repeating them', async () => {
    const reply = await importInto(ann, whole(), { secrets: { OTHER: 'CANARY-1', EXTRA: 5 } });
    expect(reply.status).toBe(400);
    expect(JSON.stringify(reply.body)).toContain('secrets.OTHER');
    expect(JSON.stringify(reply.body)).not.toContain('CANARY');
  });

  it('is answered or refused in bounded time', async () => {
    const sane = whole();
    const nasty = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.constantFrom<unknown>(
        '<script>alert(1)</script>',
        '{{secret:X}}',
        '{{{{',
        'http://169.254.169.254/',
        '\u0000',
        '\ud800',
        'x'.repeat(30_000),
        -1,
        1e308,
        {},
        [],
        null,
      ),
      fc.constant(JSON.parse('{"__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": true}}}')),
    );
    const places = fc.constantFrom<readonly string[]>(
      ['agent', 'name'],
      ['agent', 'options'],
      ['agent', 'profile'],
      ['agent', 'modelId'],
      ['tools', '0', 'data'],
      ['tools', '0', 'data', 'url'],
      ['tools', '0', 'data', 'parameters'],
      ['tools', '0', 'data', 'auth'],
      ['tools', '0', 'name'],
      ['userInputs', '0', 'configuration'],
      ['userInputs', '0', 'configuration', 'options'],
      ['flows', '1', 'versions', '0', 'data'],
      ['flows', '1', 'versions', '0', 'data', 'steps'],
      ['dataSources', '0', 'data'],
      ['dataSources', '1', 'knowledgeItems', '0', 'blobUrl'],
      ['dataSources', '1', 'knowledgeItems'],
      ['skills'],
      ['requiredSecrets'],
      ['version'],
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(places, nasty), { minLength: 1, maxLength: 3 }), async (changes) => {
        const bundle = structuredClone(sane);
        // The cases share these objects: without a clone, one case would change the others' values.
        for (const [path, value] of changes) put(bundle, path, structuredClone(value));
        const { result: reply, elapsedMs } = await timed(() => importInto(ann, bundle, {}, '?dryRun=true'));
        expect([200, 400], JSON.stringify(reply.body)).toContain(reply.status);
        if (reply.status === 400) expect(reply.body.error.param, JSON.stringify(reply.body)).toMatch(/^bundle/);
        expect(elapsedMs).toBeLessThan(5_000);
        expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
      }),
      { numRuns: propertyRuns(60) },
    );
  });
});

/** Sets a nested member; a path that an earlier change removed is skipped. */
function put(target: unknown, path: readonly string[], value: unknown): void {
  let parent = target;
  for (const name of path.slice(0, -1)) {
    if (typeof parent !== 'object' || parent === null) return;
    parent = (parent as Record<string, unknown>)[name];
  }
  const last = path.at(-1);
  if (typeof parent === 'object' && parent !== null && last !== undefined) (parent as Record<string, unknown>)[last] = value;
}
