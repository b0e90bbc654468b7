import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSchema, type DocumentNode, execute, parse } from 'graphql';
import { makeId } from '../../src/entities/ground/ids.ts';
import { createLogger } from '../../src/http/log/logging.ts';
import { loadSettings } from '../../src/settings.ts';
import { startService } from '../../src/start/service.ts';

/**
 * Parley and a plain GraphQL server on the same data, in one process: 50 agents with two groups and two data sources each. The plain server is a
 * first draft without checks: graphql-js with documents parsed once, and one Prisma query with its relations included. mercurius with the same
 * resolvers costs about as much.
 */
const adminKey = 'pk-bench-administrator-key-of-40-characters';
const agentCount = 50;
const dataDir = mkdtempSync(join(tmpdir(), 'parley-bench-'));
process.on('exit', () => rmSync(dataDir, { recursive: true, force: true }));
const { DATABASE_URL } = process.env;
const settings = loadSettings({
  PORT: '0',
  DATA_DIR: dataDir,
  PARLEY_ADMIN_KEY: adminKey,
  DEMO: 'off',
  PARLEY_MASTER_KEY: 'a master key for measurements only',
  ...(DATABASE_URL === undefined ? {} : { DATABASE_URL }),
});
const service = await startService(settings, createLogger({ ...settings, LOG_LEVEL: 'silent' }), (error) => {
  throw error;
});
const { prisma } = service.deps.storage.db;
await fill();

const typeDefs = `
  type Group { id: ID!, name: String! }
  type DataSource { id: ID!, name: String!, type: String! }
  type Agent { id: ID!, name: String!, description: String!, groups: [Group!]!, dataSources: [DataSource!]! }
  type Viewer { keyId: ID!, scopes: [String!]! }
  type Query { agents(first: Int!): [Agent!]!, viewer: Viewer! }
`;
const schema = buildSchema(typeDefs);
const documents = new Map<string, DocumentNode>();
const rootValue = {
  viewer: () => ({ keyId: 'key', scopes: ['AGENTS:READ'] }),
  async agents({ first }: { first: number }) {
    const include = { groups: { include: { group: true } }, dataSources: { include: { dataSource: true } } };
    const rows = await prisma.agent.findMany({
      take: first,
      orderBy: { createdAt: 'desc' },
      where: { isDeleted: false },
      include,
    });
    return rows.map((row) => ({
      ...row,
      groups: row.groups.map(({ group }) => group),
      dataSources: row.dataSources.map(({ dataSource }) => dataSource),
    }));
  },
};
const plain = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (part: string) => {
    body += part;
  });
  request.on('end', async () => {
    const { query } = JSON.parse(body) as { query: string };
    let document = documents.get(query);
    if (document === undefined) {
      document = parse(query);
      documents.set(query, document);
    }
    const result = await execute({ schema, document, rootValue });
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(result));
  });
});
plain.listen(0, '127.0.0.1', () => {
  const plainUrl = `http://127.0.0.1:${(plain.address() as AddressInfo).port}`;
  process.send?.({ url: service.url, plainUrl, adminKey });
});
process.on('message', (message) => {
  if (message === 'cpu') {
    const { user, system } = process.cpuUsage();
    process.send?.({ cpuMicros: user + system });
  }
  if (message === 'stop') void service.close(1_000).then(() => process.exit(0));
});
process.on('disconnect', () => process.exit());

async function fill(): Promise<void> {
  const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ src: '', name: 'First', description: 'For a benchmark', instructions: 'Be brief.' });
  const made = await fetch(`${service.url}/api/v1/ais`, { method: 'POST', headers, body });
  const { userId, orgId } = (await made.json()) as { userId: string; orgId: string };
  const idsOf = (kind: 'agent' | 'group' | 'dataSource', count: number) =>
    Array.from({ length: count }, (_, index) => makeId(kind, Date.now() + index));
  const [groups, sources, agents] = [idsOf('group', 2), idsOf('dataSource', 2), idsOf('agent', agentCount)];
  await prisma.group.createMany({ data: groups.map((id) => ({ id, orgId, ownerUserId: userId, name: `Group ${id}` })) });
  await prisma.dataSource.createMany({
    data: sources.map((id) => ({ id, orgId, ownerUserId: userId, name: `Source ${id}`, type: 'API', updatedAt: new Date() })),
  });
  const about = { orgId, userId, description: 'For a benchmark', instructions: 'Be brief.', src: '' };
  await prisma.agent.createMany({ data: agents.map((id) => ({ id, ...about, name: `Agent ${id}` })) });
  const pairs = <Other extends string>(others: readonly string[], name: Other) =>
    agents.flatMap((agentId) =>
      others.map((other) => ({ agentId, [name]: other }) as { agentId: string } & Record<Other, string>),
    );
  await prisma.agentGroup.createMany({ data: pairs(groups, 'groupId') });
  await prisma.agentDataSource.createMany({ data: pairs(sources, 'dataSourceId') });
}
