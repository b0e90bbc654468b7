import { describe, expect, it } from 'vitest';
import type { Reply } from '../../support/client.ts';
import { withService } from '../../support/service.ts';
import { afterNext } from '../../support/storage/between.ts';

/** What a request has found may be gone when it writes: it says so, and leaves nothing behind. */
const { service, make } = await withService('model');
const conversations = () => service.deps.storage.conversations;

const ann = await make.person();
const agentId = (await make.agent({ owner: ann, modelId: 'parley/offline' })).id;

async function newUpload(): Promise<string> {
  const body = { filename: 'note.txt', mime_type: 'text/plain', purpose: 'assistants', bytes: 4 };
  return (await ann.post('/api/v1/uploads', body)).body.id;
}
async function newPart(uploadId: string): Promise<string> {
  const form = new FormData();
  form.append('data', new Blob(['Good']), 'part');
  return (await ann.post(`/api/v1/uploads/${uploadId}/parts`, form)).body.id;
}

it.each(['cancel', 'complete'])('an upload is cancelled once: 409 after another %s', async (what) => {
  const id = await newUpload();
  const part_ids = [await newPart(id)];
  let other: Reply | undefined;
  afterNext(conversations().fileUploads, 'find', async () => {
    other = await ann.post(`/api/v1/uploads/${id}/${what}`, what === 'complete' ? { part_ids } : undefined);
  });
  const { status, body } = await ann.post(`/api/v1/uploads/${id}/cancel`);
  expect(other?.status).toBe(200);
  expect([status, body.error?.code]).toEqual([409, 'conflict']);
  if (what === 'complete') expect((await ann.get(`/api/v1/files/${other?.body.file.id}/content`)).status).toBe(200);
});

describe.each(['edit', 'regenerate'])('%s', (what) => {
  it.each(['message', 'chat'])('is 404 and begins no run, where the %s was deleted meanwhile', async (missing) => {
    const { id } = await make.chat({ owner: ann, agentId });
    await ann.post(`/api/v1/chats/${id}/messages`, { prompt: 'One' });
    const [question] = (await ann.get(`/api/v1/chats/${id}`)).body.messages;
    let other: Reply | undefined;
    afterNext(service.deps.models, 'find', async () => {
      other = await (missing === 'chat' ? ann.delete(`/api/v1/chats/${id}`) : ann.post(`/api/v1/chats/${id}/reset`));
    });
    const body = what === 'edit' ? { prompt: 'Two' } : {};
    const reply = await ann.post(`/api/v1/chats/${id}/messages/${question.id}/${what}`, body);
    expect(other?.status).toBe(200);
    expect([reply.status, reply.body.error?.message]).toEqual([404, `There is no such ${missing}`]);
    expect(await service.deps.storage.db.prisma.run.count({ where: { chatId: id } })).toBe(0);
  });
});
