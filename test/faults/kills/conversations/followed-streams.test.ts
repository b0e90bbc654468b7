import { afterAll, beforeAll, expect, it } from 'vitest';
import { documents, type FollowStatus, ParleyClient } from '../../../../clients/typescript/src/index.ts';
import { type FaultyNetwork, startFaultyNetwork } from '../../../support/apis/faulty-network.ts';
import { type Killable, prepareKillable } from '../../../support/processes/killable.ts';

let killable: Killable;
let network: FaultyNetwork;
let address = '';
beforeAll(async () => {
  killable = await prepareKillable();
  network = await startFaultyNetwork(() => address);
});
afterAll(async () => {
  await network.close();
  await killable.close();
});

it('a subscription of the client goes on when the service is killed and started again', async () => {
  const { parley, ann } = await killable.launch();
  address = await parley.url();
  const agent = await ann.post('/api/v1/ais', { src: '', name: 'Ada', description: '', instructions: '' });
  const chat = await ann.post(`/api/v1/ais/${agent.body.id}/chats`, {});
  const client = new ParleyClient({ url: network.url, apiKey: ann.key ?? '' });
  const document = new documents.TypedDocumentString<{ chatUpdated: object }, { id: string }>(
    'subscription ($id: ID!) { chatUpdated(chatId: $id) { id } }',
  );
  const statuses: FollowStatus[] = [];
  let results = 0;
  const options = { pauseMs: 100, pauseMaxMs: 500, onStatus: (now: FollowStatus) => statuses.push(now) };
  for await (const _result of client.follow(document, { id: chat.body.id }, options)) {
    results += 1;
    if (results === 2) break;
    await parley.kill('SIGKILL');
    const next = await killable.launch();
    address = await next.parley.url();
  }
  expect(statuses.filter((status) => status === 'open')).toHaveLength(2);
  expect(statuses).toContain('waiting');
});
