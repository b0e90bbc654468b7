import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { Person } from '../../support/make.ts';
import { withService } from '../../support/service.ts';
import { startStore } from '../../support/storage/s3.ts';

const store = await startStore('parley');
const { service, make } = await withService('web', { env: store.env });
const large = 'a line of the file that is longer than one part of an upload\n'.repeat(60_000);

/** Where the files of a new chat are. */
async function chatOf(ann: Person): Promise<string> {
  const agent = await make.agent({ owner: ann, modelId: 'parley/offline' });
  return `/api/v1/chats/${(await make.chat({ owner: ann, agentId: agent.id })).id}/files`;
}

function formOf(content: string): FormData {
  const form = new FormData();
  form.append('file', new Blob([content], { type: 'text/plain' }), 'notes.txt');
  return form;
}

describe('files in an S3 store', () => {
  afterEach(() => {
    store.fault = () => undefined;
  });
  afterAll(() => store.close());

  it('come back byte for byte, also after a restart, and go with their chat file', async () => {
    const ann = await make.person();
    const files = await chatOf(ann);
    const { body } = await ann.post(files, formOf(large));
    expect(body.size).toBe(large.length);
    expect((await store.keys()).filter((key) => key.startsWith(`parley/${ann.orgId}/`))).toHaveLength(1);
    await service.restart();
    const reply = await fetch(`${service.url}${files}/${body.id}/content`, { headers: { authorization: `Bearer ${ann.key}` } });
    expect(reply.headers.get('content-length')).toBe(String(large.length));
    expect(await reply.text()).toBe(large);
  });

  it('are refused with 503 while the store is away, with nothing kept, and work again when it is back', async () => {
    const ann = await make.person();
    const files = await chatOf(ann);
    store.fault = () => 'reset';
    const refused = await ann.post(files, formOf('text'));
    expect(refused).toMatchObject({ status: 503, body: { error: { code: 'overloaded' } } });
    expect(refused.body.error.message).toContain('file store');
    store.fault = () => undefined;
    expect((await store.keys()).filter((key) => key.includes(ann.orgId))).toEqual([]);
    expect((await ann.post(files, formOf('text'))).status).toBe(200);
  });

  it('are refused with 507 when the store is full', async () => {
    const ann = await make.person();
    const files = await chatOf(ann);
    store.fault = ({ method }) => (method === 'PUT' ? { status: 507, code: 'XMinioStorageFull' } : undefined);
    expect(await ann.post(files, formOf('text'))).toMatchObject({ status: 507, body: { error: { code: 'storage_full' } } });
  });

  it('without a row are swept, and those of rows stay', async () => {
    const ann = await make.person();
    const files = await chatOf(ann);
    const { body } = await ann.post(files, formOf('kept'));
    const {
      blobs,
      operations: { orphanBlobs },
    } = service.deps.storage;
    await blobs.put(`${ann.orgId}/chat-files/nobody`, Buffer.from('left'), 4);
    const later = new Date(Date.now() + 60_000);
    const keys = (await Array.fromAsync(blobs.listOlder(later))).flat().filter((key) => key.startsWith(ann.orgId));
    expect(keys).toHaveLength(2);
    expect(await orphanBlobs.among(keys)).toEqual([`${ann.orgId}/chat-files/nobody`]);
    expect(body.status).toBe('UPLOADED');
  });
});
