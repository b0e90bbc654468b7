import { expect, it } from 'vitest';
import { addFile, indexed, longText } from '../../../support/knowledge/knowledge.ts';
import type { Person } from '../../../support/make.ts';
import { withService } from '../../../support/service.ts';
import { countFewestStatements } from '../../../support/storage/statements.ts';

const { service, make } = await withService();
const fact = 'The warranty on batteries lasts two years.';
const question = 'How long is the warranty on batteries?';
const query = `query ($id: ID!) { chat(id: $id) { messages { nodes { citations { id charStart charEnd snippet
  source { id name } item { id name }
  content { text before after charStart charEnd isCutBefore isCutAfter isCurrent page headingPath mimeType } } } } } }`;

const organization = await make.organization();
const ann = await make.person({ organization });
const bob = await make.person({ organization });

async function citedIn(who: Person, agentId: string) {
  const { id } = await make.chat({ owner: who, agentId });
  await who.post(`/api/v1/chats/${id}/messages`, { prompt: question });
  return { id, citations: await citationsOf(who, id) };
}
async function citationsOf(who: Person, id: string) {
  const data = await who.ask(query, { id });
  return data.chat.messages.nodes.flatMap(({ citations }: { citations: unknown[] }) => citations);
}

it('a citation leads to its source, its document, and the passage in the text around it', async () => {
  const { id: agentId } = await make.agent({ owner: ann, visibility: 'ORGANIZATION' });
  const document = `# Shop\n\n${longText(6)}\n\n## Warranty\n\n${fact}\n\n## Returns\n\n${longText(6)}\n`;
  const { id: sourceId } = (await addFile(ann, agentId, 'terms.md', document, 'text/markdown')).body;
  await indexed(ann, sourceId);
  const { id, citations } = await citedIn(ann, agentId);
  const [citation] = citations;
  expect(citation.source).toEqual({ id: sourceId, name: 'terms.md' });
  expect(citation.content).toMatchObject({
    isCurrent: true,
    mimeType: 'text/markdown',
    charStart: citation.charStart,
    charEnd: citation.charEnd,
  });
  expect(citation.content.text).toContain(fact);
  expect(citation.content.headingPath).toContain('Warranty');
  expect(`${citation.content.before}${citation.content.after}`).toContain('speaks of topic');
  for (const side of ['before', 'after']) expect(citation.content[side].length).toBeLessThanOrEqual(800);

  // Who may use the agent reads what it cites, also without seeing the source.
  const ofBob = (await citedIn(bob, agentId)).citations[0];
  expect(ofBob.source).toBeNull();
  expect(ofBob.item).toBeNull();
  expect(ofBob.content.text).toContain(fact);

  await ann.patch(`/api/v1/data-sources/${sourceId}`, { cite: false });
  expect((await citationsOf(bob, (await citedIn(bob, agentId)).id)).length).toBe(0);

  await ann.delete(`/api/v1/data-sources/${sourceId}`);
  expect(await citationsOf(ann, id)).toMatchObject([{ source: null, content: null }]);
});

it('the document behind a citation gives its bytes and the passage, to readers who do not see its source', async () => {
  const { id: agentId } = await make.agent({ owner: ann, visibility: 'ORGANIZATION' });
  const { id: sourceId } = (await addFile(ann, agentId, 'warranty.md', `# Warranty\n\n${fact}\n`, 'text/markdown')).body;
  await indexed(ann, sourceId);
  const [{ id: passageId, charStart, charEnd }] = (await citedIn(bob, agentId)).citations;
  const itemId = (await ann.get(`/api/v1/data-sources/${sourceId}/knowledge`)).body.data[0].id;
  const document = `query ($id: ID!, $passageId: String, $charStart: Int!, $charEnd: Int!) { citedDocument(id: $id) {
    mimeType downloadUrl item { id } passage(id: $passageId, charStart: $charStart, charEnd: $charEnd) { text isCurrent } } }`;
  const read = async (who: Person, id: string | null) =>
    (await who.graphql(document, { id: itemId, passageId: id, charStart, charEnd })).data?.citedDocument;
  const found = await read(bob, passageId);
  expect(found).toMatchObject({ mimeType: 'text/markdown', item: null, passage: { isCurrent: true } });
  expect(found.passage.text).toContain(fact);
  expect(await (await fetch(found.downloadUrl)).text()).toContain(fact);
  expect((await read(bob, null)).passage.isCurrent).toBe(false);
  expect(await read(await make.person(), passageId)).toBeFalsy();
});

it('reads the passages of many citations together', async () => {
  const { id: agentId } = await make.agent({ owner: ann });
  for (const name of ['a.md', 'b.md', 'c.md']) {
    const { body } = await addFile(ann, agentId, name, `# ${name}\n\nIn shop ${name}: ${fact}`, 'text/markdown');
    await indexed(ann, body.id);
  }
  const { id } = await citedIn(ann, agentId);
  await citedIn(ann, agentId);
  const { result, statements } = await countFewestStatements(service, () => citationsOf(ann, id));
  expect(result.length).toBeGreaterThan(1);
  expect(statements.filter((text) => text.includes('AS passage'))).toHaveLength(1);
  expect(statements.length, statements.join('\n\n')).toBeLessThanOrEqual(12);
});
