import { beforeAll, describe, expect, it } from 'vitest';
import { signContentTicket } from '../../../../src/engine/knowledge/content-links.ts';
import { addFile, indexed } from '../../../support/knowledge/knowledge.ts';
import type { Person } from '../../../support/make.ts';
import { withService } from '../../../support/service.ts';

const { service, make } = await withService();
const text = '<!doctype html><title>Warranty</title><h1>Warranty</h1><p>The warranty on batteries lasts two years.</p>';
let ann: Person;
/** May use the agent, and neither edits it nor sees its source. */
let colleague: Person;
let agentId: string;
let sourceId: string;
let chatId: string;
/** Path and query of the address that an answer cites. */
let cited: string;

beforeAll(async () => {
  const organization = await make.organization();
  ann = await make.person({ organization });
  colleague = await make.person({ organization });
  agentId = (await make.agent({ owner: ann, visibility: 'ORGANIZATION' })).id;
  sourceId = (await addFile(ann, agentId, 'warranty.html', text, 'text/html')).body.id;
  await indexed(ann, sourceId);
  chatId = (await make.chat({ owner: colleague, agentId })).id;
  const reply = await colleague.post(`/api/v1/chats/${chatId}/messages`, { prompt: 'How long is the warranty on batteries?' });
  expect(reply.body).toMatchObject({ citations: [{ index: 1 }] });
  cited = pathOf(reply.body.citations[0].url);
});

function pathOf(url: string): string {
  expect(url).toMatch(/^http:\/\/[^/]+\/api\/v1\/data-sources\/ds_\w+\/knowledge\/ki_\w+\/content\?link=[\w.-]+$/);
  expect(url.startsWith(service.url)).toBe(true);
  return url.slice(service.url.length);
}
const plain = () => cited.split('?')[0] ?? '';
const itemId = () => /ki_\w+/.exec(cited)?.[0] ?? '';
/** The address with a link of ours for these members. */
function signed(members: object = {}): string {
  const ticket = { itemId: itemId(), orgId: ann.orgId, expiresAtMs: Date.now() + 60_000, ...members };
  return `${plain()}?link=${signContentTicket(service.deps, ticket)}`;
}

describe('the address of a citation', () => {
  it('downloads without a key, as an attachment that no browser shows or runs', async () => {
    const download = `${cited}&download=1`;
    const { status, headers, body } = await service.nobody.get(download);
    expect([status, body]).toEqual([200, text]);
    expect(headers.get('content-disposition')).toMatch(/^attachment; filename="warranty\.html"/);
    expect(headers.get('content-type')).toBe('application/octet-stream');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toMatch(/^sandbox/);
    const head = await service.nobody.call('HEAD', download);
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(text.length)]);
  });

  it('opens with the key of whoever may use the agent, also when its link is gone or no longer good', async () => {
    expect(await colleague.get(plain())).toMatchObject({ status: 200, body: text });
    expect(await colleague.get(signed({ expiresAtMs: Date.now() - 1 }))).toMatchObject({ status: 200, body: text });
    expect((await colleague.get(`/api/v1/data-sources/${sourceId}`)).status).toBe(404);
    expect((await service.nobody.get(plain())).status).toBe(401);
    expect((await (await make.person()).get(plain())).status).toBe(404);
  });

  it('opens nothing when it has expired, was changed, or was signed for something else', async () => {
    const refused = { status: 403, body: { error: { code: 'forbidden', param: 'link' } } };
    const expired = await service.nobody.get(signed({ expiresAtMs: Date.now() - 1 }));
    expect(expired).toMatchObject(refused);
    expect(expired.body.error.message).toMatch(/has expired.*an hour/);
    expect(await service.nobody.get(`${cited.slice(0, -4)}AAAA`)).toMatchObject(refused);
    expect(await service.nobody.get(`${plain()}?link=`)).toMatchObject(refused);
    expect(await service.nobody.get(signed({ itemId: 'ki_01jd0000000000000000000000' }))).toMatchObject(refused);
    expect((await service.nobody.get(signed({ orgId: (await make.person()).orgId }))).status).toBe(404);
    const other = service.deps.storage.links.sign('upload', `${itemId()} ${ann.orgId} 9000000000000`);
    expect(await service.nobody.get(`${plain()}?link=${other}`)).toMatchObject(refused);
    expect(
      (await service.nobody.get(signed().replace(sourceId, `${sourceId.slice(0, -1)}${sourceId.endsWith('0') ? '1' : '0'}`)))
        .status,
    ).toBe(404);
    expect((await service.nobody.get(signed())).status).toBe(200);
  });

  it('is good for nothing else', async () => {
    const link = cited.split('?')[1];
    expect((await service.nobody.get(`/api/v1/data-sources/${sourceId}?${link}`)).status).toBe(401);
    expect((await service.nobody.delete(`/api/v1/data-sources/${sourceId}?${link}`)).status).toBe(401);
  });

  it('is signed anew wherever an answer is read again', async () => {
    const { storage } = service.deps;
    const hourAgo = signed({ expiresAtMs: Date.now() - 1 });
    const rows = await storage.db.pool.query('select id, citations from messages where "chatId" = $1 and citations is not null', [
      chatId,
    ]);
    const [{ id, citations }] = rows.rows;
    const old = citations.map((citation: object) => ({ ...citation, url: `http://127.0.0.1:1${hourAgo}` }));
    await storage.db.pool.query('update messages set citations = $2::jsonb where id = $1', [id, JSON.stringify(old)]);
    const { body: chat } = await colleague.get(`/api/v1/chats/${chatId}`);
    expect((await service.nobody.get(pathOf(chat.messages[1].citations[0].url))).status).toBe(200);
    const { body: markdown } = await colleague.get(`/api/v1/chats/${chatId}/export?format=markdown`);
    expect((await service.nobody.get(pathOf(/<(http\S+)>/.exec(markdown)?.[1] ?? ''))).status).toBe(200);
  });

  it('stands in completions and responses too', async () => {
    const question = 'How long is the warranty on batteries?';
    const completion = await colleague.post('/api/v1/chat/completions', {
      model: agentId,
      generateCitations: true,
      messages: [{ role: 'user', content: question }],
    });
    const [{ url_citation: ofCompletion }] = completion.body.choices[0].message.annotations;
    expect((await service.nobody.get(pathOf(ofCompletion.url))).status).toBe(200);
    const made = await colleague.post('/api/v2/responses', { model: agentId, input: question });
    const read = await colleague.get(`/api/v2/responses/${made.body.id}`);
    for (const { body } of [made, read]) {
      const [annotation] = body.output[0].content[0].annotations;
      expect((await service.nobody.get(pathOf(annotation.url))).status).toBe(200);
    }
  });

  it('can be asked for by GraphQL', async () => {
    const query = 'query ($item: ID!) { citedDocument(id: $item) { name url } }';
    const { data } = await colleague.graphql(query, { item: itemId() });
    expect(data.citedDocument.name).toBe('warranty.html');
    expect((await service.nobody.get(pathOf(data.citedDocument.url))).status).toBe(200);
  });

  it('closes for users of the agent with what may not be cited, and for all when the source is gone', async () => {
    await ann.patch(`/api/v1/data-sources/${sourceId}/knowledge/${itemId()}`, { cite: false });
    expect((await colleague.get(plain())).status).toBe(404);
    expect((await ann.get(plain())).status).toBe(200);
    await ann.delete(`/api/v1/data-sources/${sourceId}`);
    expect((await service.nobody.get(signed())).status).toBe(404);
  });
});
