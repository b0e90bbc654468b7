import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { type Followed, follow as followed } from '../../support/apis/live.ts';
import { makeFor, type Organization, type Person } from '../../support/make.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { startService, type TestService } from '../../support/service.ts';
import { copyOf, type Place, testServerUrl } from '../../support/storage/databases.ts';
import { startUpstream, type Upstream } from '../../support/upstream.ts';

if (testServerUrl === undefined) {
  console.info('Lists on several instances are tested on a server only: set TEST_DATABASE_URL.');
  it('the embedded database belongs to one process', () => expect(testServerUrl).toBeUndefined());
} else describe('a change on one instance', liveOnTwoInstances);

function liveOnTwoInstances(): void {
  let place: Place;
  let upstream: Upstream;
  let one: TestService;
  let two: TestService;
  let make: ReturnType<typeof makeFor>;
  let organization: Organization;
  let ann: Person;
  let colleague: Person;
  let stranger: Person;
  const open: Followed[] = [];

  beforeAll(async () => {
    place = await copyOf(inject('template'));
    upstream = await startUpstream();
    const { DATA_DIR: _own, ...shared } = place.env;
    const env = { ...shared, OPENAI_BASE_URL: upstream.url, DEFAULT_MODEL: 'openai/test-model' };
    one = await startService({ env });
    two = await startService({ env });
    make = makeFor(one);
    organization = await make.organization();
    ann = await make.person({ organization });
    colleague = await make.person({ organization });
    stranger = await make.person({ role: 'ADMIN' });
  });
  beforeEach(() => upstream.reset());
  afterEach(() => {
    for (const stream of open.splice(0)) stream.stop();
  });
  afterAll(async () => {
    await Promise.all([one.close(), two.close()]);
    await upstream.close();
    await place.remove();
  });

  /** Follows a list on the other instance. */
  async function follow(who: Person, field: string): Promise<Followed> {
    const stream = await followed(two.client(who.key), field, field === 'usageChanged' ? 'kind id' : 'kind id node { id }');
    open.push(stream);
    return stream;
  }
  const isOf = (id: string) => (change: { id: string }) => change.id === id;
  const agentOf = async (owner: Person): Promise<string> => (await make.agent({ owner })).id;
  const chatOf = async (owner: Person): Promise<string> => (await make.chat({ owner, agentId: await agentOf(owner) })).id;
  const completion = { model: 'openai/test-model', messages: [{ role: 'user', content: 'Hi' }] };
  const account = { provider: 'WIKI', accountName: 'Wiki', accessToken: 'token-of-the-wiki' };

  /** Each makes a private thing on the first instance. @returns its id. */
  const changes: Readonly<Record<string, readonly [field: string, change: (who: Person) => Promise<string>]>> = {
    'an agent': ['agentsChanged', agentOf],
    'a chat': ['chatsChanged', chatOf],
    'a source': [
      'dataSourcesChanged',
      async (owner) => (await make.apiDataSource({ owner, agentId: await agentOf(owner), data: { a: 1 } })).id,
    ],
    'a run of a chat': [
      'runsChanged',
      async (who) => (await who.post(`/api/v1/chats/${await chatOf(who)}/messages`, { prompt: 'Hi' })).body.runId,
    ],
    'a run that is not stored': ['runsChanged', async (who) => (await who.post('/api/v1/chat/completions', completion)).body.id],
    'a memory': ['memoriesChanged', async (who) => (await who.post('/api/v1/memories', { text: 'Likes tea' })).body.id],
    'a connection': ['connectionsChanged', async (who) => (await who.post('/api/v1/connections', account)).body.id],
  };

  it.each(Object.entries(changes))('arrives at the other, for who may see it: %s', async (_name, [field, change]) => {
    const mine = await follow(ann, field);
    const others = [colleague, stranger];
    const theirs = await Promise.all(others.map((who) => follow(who, field)));
    const id = await change(ann);
    expect((await mine.until(isOf(id))).at(-1)).toMatchObject({ id, node: { id } });
    for (const [index, who] of others.entries()) {
      // What others are told later shows that their streams are alive, and were not told of the first thing.
      const own = await change(who);
      const told = await theirs[index]?.until(isOf(own));
      expect(told?.map((one) => one.id)).not.toContain(id);
    }
    expect(mine.told.every((one) => one.node?.id === one.id)).toBe(true);
  });

  it('arrives at the other: the messages of a chat, until it is deleted', async () => {
    const chatId = await chatOf(ann);
    const stream = await follow(ann, `messagesChanged(chatId: "${chatId}")`);
    const refused = await Promise.all([colleague, stranger].map((who) => follow(who, `messagesChanged(chatId: "${chatId}")`)));
    for (const theirs of refused) await theirs.over();
    expect(refused.map(({ code, told }) => [code, told])).toEqual([
      ['NOT_FOUND', []],
      ['NOT_FOUND', []],
    ]);
    await ann.post(`/api/v1/chats/${chatId}/messages`, { prompt: 'Hi' });
    const { messages } = (await ann.get(`/api/v1/chats/${chatId}`)).body;
    await stream.until(isOf(messages.at(-1).id));
    expect(new Set(stream.told.map(({ id }) => id))).toEqual(new Set(messages.map(({ id }: { id: string }) => id)));
    await ann.delete(`/api/v1/chats/${chatId}`);
    await stream.over();
  });

  it('arrives at the other: what the organization uses, and not what another uses', async () => {
    const [mine, theirs] = await Promise.all([follow(ann, 'usageChanged'), follow(stranger, 'usageChanged')]);
    // Both begin with what was used until now.
    await Promise.all([mine.next(), theirs.next()]);
    await ann.post('/api/v1/chat/completions', completion);
    expect(await mine.next()).toEqual({ kind: 'UPDATED', id: organization.id });
    expect(theirs.told).toHaveLength(1);
    await stranger.post('/api/v1/chat/completions', completion);
    expect(await theirs.next()).toEqual({ kind: 'UPDATED', id: stranger.orgId });
  });

  it('is told once on each instance, though it is announced and looked up', async () => {
    const repeats = new Set<string>();
    const stops = [one, two].map(({ deps }, index) =>
      deps.storage.signals.subscribe('agent-changed', (id, isRepeat) => void (isRepeat && repeats.add(`${index} ${id}`))),
    );
    const here = await followed(one.client(ann.key), 'agentsChanged');
    open.push(here);
    const streams = [here, await follow(ann, 'agentsChanged')];
    const id = await agentOf(ann);
    await eventually(() => expect([...repeats]).toEqual(expect.arrayContaining([`0 ${id}`, `1 ${id}`])));
    const next = await agentOf(ann);
    for (const stream of streams) {
      const told = await stream.until(isOf(next));
      expect(told.map(({ kind, id: of }) => `${kind} ${of}`)).toEqual([`CREATED ${id}`, `CREATED ${next}`]);
    }
    for (const stop of stops) stop();
  });

  it('ends on the other: what is not shared any more is gone there', async () => {
    const { id } = await make.agent({ owner: ann, visibility: 'ORGANIZATION' });
    const theirs = await follow(colleague, 'agentsChanged');
    await ann.patch(`/api/v1/ais/${id}`, { visibility: 'PRIVATE' });
    expect((await theirs.until(isOf(id))).at(-1)).toEqual({ kind: 'DELETED', id, node: null });
  });
}
