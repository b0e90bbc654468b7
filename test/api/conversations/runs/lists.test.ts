import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeFor, type Person } from '../../../support/make.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { countFewestStatements } from '../../../support/storage/statements.ts';
import { startUpstream, type Upstream } from '../../../support/upstream.ts';

let upstream: Upstream;
let service: TestService;
let ann: Person;
let bob: Person;

beforeAll(async () => {
  upstream = await startUpstream();
  // Statements are counted, so the service runs no background jobs.
  service = await startService({ env: { OPENAI_BASE_URL: upstream.url, ROLE: 'web' } });
  const make = makeFor(service);
  const organization = await make.organization();
  ann = await make.person({ organization, role: 'ADMIN' });
  bob = await make.person({ organization });
});
afterAll(async () => {
  await service.close();
  await upstream.close();
});

const fields = 'userMessage: messages { content } message { content } text output { id } toolCalls { id } citations { index }';

/** Runs that only have to be in the list of active runs. */
async function beginRuns(person: Person, count: number) {
  for (let made = 0; made < count; made += 1) {
    const reply = await person.post('/api/v2/responses', { model: 'openai/test-model', input: `Question ${made}` });
    expect(reply.status).toBe(200);
  }
  // What they used is written after their replies: here it would be counted.
  await eventually(async () => {
    const text = 'select count(*)::int as count from usage_entries where "userId" = $1';
    const { rows } = await service.deps.storage.db.pool.query(text, [person.userId]);
    expect(rows).toEqual([{ count }]);
  });
  await service.deps.storage.db.pool.query(`update runs set status = 'in_progress', "leaseUntil" = now() + interval '1 hour'`);
}

/** Without the statements of the audit log and of the usage ledger, which are written after replies. */
function readsOf(statements: readonly string[]): readonly string[] {
  return statements.filter((text) => !/audit_entries|usage_entries|^SELECT "t0"\."id", "t0"\."(?:orgId|email)" FROM/.test(text));
}

it('reads what all active runs said in three statements, and in two more what of it the caller may see', async () => {
  await beginRuns(ann, 3);
  await beginRuns(bob, 3);
  const query = `{ activeRuns { id ${fields} } }`;
  await ann.graphql(query);
  const own = await countFewestStatements(service, () => bob.graphql(query));
  const all = await countFewestStatements(service, () => ann.graphql(query));
  expect(own.result.data.activeRuns).toHaveLength(3);
  for (const { userMessage, message } of own.result.data.activeRuns) {
    expect(userMessage).toHaveLength(2);
    expect(message.content).toBe('Hello from upstream');
  }
  const messagesShown = all.result.data.activeRuns.map(({ userMessage }: { userMessage: unknown[] }) => userMessage.length);
  expect(messagesShown.toSorted()).toEqual([0, 0, 0, 2, 2, 2]);
  expect(readsOf(own.statements), own.statements.join('\n')).toHaveLength(4);
  expect(readsOf(all.statements), all.statements.join('\n')).toHaveLength(6);
});
