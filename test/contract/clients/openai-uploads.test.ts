import { createHash } from 'node:crypto';
import OpenAI, { toFile } from 'openai';
import OpenAI6 from 'openai-6';
import { describe, expect, it } from 'vitest';
import { expireUploads } from '../../../src/domain/conversations/files/uploads.ts';
import { sampled } from '../../support/property/sample.ts';
import { withService } from '../../support/service.ts';

/** Files that come in parts, with the openai package. */
const limits = { UPLOAD_MAX_BYTES: 1_000_000, CHAT_FILE_MAX_BYTES: 1_000, UPLOADS_PENDING_MAX: 3, FILES_MAX: 6 };
const env = Object.fromEntries(Object.entries(limits).map(([name, value]) => [name, String(value)]));
const { service, make } = await withService('web', { env });
const organization = await make.organization();
const ann = await make.person({ organization });
const bob = await make.person();

const of = (key: string, base = '/v1', Client = OpenAI) =>
  new Client({ baseURL: `${service.url}${base}`, apiKey: key, maxRetries: 0 });
const part = (bytes: Buffer | string) => toFile(Buffer.from(bytes), 'part');
const begun = { filename: 'note.txt', mime_type: 'text/plain', purpose: 'assistants' as const };

describe.each(
  sampled([
    ['openai 6', '/v1', OpenAI6 as unknown as typeof OpenAI],
    ['openai 7', '/api/v1', OpenAI],
  ] as const),
)('%s at %s', (_name, base, Client) => {
  it('puts the parts together in the order that is asked for, and compares the md5', async () => {
    const { uploads, files } = of(ann.key, base, Client);
    const bytes = Buffer.concat([Buffer.alloc(300_000, 1), Buffer.alloc(299_999, 2), Buffer.from([0])]);
    const pieces = [bytes.subarray(0, 250_000), bytes.subarray(250_000, 500_000), bytes.subarray(500_000)];
    const upload = await uploads.create({
      ...begun,
      bytes: bytes.length,
      expires_after: { anchor: 'created_at', seconds: 3_600 },
    });
    expect(upload).toMatchObject({ object: 'upload', status: 'pending', bytes: bytes.length, filename: 'note.txt', file: null });
    expect(upload.expires_at).toBe(upload.created_at + 3_600);
    const parts = await Promise.all(
      pieces.toReversed().map(async (piece) => uploads.parts.create(upload.id, { data: await part(piece) })),
    );
    expect(parts[0]).toMatchObject({ object: 'upload.part', upload_id: upload.id });
    const partIds = parts.map(({ id }) => id).toReversed();
    const md5 = createHash('md5').update(bytes).digest('hex');
    await expect(uploads.complete(upload.id, { part_ids: partIds.toReversed(), md5 })).rejects.toMatchObject({
      status: 400,
      param: 'md5',
    });
    const done = await uploads.complete(upload.id, { part_ids: partIds, md5: md5.toUpperCase() });
    expect(done).toMatchObject({
      id: upload.id,
      status: 'completed',
      file: { object: 'file', bytes: bytes.length, purpose: 'assistants' },
    });
    const file = await files.retrieve(done.file?.id ?? '');
    expect(file).toMatchObject({ filename: 'note.txt', status: 'processed' });
    expect(file.expires_at).toBe(file.created_at + 3_600);
    expect(Buffer.from(await (await files.content(file.id)).arrayBuffer()).equals(bytes)).toBe(true);
    await files.delete(file.id);
  });

  it('takes a part again, and leaves out parts that are not named', async () => {
    const { uploads, files } = of(ann.key, base, Client);
    const upload = await uploads.create({ ...begun, bytes: 6 });
    await uploads.parts.create(upload.id, { data: await part('Hell') });
    const first = await uploads.parts.create(upload.id, { data: await part('Good') });
    const second = await uploads.parts.create(upload.id, { data: await part('by') });
    const { file } = await uploads.complete(upload.id, { part_ids: [first.id, second.id] });
    expect(await (await files.content(file?.id ?? '')).text()).toBe('Goodby');
    expect(await partsLeft(upload.id)).toBe(0);
    await files.delete(file?.id ?? '');
  });

  it('takes nothing more once it is over', async () => {
    const { uploads } = of(ann.key, base, Client);
    const upload = await uploads.create({ ...begun, bytes: 4 });
    const { id } = await uploads.parts.create(upload.id, { data: await part('Good') });
    expect(await uploads.cancel(upload.id)).toMatchObject({ id: upload.id, status: 'cancelled', file: null });
    expect(await partsLeft(upload.id)).toBe(0);
    await expect(uploads.parts.create(upload.id, { data: await part('more') })).rejects.toMatchObject({ status: 409 });
    await expect(uploads.complete(upload.id, { part_ids: [id] })).rejects.toMatchObject({ status: 409 });
    await expect(uploads.cancel(upload.id)).rejects.toMatchObject({ status: 409 });
  });
});

describe('an upload', () => {
  it('is refused with the member that is wrong', async () => {
    const { uploads } = of(ann.key);
    const refused: readonly (readonly [object, number, string])[] = [
      [{ bytes: 0 }, 400, 'bytes'],
      [{ bytes: limits.UPLOAD_MAX_BYTES + 1 }, 413, 'bytes'],
      [{ bytes: limits.CHAT_FILE_MAX_BYTES + 1, purpose: 'user_data' }, 413, 'bytes'],
      [{ filename: ' ' }, 400, 'filename'],
      [{ filename: 'x'.repeat(201) }, 400, 'filename'],
      [{ mime_type: 'text' }, 400, 'mime_type'],
      [{ purpose: 'batch' }, 400, 'purpose'],
      [{ expires_after: { anchor: 'last_active_at', seconds: 3_600 } }, 400, 'expires_after.anchor'],
      [{ expires_after: { anchor: 'created_at', seconds: 3_599 } }, 400, 'expires_after.seconds'],
      [{ expires_after: { anchor: 'created_at', seconds: 2_592_001 } }, 400, 'expires_after.seconds'],
    ];
    for (const [members, status, param] of refused) {
      await expect(uploads.create({ ...begun, bytes: 1, ...members }), param).rejects.toMatchObject({ status, param });
    }
  });

  it('has parts of the announced size together, of its own, each named once', async () => {
    const { uploads } = of(ann.key);
    const other = await uploads.create({ ...begun, bytes: 4 });
    const strange = await uploads.parts.create(other.id, { data: await part('Good') });
    const upload = await uploads.create({ ...begun, bytes: 4 });
    await expect(uploads.parts.create(upload.id, { data: await part('') })).rejects.toMatchObject({ status: 400, param: 'data' });
    await expect(uploads.parts.create(upload.id, { data: await part('too long') })).rejects.toMatchObject({
      status: 413,
      param: 'data',
    });
    const half = await uploads.parts.create(upload.id, { data: await part('Go') });
    const rest = await uploads.parts.create(upload.id, { data: await part('od') });
    const whole = await uploads.parts.create(upload.id, { data: await part('Good') });
    // Twice the announced size is there.
    await expect(uploads.parts.create(upload.id, { data: await part('x') })).rejects.toMatchObject({
      status: 413,
      param: 'data',
    });
    const refused: readonly (readonly [OpenAI.UploadCompleteParams, string])[] = [
      [{ part_ids: [] }, 'part_ids'],
      [{ part_ids: [half.id] }, 'part_ids'],
      [{ part_ids: [whole.id, half.id] }, 'part_ids'],
      [{ part_ids: [half.id, half.id] }, 'part_ids'],
      [{ part_ids: [strange.id] }, 'part_ids[0]'],
      [{ part_ids: [half.id, 'part_none'] }, 'part_ids[1]'],
      [{ part_ids: [whole.id], md5: 'abc' }, 'md5'],
    ];
    for (const [body, param] of refused) {
      await expect(uploads.complete(upload.id, body), JSON.stringify(body)).rejects.toMatchObject({ status: 400, param });
    }
    expect(await uploads.complete(upload.id, { part_ids: [half.id, rest.id] })).toMatchObject({ status: 'completed' });
    await uploads.cancel(other.id);
  });

  it('is that of its user: nobody else finds it', async () => {
    const { uploads } = of(ann.key);
    const upload = await uploads.create({ ...begun, bytes: 4 });
    const { id } = await uploads.parts.create(upload.id, { data: await part('Good') });
    const colleague = await make.person({ organization, role: 'ADMIN' });
    for (const { key } of [bob, colleague]) {
      const { uploads: theirs } = of(key);
      await expect(theirs.parts.create(upload.id, { data: await part('more') })).rejects.toBeInstanceOf(OpenAI.NotFoundError);
      await expect(theirs.complete(upload.id, { part_ids: [id] })).rejects.toBeInstanceOf(OpenAI.NotFoundError);
      await expect(theirs.cancel(upload.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    }
    await uploads.cancel(upload.id);
  });

  it('is one of few that a user may have at once', async () => {
    const { uploads } = of(bob.key);
    const some = [];
    for (let count = 0; count < limits.UPLOADS_PENDING_MAX; count += 1) some.push(await uploads.create({ ...begun, bytes: 4 }));
    await expect(uploads.create({ ...begun, bytes: 4 })).rejects.toMatchObject({ status: 409 });
    for (const { id } of some) await uploads.cancel(id);
    const { id } = await uploads.create({ ...begun, bytes: 4 });
    await uploads.cancel(id);
  });

  it('stays pending when the user has the most files, and is completed once one is deleted', async () => {
    const cleo = await make.person();
    const { uploads, files } = of(cleo.key);
    const made = [];
    for (let count = 0; count < limits.FILES_MAX; count += 1) {
      made.push(await files.create({ file: await part('Good'), purpose: 'user_data' }));
    }
    const upload = await uploads.create({ ...begun, bytes: 4 });
    const { id } = await uploads.parts.create(upload.id, { data: await part('Good') });
    await expect(uploads.complete(upload.id, { part_ids: [id] })).rejects.toMatchObject({ status: 409 });
    await expect(files.create({ file: await part('Good'), purpose: 'user_data' })).rejects.toMatchObject({ status: 409 });
    await files.delete(made[0]?.id ?? '');
    expect(await uploads.complete(upload.id, { part_ids: [id] })).toMatchObject({ status: 'completed' });
  });

  it('is completed once when two ask at the same time', async () => {
    const { uploads, files } = of((await make.person()).key);
    const upload = await uploads.create({ ...begun, bytes: 4 });
    const { id } = await uploads.parts.create(upload.id, { data: await part('Good') });
    const asked = await Promise.all([1, 2, 3].map(() => uploads.complete(upload.id, { part_ids: [id] })));
    // Clients repeat a request whose reply was lost.
    const again = await uploads.complete(upload.id, { part_ids: [id] });
    const { data } = await files.list();
    expect(data).toHaveLength(1);
    for (const { status, file } of [...asked, again]) expect([status, file?.id]).toEqual(['completed', data[0]?.id]);
    await files.delete(data[0]?.id ?? '');
    await expect(uploads.complete(upload.id, { part_ids: [id] })).rejects.toMatchObject({ status: 409 });
  });

  it('expires after an hour: its parts are deleted, a day later also its row', async () => {
    const { uploads } = of(ann.key);
    const upload = await uploads.create({ ...begun, bytes: 4 });
    const { id } = await uploads.parts.create(upload.id, { data: await part('Good') });
    const kept = await uploads.create({ ...begun, bytes: 4 });
    await uploads.parts.create(kept.id, { data: await part('Good') });
    const { storage } = service.deps;
    const [{ blobKey } = { blobKey: '' }] = await storage.conversations.fileUploads.parts(upload.id);
    await storage.db.pool.query(`update file_uploads set "expiresAt" = now() - interval '1 second' where id = $1`, [upload.id]);
    await expect(uploads.parts.create(upload.id, { data: await part('more') })).rejects.toMatchObject({
      status: 409,
      message: expect.stringContaining('expired'),
    });
    await expect(uploads.complete(upload.id, { part_ids: [id] })).rejects.toMatchObject({ status: 409 });
    await expireUploads(service.deps, AbortSignal.timeout(60_000));
    expect([await partsLeft(upload.id), await partsLeft(kept.id)]).toEqual([0, 1]);
    await expect(storage.blobs.read(blobKey)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await storage.db.pool.query(`update file_uploads set "expiresAt" = now() - interval '25 hours' where id = $1`, [upload.id]);
    await expireUploads(service.deps, AbortSignal.timeout(60_000));
    await expect(uploads.cancel(upload.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await uploads.cancel(kept.id);
  });

  it('loses parts whose process died before it wrote their row', async () => {
    const { storage } = service.deps;
    const { uploads } = of(ann.key);
    const upload = await uploads.create({ ...begun, bytes: 4 });
    await uploads.parts.create(upload.id, { data: await part('Good') });
    const [{ blobKey } = { blobKey: '' }] = await storage.conversations.fileUploads.parts(upload.id);
    const lost = `${ann.orgId}/uploads/part_lost`;
    expect(await storage.operations.orphanBlobs.among([blobKey, lost])).toEqual([lost]);
    await uploads.cancel(upload.id);
  });
});

async function partsLeft(uploadId: string): Promise<number> {
  return (await service.deps.storage.conversations.fileUploads.parts(uploadId)).length;
}
