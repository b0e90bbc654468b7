import { expect, it } from 'vitest';
import type { Person } from '../../../support/make.ts';
import { withService } from '../../../support/service.ts';

/** Editors read chats of an agent only when the chats were made to be shown, and only within the organization of the agent. */
const { make } = await withService();

const ann = await make.person();
const colleague = await make.person({ organization: { id: ann.orgId, tenantId: ann.tenantId } });
const stranger = await make.person();

const begin = async (who: Person, agentId: string) => {
  const { body } = await who.post(`/api/v1/ais/${agentId}/chats`, {});
  await who.post(`/api/v1/chats/${body.id}/messages`, { prompt: 'Something private' });
  return body as { readonly id: string; readonly isVisibleToEditors: boolean };
};
const shown = async (agentId: string) =>
  (await ann.get(`/api/v1/ais/${agentId}/chats`)).body.data.map(({ id }: { id: string }) => id);

it('chatLogsVisible opens no chat that was there before, and none of another organization', async () => {
  const agent = await make.agent({ owner: ann, visibility: 'ANYONE_WITH_LINK' });
  const before = [await begin(colleague, agent.id), await begin(stranger, agent.id)];
  expect((await ann.patch(`/api/v1/ais/${agent.id}`, { chatLogsVisible: true })).status).toBe(200);
  const foreign = await begin(stranger, agent.id);
  const after = await begin(colleague, agent.id);
  expect([...before, foreign, after].map(({ isVisibleToEditors }) => isVisibleToEditors)).toEqual([false, false, false, true]);
  for (const { id } of [...before, foreign]) expect((await ann.get(`/api/v1/chats/${id}`)).status).toBe(404);
  expect((await ann.get(`/api/v1/chats/${after.id}`)).status).toBe(200);
  expect(await shown(agent.id)).toEqual([after.id]);
  await ann.patch(`/api/v1/ais/${agent.id}`, { chatLogsVisible: false });
  expect((await ann.get(`/api/v1/chats/${after.id}`)).status).toBe(404);
  expect((await colleague.get(`/api/v1/chats/${after.id}`)).body.isVisibleToEditors).toBe(true);
});

it('a copy of a chat that editors may not read stays out of their sight', async () => {
  const agent = await make.agent({ owner: ann, visibility: 'ORGANIZATION' });
  const { id } = await begin(colleague, agent.id);
  const first = (await colleague.post('/api/v2/responses', { model: agent.id, input: 'Private' })).body.id;
  await colleague.post('/api/v2/responses', { model: agent.id, input: 'More', previous_response_id: first });
  await ann.patch(`/api/v1/ais/${agent.id}`, { chatLogsVisible: true });
  const copy = (await colleague.post(`/api/v1/chats/${id}/duplicate`, {})).body;
  // An older response: the thread branches off.
  await colleague.post('/api/v2/responses', { model: agent.id, input: 'A branch', previous_response_id: first });
  expect((await ann.get(`/api/v1/chats/${copy.id}`)).status).toBe(404);
  expect(await shown(agent.id)).toEqual([]);
});
