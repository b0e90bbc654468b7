import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { TestClient } from '../../support/client.ts';
import { indexed } from '../../support/knowledge/knowledge.ts';
import { makeFor, type Person } from '../../support/make.ts';
import { clusterLeaseMs } from '../../support/processes/cluster.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { startProcess } from '../../support/processes/process.ts';
import { startService, type TestService } from '../../support/service.ts';
import { copyOf, type Place, testServerUrl } from '../../support/storage/databases.ts';
import { never, startUpstream, type Upstream } from '../../support/upstream.ts';

if (testServerUrl === undefined) {
  console.info('Several instances are tested on a server only: set TEST_DATABASE_URL.');
  it('the embedded database belongs to one process', () => expect(testServerUrl).toBeUndefined());
} else permissionsOnTwoInstances();

function permissionsOnTwoInstances(): void {
  const secret = 'river bank';
  let place: Place;
  let upstream: Upstream;
  let one: TestService;
  let ann: Person;
  let bob: Person;
  let agentId: string;
  let source: string;
  const env = () => {
    const shared = { OPENAI_BASE_URL: upstream.url, DEFAULT_MODEL: 'openai/test-model', LOG_LEVEL: 'fatal' };
    return { ...place.env, ...shared, RUN_LEASE_MS: String(clusterLeaseMs) };
  };
  const push = async (acl: readonly string[], text?: string) => {
    const items = [{ uniqueId: 'plan', name: 'plan', acl, ...(text === undefined ? {} : { text }) }];
    expect((await ann.put(`/api/v1/data-sources/${source}/items`, { items })).status).toBe(200);
  };

  beforeAll(async () => {
    place = await copyOf(inject('template'));
    upstream = await startUpstream();
    one = await startService({ env: env() });
    const make = makeFor(one);
    const organization = await make.organization();
    ann = await make.person({ organization });
    bob = await make.person({ organization });
    const ids = [ann.userId, bob.userId];
    await one.deps.storage.db.prisma.user.updateMany({ where: { id: { in: ids } }, data: { emailVerifiedAt: new Date() } });
    agentId = (await make.agent({ owner: ann, visibility: 'ORGANIZATION' })).id;
    source = (await ann.post(`/api/v1/ais/${agentId}/data-sources/api`, { name: 'Wiki', data: {}, access: 'MIRRORED' })).body.id;
    await push([`user:${ann.email}`, `user:${bob.email}`], `# Plan\n\nThe kingfisher nests in the ${secret}.`);
    await indexed(ann, source);
  });
  afterAll(async () => {
    await one.close();
    await upstream.close();
    await place.remove();
  });

  it('a document that is closed at one instance is found by nobody at another, and a run that is taken over sees what its owner sees then', async () => {
    const other = startProcess(env());
    const url = await other.url();
    const bobThere = new TestClient(() => url, bob.key);
    const search = async (who: TestClient) =>
      (await who.post('/api/v1/search', { agentId, query: 'kingfisher' })).body.data.length as number;
    expect([await search(bob), await search(bobThere)]).toEqual([1, 1]);
    const chat = await bobThere.post(`/api/v1/ais/${agentId}/chats`);
    upstream.next({ text: 'never', gate: never }, { text: 'Nothing is known.' });
    const prompt = 'Where does the kingfisher nest?';
    const asking = bobThere.post(`/api/v1/chats/${chat.body.id}/messages`, { prompt }).catch(() => undefined);
    await upstream.until(({ requests }) => requests.length === 1);
    expect(JSON.stringify(upstream.requests[0]?.body)).toContain(secret);
    await push([`user:${ann.email}`]);
    // By a signal, long before what the other process remembers of him is old.
    await eventually(async () => expect(await search(bobThere)).toBe(0));
    await other.kill('SIGKILL');
    await asking;
    await upstream.until(({ requests }) => requests.length === 2, 30_000);
    const again = JSON.stringify(upstream.requests[1]?.body);
    expect(again).toContain(prompt);
    expect(again).not.toContain(secret);
    await eventually(async () => {
      const { body } = await bob.get(`/api/v1/chats/${chat.body.id}`);
      expect(body.messages.at(-1)).toMatchObject({ role: 'assistant', content: 'Nothing is known.', citations: [] });
    });
  });
}
