import {
  type GraphQLInputObjectType,
  type GraphQLInterfaceType,
  type GraphQLNamedType,
  getNamedType,
  isInputObjectType,
  isObjectType,
  isUnionType,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { secretMembers } from '../../../../src/domain/agents/tools/service-tools.ts';
import { findToolType, toolTypeNames } from '../../../../src/entities/conversations/runs/tool.ts';
import { buildSchema } from '../../../../src/graphql/schema.ts';
import { flatTypeNamed } from '../../../../src/lib/flat-inputs.ts';
import { responseToolParam } from '../../../../src/wire/responses/tools.ts';
import { sampled } from '../../../support/property/sample.ts';
import { withService } from '../../../support/service.ts';
import { graphqlTool } from '../../../support/tools/graphql-tool.ts';

/** Every member that a standing tool accepts is shown as it was given, on both APIs, and goes through bundles. */
const { make } = await withService();
const schema = buildSchema();

const ann = await make.person();

type Tool = Readonly<Record<string, unknown>> & { readonly type: string };

/** For each type, tools that have all of its members together. A new member without a value here fails the first tests below. */
const samples: readonly Tool[] = [
  {
    ...{ type: 'web_search', requireApproval: true, includeXSearch: false, searchContextSize: 'high' },
    userLocation: { type: 'approximate', city: 'Bern', country: 'CH', region: 'BE', timezone: 'Europe/Zurich' },
    filters: { allowedDomains: ['example.com'], blockedDomains: ['example.org'] },
  },
  { type: 'web_search', includeXSearch: true, userLocation: { country: 'CH' }, filters: { blockedDomains: [] } },
  {
    ...{ type: 'file_search', requireApproval: true, dataSourceIds: ['ds_1'], vectorStoreIds: ['vs_1', 'vs_2'] },
    ...{ maxNumResults: 3, rankingOptions: { ranker: 'auto', scoreThreshold: 0.25 } },
    filters: { type: 'eq', key: 'year', value: 2026 },
  },
  { type: 'file_search', filters: { type: 'eq', key: 'path', value: '' }, rankingOptions: { scoreThreshold: 0 } },
  { type: 'file_search', vectorStoreIds: ['vs_1'], filters: { type: 'ne', key: 'isDraft', value: false } },
  { type: 'file_search', filters: { type: 'in', key: 'mime_type', value: ['text/html', 'text/plain'] } },
  {
    type: 'file_search',
    filters: {
      type: 'and',
      filters: [
        { type: 'gte', key: 'path', value: 'docs/' },
        { type: 'or', filters: [{ type: 'eq', key: 'source_type', value: 'WIKI' }] },
      ],
    },
  },
  { type: 'python', requireApproval: true, container: { type: 'auto' } },
  { type: 'code_interpreter', requireApproval: false, container: { type: 'auto' } },
  { type: 'sandbox', requireApproval: true, container: { type: 'auto' } },
  {
    ...{ type: 'image_generation', requireApproval: true, model: 'openai/images', size: '1024x1024', quality: 'high' },
    ...{ background: 'opaque', outputFormat: 'webp', outputCompression: 0, n: 2, style: 'vivid', moderation: 'low' },
    ...{ inputFidelity: 'high', inputImageMask: { fileId: 'file_1' } },
  },
  { type: 'image_generation', inputImageMask: { imageUrl: 'data:image/png;base64,AAAA' } },
  { type: 'spreadsheet', requireApproval: true },
  { type: 'memory', requireApproval: true, scope: 'agent' },
  { type: 'mcp_server', requireApproval: true, server: 'desk', serverId: 'id_1', name: 'desk', serverLabel: 'desk' },
  {
    type: 'mcp_server',
    server: 'desk',
    serverDescription: 'Finds papers',
    allowedTools: { tool_names: ['search'], read_only: true },
  },
  {
    ...{ type: 'mcp', serverLabel: 'shop', serverUrl: 'https://example.com/mcp', serverDescription: 'Sells' },
    ...{ allowedTools: ['search'], requireApproval: 'never' },
  },
  {
    ...{ type: 'mcp', serverLabel: 'shop', serverUrl: 'https://example.com/mcp' },
    requireApproval: { always: { tool_names: ['pay'] }, never: { read_only: true } },
  },
  { type: 'subagent', requireApproval: true, agents: ['ai_1', 'ai_2'] },
  { type: 'deep_research', requireApproval: true, budget: { subagents: 2, tokens: 5_000 } },
  { type: 'deep_research', budget: { tokens: 1_000 } },
];

/** Accepted by responses only: REST and GraphQL refuse them here. */
const ofResponses = ['id', 'serverDescription', 'partialImages', 'modelConfiguration'];
/** Of the common format, and refused because they would have no effect here: test/contract/members/tool-members.test.ts. */
const withoutEffect = ['fileId', 'fileIds'];
/** Refused, see enabled-tools.test.ts. */
/** A file of the caller: agents refuse it. */
const ofRequests = ['inputImage'];
const notKept = new Set([...secretMembers, ...ofResponses, ...withoutEffect, ...ofRequests, 'function', 'type']);

const input = flatTypeNamed(schema, 'CompletionToolInput') as GraphQLInputObjectType;
const namesOf = (tools: readonly object[]) =>
  new Set(tools.flatMap((tool) => Object.keys(tool)).filter((name) => !notKept.has(name)));
const camelCase = (name: string) => name.replace(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());

it.each(toolTypeNames)('the samples have every member that %s may have', (name) => {
  const option = responseToolParam.options.find(({ shape }) => shape.type.value === name);
  const accepted = Object.keys(option?.shape ?? {}).map(camelCase);
  const type = findToolType(name);
  const given = samples.filter((sample) => findToolType(sample.type) === type);
  expect([...namesOf(given)].sort()).toEqual([...new Set(accepted)].filter((member) => !notKept.has(member)).sort());
});

it('the samples have every member of the input of REST, those of its inner inputs too', () => {
  const members = Object.values(input.getFields()).filter(({ name }) => !notKept.has(name));
  expect([...namesOf(samples)].sort()).toEqual(members.map(({ name }) => name).sort());
  for (const { name, type } of members) {
    const inner = getNamedType(type);
    if (!isInputObjectType(inner)) continue;
    const values = samples.flatMap((sample) => (sample[name] === undefined ? [] : [sample[name] as object]));
    const given = new Set(values.flatMap((value) => Object.keys(value)));
    expect([...given].sort(), name).toEqual(Object.keys(inner.getFields()).sort());
  }
});

/** Without the members that are null: those were not given. */
function given(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name, given(member)]));
}
const snakeCase = (name: string) =>
  name === 'includeXSearch' ? name : name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
function inSnakeCase(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [snakeCase(name), inSnakeCase(member)]));
}

/** A selection of every member of every tool. */
const everyTool = [
  '__typename requireApproval',
  ...schema.getPossibleTypes(schema.getType('EnabledTool') as GraphQLInterfaceType).map((type) => {
    const fields = Object.values(type.getFields()).filter(
      ({ name }) => !['requireApproval', 'type', 'agents', 'dataSources'].includes(name),
    );
    // Tools of two types may have a member of one name and of two types.
    return `... on ${type.name} { ${fields.map((field) => `${type.name}_${field.name}: ${field.name} ${membersOf(getNamedType(field.type))}`).join(' ')} type }`;
  }),
].join(' ');
function membersOf(type: GraphQLNamedType, depth = 0): string {
  if (isUnionType(type))
    return `{ ${type
      .getTypes()
      .map((one) => `... on ${one.name} ${membersOf(one, depth)}`)
      .join(' ')} }`;
  if (!isObjectType(type)) return '';
  const fields = Object.values(type.getFields()).filter((field) => depth < 2 || !isUnionType(getNamedType(field.type)));
  return `{ ${fields.map((field) => `${field.name} ${membersOf(getNamedType(field.type), depth + 1)}`).join(' ')} }`;
}
// biome-ignore lint/suspicious/noExplicitAny: tools of any type.
type Shown = any;
/** A tool that GraphQL shows, as an input has it. */
function asInput({ __typename, requireApproval, type: _type, ...shown }: Shown): object {
  const members: Shown = given(
    Object.fromEntries(Object.entries(shown).map(([name, value]) => [name.split('_')[1] ?? name, value])),
  );
  const { filter, approvalRules, ...own } = members;
  const name = __typename.charAt(0).toLowerCase() + __typename.slice(1).replace(/Tool$/, '');
  if (filter !== undefined) own.filter = filterInput(filter);
  if (name === 'mcp') own.approval = approvalRules === undefined ? { everyCall: requireApproval } : { byTool: approvalRules };
  else own.requireApproval = requireApproval;
  return { [name]: own };
}
function filterInput(filter: Shown): object {
  if (filter.filters !== undefined) return { [filter.isAny ? 'or' : 'and']: filter.filters.map(filterInput) };
  const { key, operator, values } = filter;
  return { compare: { key, operator, ...(['IN', 'NIN'].includes(operator) ? { values } : { value: values[0] }) } };
}
/** With what is the default. */
function asGiven(tool: Shown): object {
  const [[name, own]] = Object.entries(tool) as [[string, Shown]];
  if (name === 'mcp') return { mcp: { approval: { everyCall: true }, ...own } };
  return { [name]: { requireApproval: false, ...own } };
}

describe.each(sampled(samples).map((sample) => [JSON.stringify(sample), sample] as const))('%s', (_name, sample) => {
  const path = '/api/v1/ais';
  const members = {
    src: 'https://example.com/a.png',
    name: 'Ada',
    description: 'x',
    instructions: 'x',
  };
  const asked = sample.type === 'mcp' ? 'always' : false;
  const expected = [{ requireApproval: asked, ...sample, type: findToolType(sample.type) }];
  /** What GraphQL shows, as what it takes: both have the same members. */
  const onGraphql = async (id: string) => {
    const data = await ann.ask(`query ($id: ID!) { agent(id: $id) { enabledTools { ${everyTool} } } }`, { id });
    return data.agent.enabledTools.map(asInput);
  };
  const typed = asGiven(graphqlTool(sample));

  it.each(['camelCase', 'snake_case'])(
    'is shown on both APIs when REST wrote it in %s, and can be written back',
    async (spelling) => {
      const tool = spelling === 'camelCase' ? sample : inSnakeCase(sample);
      const { status, body } = await ann.post(path, { ...members, enabledTools: [tool] });
      expect(status, JSON.stringify(body)).toBe(200);
      expect(body.enabledTools.map(given)).toEqual(expected);
      expect(await onGraphql(body.id)).toEqual([typed]);
      const again = await ann.patch(`${path}/${body.id}`, { enabledTools: body.enabledTools });
      expect([again.status, again.body.enabledTools]).toEqual([200, body.enabledTools]);
    },
  );

  it('is shown on both APIs when GraphQL wrote it', async () => {
    const { id } = await make.agent({ owner: ann });
    const saving = 'mutation ($id: ID!, $input: UpdateAgentInput!) { updateAgent(id: $id, input: $input) { id } }';
    const { errors } = await ann.graphql(saving, { id, input: { enabledTools: [graphqlTool(sample)] } });
    expect(errors).toBeUndefined();
    expect(await onGraphql(id)).toEqual([typed]);
    const shown = (await ann.get(`${path}/${id}`)).body.enabledTools.map(given);
    expect(graphqlTool(shown[0])).toEqual(graphqlTool(expected[0] ?? {}));
  });

  it('goes through bundles of both APIs', async () => {
    const { body } = await ann.post(path, { ...members, enabledTools: [sample] });
    const bundle = (await ann.get(`${path}/${body.id}/export`)).body;
    expect(bundle.agent.enabledTools.map(given)).toEqual(expected);
    const { data } = await ann.graphql('query ($id: ID!) { agentBundle(agentId: $id) { file } }', { id: body.id });
    const [tool] = data.agentBundle.file.agent.enabledTools;
    expect({ requireApproval: asked, ...(given(tool) as object) }).toEqual(expected[0]);
    const imported = await ann.post(`${path}/import`, { bundle });
    expect(imported.status, JSON.stringify(imported.body)).toBe(200);
    expect(await onGraphql(imported.body.aiId)).toEqual([typed]);
  });
});
