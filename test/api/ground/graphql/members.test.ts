import { type GraphQLNamedType, getNamedType, isLeafType, isObjectType } from 'graphql';
import { describe, expect, it } from 'vitest';
import { buildSchema } from '../../../../src/graphql/schema.ts';
import { sampled } from '../../../support/property/sample.ts';
import { withService } from '../../../support/service.ts';
import { countFewestStatements } from '../../../support/storage/statements.ts';

const schema = buildSchema();
const { service, make } = await withService('web');

const ann = await make.person({ name: 'Ann' });
const bob = await make.person({ name: 'Bob', email: 'bob@example.com', organization: { id: ann.orgId, tenantId: ann.tenantId } });
const { id: groupId } = (
  await ann.post('/api/v1/groups', { name: 'Readers', availability: 'EVERYONE', memberEmails: 'bob@example.com' })
).body;
for (const name of ['First', 'Second']) {
  const agent = await make.agent({ owner: ann, name, groups: [groupId], visibility: 'GROUP' });
  const source = await make.apiDataSource({ owner: ann, agentId: agent.id, data: { about: name } });
  await fill(agent.id, source.dataSourceId ?? source.id);
}

/** Gives every member a value that is not its default, so that a missing member is noticed. */
async function fill(agentId: string, dataSourceId: string): Promise<void> {
  const {
    agents,
    db,
    agents: { ratings: agentRatings },
  } = service.deps.storage;
  const changes = {
    introduction: 'Hello',
    seed: 'A seed',
    modelId: 'parley/offline',
    listInOrgCatalog: true,
    listInPublicCatalog: true,
    listInTenantCatalog: true,
    isApprovedByOrg: true,
    chatLogsVisible: true,
    generateCitations: true,
    intermediateStepsVisible: true,
    enabledTools: [{ type: 'python', options: {} }],
    options: { topP: [0.5] },
    profile: { headline: 'Knows it all' },
    publicCategories: ['SALES'],
    orgCategoryIds: ['category'],
    editorIds: [bob.userId],
  } as const;
  await agents.update(agentId, changes, { userId: ann.userId, groups: { all: [] } });
  await agentRatings.rate(agentId, ann.userId, 4);
  await db.prisma.agent.update({ where: { id: agentId }, data: { messageCount: 7 } });
  await make.chat({ owner: ann, agentId });
  const broken = {
    errorCode: 'UNREACHABLE',
    errorMessage: 'It is gone',
    orgVisible: true,
    refreshPeriod: 'DAILY',
    lastIndexedAt: new Date(),
  };
  await db.prisma.dataSource.update({ where: { id: dataSourceId }, data: broken });
  // Nothing indexes in this process, and a source has no error while a run goes on.
  await db.prisma.sourceRun.updateMany({ where: { dataSourceId }, data: { status: 'FAILED', endedAt: new Date() } });
}

/** A field with the leaves below it, two levels deep; undefined for one that needs arguments. */
function selected(name: string, type: GraphQLNamedType, levels = 2): string | undefined {
  if (isLeafType(type)) return name;
  if (!isObjectType(type) || levels === 0) return undefined;
  const inner = Object.values(type.getFields()).flatMap(
    (field) => selected(field.name, getNamedType(field.type), levels - 1) ?? [],
  );
  return inner.length === 0 ? undefined : `${name} { ${inner.join(' ')} }`;
}

function selections(typeName: string): readonly string[] {
  const type = schema.getType(typeName);
  if (!isObjectType(type)) throw new Error(`${typeName} is no object type`);
  return Object.values(type.getFields()).flatMap((field) => selected(field.name, getNamedType(field.type)) ?? []);
}

type Things = readonly Readonly<Record<string, unknown>>[];

describe.each([
  ['Agent', 'agents', (inner: string) => `{ agents(first: 2) { nodes { ${inner} } } }`, (data: never) => agentsOf(data)],
  [
    'DataSource',
    'the data sources of agents',
    (inner: string) => `{ agents(first: 2) { nodes { sources(first: 1) { nodes { ${inner} } } } } }`,
    (data: never) => agentsOf(data).flatMap(({ sources }) => (sources as { nodes: Things }).nodes),
  ],
])('%s in a list', (typeName, _list, documentOf, thingsOf) => {
  const all = selections(typeName);

  it.each(sampled(all))('shows the same whether it is asked for alone or with everything: %s', async (selection) => {
    const name = selection.split(' ')[0] ?? '';
    for (const who of [ann, bob]) {
      const alone = await who.graphql(documentOf(`...on ${typeName} { ${selection} }`));
      const whole = await who.graphql(documentOf(all.join(' ')));
      expect(alone.errors).toBeUndefined();
      expect(whole.errors).toBeUndefined();
      const values = thingsOf(whole.data as never).map((thing) => ({ [name]: thing[name] }));
      expect(thingsOf(alone.data as never)).toEqual(values);
      if (who === ann) expect(values).toHaveLength(2);
    }
  });
});

it('has values to compare: nothing but what stands here is empty', async () => {
  const { data } = await ann.graphql(`{ agents(first: 2) { nodes { ${selections('Agent').join(' ')} } } }`);
  const empty = (thing: Readonly<Record<string, unknown>> = {}) =>
    Object.keys(thing).filter((name) => [null, '', false, 0].includes(thing[name] as never));
  const [agent] = agentsOf(data);
  // Warnings are of the change that answers with the agent.
  expect(empty(agent)).toEqual(['canary', 'isDeleted', 'isPremiumModel', 'warnings']);
  const sources = await ann.graphql(
    `{ agents(first: 2) { nodes { sources(first: 1) { nodes { ${selections('DataSource').join(' ')} } } } } }`,
  );
  const [source] = ((agentsOf(sources.data)[0]?.sources ?? { nodes: [] }) as { nodes: Things }).nodes;
  // No run goes on and nothing was indexed, none of these has a connection or mirrors permissions, and without EMBEDDING_MODEL there are no vectors.
  expect(empty(source)).toEqual([
    'activeRun',
    'connection',
    'indexPercentage',
    'permissionReading',
    'permissions',
    'vectorStore',
    'vectors',
  ]);
});

function agentsOf(data: { agents: { nodes: Things } }): Things {
  return data.agents.nodes;
}

describe('a list of agents', () => {
  const statementOf = async (query: string) => {
    const { statements } = await countFewestStatements(service, () => ann.graphql(query));
    return statements.join('\n');
  };

  it('fetches what is read of them, and nothing else', async () => {
    const statement = await statementOf('{ agents { nodes { name } } }');
    expect(statement).toContain('"t0"."name"');
    expect(statement).not.toMatch(/instructions|profile|jsonb_agg|"users"/i);
    expect(
      await statementOf('{ agents { edges { node { ... on Node { ...Told } } } } } fragment Told on Agent { instructions }'),
    ).toContain('"t0"."instructions"');
  });

  it('counts the items of data sources only where somebody asks how far they are', async () => {
    expect(await statementOf('{ agents { nodes { sources { nodes { name } } } } }')).not.toContain('knowledge_items');
    expect(await statementOf('{ agents { nodes { sources { nodes { indexStatus } } } } }')).toContain('knowledge_items');
  });

  it('keeps two selections of the same relation apart', async () => {
    const { data } = await ann.graphql(
      '{ agents { nodes { sources { nodes { name } } few: sources { nodes { id indexStatus usageCount } } } } }',
    );
    for (const { sources, few } of data.agents.nodes) {
      expect(sources.nodes).toEqual([{ name: expect.any(String) }]);
      expect(few.nodes).toEqual([{ id: expect.stringMatching(/^ds_/), indexStatus: expect.any(String), usageCount: 1 }]);
    }
  });
});
