import type { TestClient } from '../client.ts';
import { eventually } from '../processes/eventually.ts';

const members = `id status format filename totalCount readCount importedCount existingCount messageCount retainedCount error
  omissions { kind count chatNames }`;
const importing = `mutation ($agentId: ID!, $file: File!) { importChats(agentId: $agentId, file: $file) { ${members} } }`;

export interface ShownImport {
  readonly id: string;
  readonly status: string;
  readonly format: string | null;
  readonly totalCount: number | null;
  readonly readCount: number;
  readonly importedCount: number;
  readonly existingCount: number;
  readonly messageCount: number;
  readonly retainedCount: number;
  readonly error: string | null;
  readonly omissions: readonly { readonly kind: string; readonly count: number; readonly chatNames: readonly string[] }[];
}

/** The reply of `importChats`. @param content  JSON is written of what is no text and no bytes. */
export async function sendImport(who: TestClient, agentId: string, content: unknown, filename = 'conversations.json') {
  const form = new FormData();
  form.append('operations', JSON.stringify({ query: importing, variables: { agentId, file: null } }));
  form.append('map', JSON.stringify({ 0: ['variables.file'] }));
  const bytes = typeof content === 'string' || content instanceof Uint8Array ? content : JSON.stringify(content);
  form.append('0', new Blob([typeof bytes === 'string' ? bytes : Uint8Array.from(bytes)]), filename);
  return (await who.post('/graphql', form, { 'graphql-require-preflight': 'true' })).body;
}

/** Imports a file, and waits for the end. */
export async function importFile(who: TestClient, agentId: string, content: unknown, filename?: string): Promise<ShownImport> {
  const { data, errors } = await sendImport(who, agentId, content, filename);
  if (errors !== undefined) throw new Error(JSON.stringify(errors));
  return endedImport(who, data.importChats.id);
}

export function endedImport(who: TestClient, id: string): Promise<ShownImport> {
  return eventually(async () => {
    const { data } = await who.graphql(`query ($id: ID!) { chatImport(id: $id) { endedAt ${members} } }`, { id });
    if (data.chatImport.endedAt === null) throw new Error(`not ended: ${JSON.stringify(data.chatImport)}`);
    const { endedAt: _endedAt, ...shown } = data.chatImport;
    return shown;
  });
}

/** The newest chats of a person, with what stands on their active branches. */
export async function chatsOf(who: TestClient) {
  const query = `{ chats(first: 5) { nodes { id name createdAt updatedAt agentId import { id }
    messages(first: 5) { nodes { role content createdAt modelName siblingCount siblings { content } } } } } }`;
  const { data, errors } = await who.graphql(query);
  if (errors !== undefined) throw new Error(JSON.stringify(errors));
  return data.chats.nodes;
}
