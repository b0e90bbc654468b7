import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import SchemaBuilder from '@pothos/core';
import express from 'express';
import { createYoga } from 'graphql-yoga';
import { makeId } from '../../src/entities/ground/ids.ts';
import { createLogger } from '../../src/http/log/logging.ts';
import { loadSettings } from '../../src/settings.ts';
import { startService } from '../../src/start/service.ts';

/**
 * Parley and a plain GraphQL server of the same parts on the same data, in one process: 50 agents with two groups and two data sources each. The
 * plain server is a first draft without checks: Express, Yoga with its caches, Pothos, and one Prisma query with its relations included.
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

interface PlainAgent {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly groups: readonly PlainThing[];
  readonly dataSources: readonly (PlainThing & { readonly type: string })[];
}
interface PlainThing {
  readonly id: string;
  readonly name: string;
}
const builder = new SchemaBuilder<{
  Objects: { Agent: PlainAgent; Group: PlainThing; DataSource: PlainThing & { type: string }; Viewer: { keyId: string } };
}>({ scopeAuth: { authScopes: () => ({}) } });
builder.objectType('Group', { fields: (t) => ({ id: t.exposeID('id'), name: t.exposeString('name') }) });
builder.objectType('DataSource', {
  fields: (t) => ({ id: t.exposeID('id'), name: t.exposeString('name'), type: t.exposeString('type') }),
});
builder.objectType('Agent', {
  fields: (t) => ({
    id: t.exposeID('id'),
    name: t.exposeString('name'),
    description: t.exposeString('description'),
    groups: t.expose('groups', { type: ['Group'] }),
    dataSources: t.expose('dataSources', { type: ['DataSource'] }),
  }),
});
builder.objectType('Viewer', {
  fields: (t) => ({ keyId: t.exposeID('keyId'), scopes: t.stringList({ resolve: () => ['AGENTS:READ'] }) }),
});
builder.queryType({
  fields: (t) => ({
    viewer: t.field({ type: 'Viewer', resolve: () => ({ keyId: 'key' }) }),
    agents: t.field({
      type: ['Agent'],
      args: { first: t.arg.int({ required: true }) },
      resolve: (_root, { first }) => listAgents(first),
    }),
  }),
});
const yoga = createYoga({ schema: builder.toSchema(), logging: false, graphiql: false });
const plain = createServer(express().use((req, res) => void yoga(req, res)));

async function listAgents(first: number): Promise<readonly PlainAgent[]> {
  const include = { groups: { include: { group: true } }, dataSources: { include: { dataSource: true } } };
  const rows = await prisma.agent.findMany({ take: first, orderBy: { createdAt: 'desc' }, where: { isDeleted: false }, include });
  return rows.map((row) => ({
    ...row,
    groups: row.groups.map(({ group }) => group),
    dataSources: row.dataSources.map(({ dataSource }) => dataSource),
  }));
}

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
