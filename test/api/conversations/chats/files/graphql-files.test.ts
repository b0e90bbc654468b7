import { describe, expect, it } from 'vitest';
import type { TestClient } from '../../../../support/client.ts';
import { withService } from '../../../../support/service.ts';

const { make } = await withService();

const ann = await make.person();
const bob = await make.person();
const agent = await make.agent({ owner: ann, modelId: 'parley/offline' });
const chat = await make.chat({ owner: ann, agentId: agent.id });

/** A request in the form of the GraphQL multipart request specification. */
async function withFile(who: TestClient, query: string, variables: object, content: string) {
  const form = new FormData();
  form.append('operations', JSON.stringify({ query, variables: { ...variables, file: null } }));
  form.append('map', JSON.stringify({ 0: ['variables.file'] }));
  form.append('0', new Blob([content], { type: 'text/plain' }), 'notes.txt');
  return (await who.post('/graphql', form, { 'apollo-require-preflight': 'true', 'graphql-require-preflight': 'true' })).body;
}
const uploading = `mutation ($chatId: ID!, $file: File!) {
  uploadChatFile(chatId: $chatId, file: $file, source: SYSTEM) { id filename size source status }
}`;
const filesQuery = 'query ($id: ID!) { chat(id: $id) { files { nodes { id status } } } }';
const codeOf = ({ errors }: { errors?: readonly { extensions: { code: string; param?: string } }[] | undefined }) =>
  errors?.[0]?.extensions.code;

describe('files of a chat on GraphQL', () => {
  it('are uploaded, listed with their chat, and deleted', async () => {
    const { data } = await withFile(ann, uploading, { chatId: chat.id }, 'Hello');
    expect(data.uploadChatFile).toMatchObject({ filename: 'notes.txt', size: 5, source: 'SYSTEM', status: 'UPLOADED' });
    const { id } = data.uploadChatFile;
    expect((await ann.graphql(filesQuery, { id: chat.id })).data.chat.files.nodes).toEqual([{ id, status: 'UPLOADED' }]);
    const deleting =
      'mutation ($chatId: ID!, $fileId: ID!) { deleteChatFile(chatId: $chatId, fileId: $fileId) { status deletedAt } }';
    expect(codeOf(await bob.graphql(deleting, { chatId: chat.id, fileId: id }))).toBe('NOT_FOUND');
    const removed = await ann.graphql(deleting, { chatId: chat.id, fileId: id });
    expect(removed.data.deleteChatFile).toEqual({ status: 'DELETED', deletedAt: expect.any(String) });
    expect((await ann.graphql(filesQuery, { id: chat.id })).data.chat.files.nodes).toEqual([]);
  });

  it('are announced, then sent once', async () => {
    const announcing = `mutation ($chatId: ID!, $input: ChatFileRecordInput) {
      createChatFileRecord(chatId: $chatId, input: $input) { id status }
    }`;
    const input = { filename: 'a.txt', size: 5, mimeType: 'text/plain' };
    const announced = await ann.graphql(announcing, { chatId: chat.id, input });
    expect(announced.data.createChatFileRecord.status).toBe('PENDING');
    expect(codeOf(await ann.graphql(announcing, { chatId: chat.id }))).toBe('MISSING_REQUIRED_PARAMETER');
    const sending = `mutation ($chatId: ID!, $fileId: ID!, $file: File!) {
      putChatFileContent(chatId: $chatId, fileId: $fileId, file: $file) { id status filename }
    }`;
    const fileId = announced.data.createChatFileRecord.id;
    const first = await withFile(ann, sending, { chatId: chat.id, fileId }, 'Hello');
    expect(first.data.putChatFileContent).toEqual({ id: fileId, status: 'UPLOADED', filename: 'a.txt' });
    expect(codeOf(await withFile(ann, sending, { chatId: chat.id, fileId }, 'Hello'))).toBe('CONFLICT');
  });
});

describe('a chat as a whole on GraphQL', () => {
  it('is duplicated, summarized, compressed, searched and reset', async () => {
    const run = (fields: string) => ann.graphql(`mutation ($id: ID!) { ${fields} }`, { id: chat.id });
    await ann.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'The quokka lives on Rottnest Island.' });
    const copied = await run('duplicateChat(id: $id) { id messages { nodes { content } } files { nodes { filename } } }');
    expect(copied.data.duplicateChat.messages.nodes).toHaveLength(2);
    expect((await run('summarizeChat(id: $id) { summary }')).data.summarizeChat.summary).toContain('quokka');
    expect((await run('compressChat(id: $id) { compressedCount keptCount }')).data.compressChat).toEqual({
      compressedCount: 0,
      keptCount: 2,
    });
    const found = await ann.graphql('{ chats(search: "QUOKKA", first: 5) { totalCount nodes { id } } }');
    expect(found.data.chats.totalCount).toBe(2);
    expect((await run('resetChat(id: $id) { id summary messages { nodes { id } } }')).data.resetChat).toEqual({
      id: chat.id,
      summary: null,
      messages: { nodes: [] },
    });
  });
});
