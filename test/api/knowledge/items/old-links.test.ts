import { describe, expect, it } from 'vitest';
import { freshFileAddress, signedFileAddress } from '../../../../src/engine/files/file-links.ts';
import { contentAddress, signContentTicket } from '../../../../src/engine/knowledge/content-links.ts';
import type { Person } from '../../../support/make.ts';
import { withService } from '../../../support/service.ts';

/** Links to content end after an hour. An address in a text, whoever wrote it there, is never signed again. */
const { service, make } = await withService();

const owner = await make.person();
const mallory = await make.person();
const agent = await make.agent({ owner });
const sourceId = (await make.apiDataSource({ owner, agentId: agent.id, data: { salary: 'A canary of the owner' } })).id;
const itemId = (await owner.get(`/api/v1/data-sources/${sourceId}/knowledge`)).body.data[0].id;
const agentId = (await make.agent({ owner: mallory })).id;

const hourMs = 3_600_000;
/** A link that the service signed long ago. */
const oldLink = () => {
  const ticket = { itemId, orgId: owner.orgId, expiresAtMs: service.deps.now().getTime() - hourMs };
  return `${contentAddress(service.deps, sourceId, itemId)}?link=${signContentTicket(service.deps, ticket)}`;
};
const citation = (url: string, ids: { readonly knowledgeItemId: string; readonly dataSourceId: string }) => ({
  ...{ id: 'chunk_1', index: 1, name: 'A page', url, type: 'PAGE', page: null, headingPath: '', snippet: '', ...ids },
  ...{ charStart: 0, charEnd: 1, score: 1, answerStart: 0, answerEnd: 3 },
});
/** The addresses that a chat shows for a citation of its answer, on REST and GraphQL. */
async function shownUrls(who: Person, agent: string, cited: object): Promise<readonly string[]> {
  const { id } = (await who.post(`/api/v1/ais/${agent}/chats`, {})).body;
  await who.post(`/api/v1/chats/${id}/messages`, { prompt: 'Go' });
  const where = { chatId: id, role: 'assistant' };
  await service.deps.storage.db.prisma.message.updateMany({ where, data: { citations: [cited] as never } });
  const { messages } = (await who.get(`/api/v1/chats/${id}`)).body;
  const { data } = await who.graphql('query ($id: ID!) { chat(id: $id) { messages { nodes { citations { url } } } } }', { id });
  return [messages, data.chat.messages.nodes].map(
    (all: readonly { citations: readonly { url: string }[] | null }[]) => all.at(-1)?.citations?.[0]?.url ?? '',
  );
}

describe('an old link that a page gives as its own address', () => {
  it.each([
    ['of the web', { knowledgeItemId: '', dataSourceId: '' }],
    ['of an own source', { knowledgeItemId: 'ki_00000000000000000000000000', dataSourceId: 'ds_00000000000000000000000000' }],
  ])('is not signed again: a page %s', async (_what, ids) => {
    const link = oldLink();
    for (const url of await shownUrls(mallory, agentId, citation(link, ids))) {
      expect(url).toBe(link);
      expect((await fetch(url)).status).toBeGreaterThanOrEqual(400);
    }
  });

  it('is signed again for the citation of that item itself', async () => {
    const agent = await make.agent({ owner });
    for (const url of await shownUrls(
      owner,
      agent.id,
      citation(oldLink(), { knowledgeItemId: itemId, dataSourceId: sourceId }),
    )) {
      expect((await fetch(url)).status).toBe(200);
    }
  });
});

it('a link to a file is signed again only for the file that it stands with', async () => {
  const chat = (await owner.post(`/api/v1/ais/${(await make.agent({ owner })).id}/chats`, {})).body.id;
  const past = { ...service.deps, now: () => new Date(service.deps.now().getTime() - 2 * hourMs) };
  const link = signedFileAddress(past, { chatId: chat, fileId: 'file_00000000000000000000000000' });
  expect(freshFileAddress(service.deps, { url: link, fileId: 'file_11111111111111111111111111' })).toBe(link);
  expect(freshFileAddress(service.deps, { url: link, fileId: 'file_00000000000000000000000000' })).not.toBe(link);
});
