import { beforeAll, describe, expect, it } from 'vitest';
import { operationScopes } from '../../../src/domain/ground/access/operation-scopes.ts';
import { allRoutes } from '../../../src/rest/routes/index.ts';
import { createApis } from '../../../src/start/app.ts';
import type { Person } from '../../support/make.ts';
import { TestBrowser } from '../../support/people/browser.ts';
import { sampledOperations } from '../../support/property/sample.ts';
import { withService } from '../../support/service.ts';
import { Probe } from '../audit/probe.ts';
import { type Arguments, callsOf } from './calls.ts';
import { isWrite } from './relations.ts';
import { table } from './table.ts';
import { World, worldEnv } from './world.ts';

// Every operation that changes something or runs a model, also a future one, asked by somebody who owns all things that it names and has become an
// AUDITOR: with a key of every scope and of the highest level, and in a browser.

const writes = callsOf(createApis().schema, allRoutes).filter(({ operation }) => isWrite(operation));
/** Whoever reads only may still end the use of a browser that somebody else has got, and choose a password. */
const ofOwnSignIn = [
  'Mutation.endSession',
  'Mutation.endOtherSessions',
  'Mutation.setPassword',
  'Mutation.beginPasskey',
  'Mutation.addPasskey',
  'Mutation.renamePasskey',
  'Mutation.deletePasskey',
];

const tried = sampledOperations(writes.map((call) => [call.title, call] as const));

const { service } = await withService('web', { env: worldEnv });
const given = new Map<string, Arguments>();
let keys: readonly Person[];
let browser: TestBrowser;
let probe: Probe;

beforeAll(async () => {
  const world = await World.create(service);
  const setting = await world.setting('PRIVATE');
  for (const [title, { operation }] of tried) {
    given.set(title, (await (table[title] ?? table[operation])?.given(setting)) ?? {});
  }
  const { owner, admin } = world;
  keys = [owner, await world.make.withKey(owner, { level: 'INSTANCE' })];
  const { data } = (await admin.get(`/api/v1/admin/memberships?userId=${owner.userId}`)).body;
  expect((await admin.patch(`/api/v1/admin/memberships/${data[0].id}`, { role: 'AUDITOR' })).body.role).toBe('AUDITOR');
  browser = new TestBrowser(() => service.url);
  const { body } = await admin.post('/api/v1/admin/sign-in-links', { email: owner.email });
  expect((await browser.signInBy(body.url)).status).toBe(200);
  probe = new Probe(service);
  await probe.install();
});

describe('an AUDITOR', () => {
  it.each(tried)('is refused %s, also for own things', async (title, found) => {
    const { operation, isRoot, call } = found;
    const args = given.get(title) ?? {};
    await probe.quiet();
    for (const key of keys) expect(await call(key, args), key.keyId).toMatchObject({ status: 403 });
    if (isRoot && !ofOwnSignIn.includes(operation)) expect(await call(browser, args)).toMatchObject({ status: 403 });
    const written = (await probe.take()).filter(({ kind }) => kind !== 'READ' && kind !== 'REFUSAL');
    expect(written).toEqual([]);
  });

  it('has keys that read only, whatever scopes they were made with', async () => {
    for (const key of keys) {
      const { viewer } = (await key.graphql('{ viewer { role scopes } }')).data;
      expect(viewer.role).toBe('AUDITOR');
      expect(viewer.scopes.filter((scope: string) => scope.endsWith('_WRITE'))).toEqual([]);
    }
  });

  it('may end own sessions in a browser', async () => {
    expect((await browser.graphql('mutation { endOtherSessions { count } }')).errors).toBeUndefined();
  });

  it('is shown that nothing may be changed', async () => {
    const [data] = await Promise.all(
      keys.map(
        async (key) => (await key.graphql('{ agents { nodes { canEdit canManage } } groups { nodes { canEdit } } }')).data,
      ),
    );
    expect(data.agents.nodes.length).toBeGreaterThan(0);
    expect(JSON.stringify(data)).not.toContain('true');
  });

  it('knows every operation that needs a key that writes', () => {
    const known = new Set(writes.map(({ operation }) => operation));
    const others = Object.entries(operationScopes).filter(([, scope]) => scope?.endsWith(':WRITE'));
    expect(others.map(([operation]) => operation).filter((operation) => !known.has(operation))).toEqual([]);
  });
});
