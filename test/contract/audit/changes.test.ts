import { describe, expect, it } from 'vitest';
import { unauditedOperations } from '../../../src/domain/ground/audit/operation.ts';
import { createApis } from '../../../src/start/app.ts';
import { sampledOperations } from '../../support/property/sample.ts';
import { withService } from '../../support/service.ts';
import { callsOf } from '../authorization/calls.ts';
import { outcomeOf } from '../authorization/relations.ts';
import { type Line, table } from '../authorization/table.ts';
import { World, worldEnv } from '../authorization/world.ts';
import { Numbered } from './numbered.ts';
import { entryFails, Probe } from './probe.ts';

// Every mutation, also a future one: its entry commits with its change, in the transaction of the first row that it writes. The database itself
// records both (probe.ts). Operations come from the schema, arguments from the authorization table.

const { schema } = createApis();
const mutations = callsOf(schema, []).filter(({ operation }) => operation.startsWith('Mutation.'));
const nameOf = (operation: string) => operation.slice('Mutation.'.length);
const audited = mutations.filter(({ operation }) => !unauditedOperations.has(nameOf(operation)));

const { service, upstream } = await withService('web', { env: { ...worldEnv, EMBEDDING_MODEL: 'openai/embed' } });
let calls = 0;

const world = await World.create(service);
const setting = await world.setting('PRIVATE');
const people = await world.people();
const probe = new Probe(service);
await probe.install();

describe('a mutation', () => {
  it.each(sampledOperations(audited.map((call) => [call.operation, call] as const)))(
    '%s writes one entry, in the first transaction that changes anything',
    async (_name, { operation, call }) => {
      const { requestId, status, line } = await made('works', operation, call);
      const written = await probe.take();
      const entries = written.filter(
        (row) => row.table === 'audit_entries' && row.requestId === requestId && row.kind === 'CHANGE',
      );
      const inserted = entries.filter((row) => row.operation === 'INSERT');
      if (line.reaches !== undefined) return expect(inserted).toEqual([]);
      expect(status).toBeLessThan(300);
      expect(inserted).toHaveLength(1);
      expect(entries.at(-1)).toMatchObject({ outcome: 'SUCCEEDED' });
      const position = written.findIndex((row) => row.position === inserted[0]?.position);
      const before = written.slice(0, position).filter((row) => row.table !== 'audit_entries');
      expect(before.filter((row) => row.transaction !== inserted[0]?.transaction)).toEqual([]);
      const { data } = (await service.client().get(`/api/v1/admin/audit-log?limit=5&orgId=${setting.world.home.id}`)).body;
      const entry = data.find((found: { requestId: string }) => found.requestId === requestId);
      // A change in another organization is in that organization's log.
      if (entry !== undefined) expect(entry).toMatchObject({ action: nameOf(operation), kind: 'CHANGE', address: '127.0.0.1' });
    },
  );

  it.each(sampledOperations(audited.map((call) => [call.operation, call] as const)))(
    '%s changes nothing when its entry cannot be written',
    async (_name, { operation, call }) => {
      const { status } = await made(entryFails, operation, call);
      expect(status).toBeGreaterThanOrEqual(400);
      expect((await probe.take()).filter(({ kind }) => kind !== 'READ' && kind !== 'REFUSAL')).toEqual([]);
    },
  );

  it.each(sampledOperations(audited.map((call) => [call.operation, call] as const)))(
    '%s leaves no entry of a change that was not made',
    async (_name, { operation, call }) => {
      const { requestId, status } = await made('change-fails', operation, call, () => probe.failChanges(true));
      await probe.failChanges(false);
      const entries = (await probe.take()).filter((row) => row.requestId === requestId && row.kind === 'CHANGE');
      // A call that changes no row of an organization cannot fail this way.
      if (status >= 400) expect(entries).toEqual([]);
      else expect(entries).toHaveLength(1);
    },
  );

  it.each([...unauditedOperations])('%s runs a model and writes no entry', async (name) => {
    const found = mutations.find(({ operation }) => nameOf(operation) === name);
    if (found === undefined) throw new Error(`${name} is no mutation`);
    const vectors = [{ object: 'embedding', index: 0, embedding: [0.5] }];
    upstream.otherwise({ body: JSON.stringify({ object: 'list', data: vectors, usage: { prompt_tokens: 1, total_tokens: 1 } }) });
    const { requestId, status, line } = await made('works', found.operation, found.call);
    expect([200, line.reaches]).toContain(status);
    expect((await probe.take()).filter((row) => row.requestId === requestId)).toEqual([]);
  });
});

/** Calls a mutation as a person who may, with arguments that work. */
async function made(
  prefix: string,
  operation: string,
  call: (typeof mutations)[number]['call'],
  arm: () => Promise<void> = async () => undefined,
): Promise<{ readonly requestId: string; readonly status: number; readonly line: Line }> {
  const line = table[operation];
  if (line === undefined) throw new Error(`${operation} has no line`);
  const who = (['owner', 'orgAdmin', 'instanceKey'] as const).find(
    (name) => outcomeOf(line.needs, name, 'PRIVATE', true) === 'allowed',
  );
  if (who === undefined) throw new Error(`nobody may ${operation}`);
  const given = await line.given(setting);
  await probe.quiet();
  calls += 1;
  const requestId = `${prefix}-${calls}`;
  await arm();
  const { status } = await call(new Numbered(people[who], requestId), given);
  return { requestId, status, line };
}
