import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { publicError } from '../../../src/entities/ground/errors.ts';
import { addFile, indexed } from '../../support/knowledge/knowledge.ts';
import { makeFor, type Person } from '../../support/make.ts';
import { startService, type TestService } from '../../support/service.ts';

describe('a disk without room', () => {
  it.each([
    ['the file system', Object.assign(new Error('write'), { code: 'ENOSPC' })],
    ['a quota', Object.assign(new Error('write'), { code: 'EDQUOT' })],
    ['the database', Object.assign(new Error('could not extend file'), { code: '53100' })],
    ['a failure further down', new Error('not written', { cause: Object.assign(new Error('write'), { code: 'ENOSPC' }) })],
  ])('is told as what it is: %s', (_where, error) => {
    const shown = publicError(error);
    expect(shown).toMatchObject({ status: 507, code: 'STORAGE_FULL' });
    expect(shown.message).toContain('no room');
  });
});

describe('a blob folder that takes no writes', () => {
  let service: TestService;
  let ann: Person;
  let agentId: string;
  beforeAll(async () => {
    service = await startService({ onLog: () => undefined });
    const make = makeFor(service);
    ann = await make.person();
    agentId = (await make.agent({ owner: ann })).id;
  });
  afterAll(() => service.close());

  it('refuses the upload, keeps nothing of it, serves the rest, and needs no repair afterwards', async () => {
    const first = await addFile(ann, agentId, 'first.txt', 'The ferry leaves at nine.');
    await indexed(ann, first.body.id);
    const folder = join(service.deps.settings.DATA_DIR, 'blobs');
    const aside = `${folder}-aside`;
    renameSync(folder, aside);
    writeFileSync(folder, '');
    const refused = await addFile(ann, agentId, 'second.txt', 'The train leaves at ten.');
    expect(refused.status).toBeGreaterThanOrEqual(500);
    expect(refused.body.error.message).not.toContain(folder);
    const listed = await ann.get(`/api/v1/ais/${agentId}/data-sources`);
    expect(listed.body.data.map(({ id }: { id: string }) => id)).toEqual([first.body.id]);
    rmSync(folder);
    renameSync(aside, folder);

    const second = await addFile(ann, agentId, 'second.txt', 'The train leaves at ten.');
    expect((await indexed(ann, second.body.id)).indexStatus).toBe('INDEXED');
    expect((await indexed(ann, first.body.id)).indexStatus).toBe('INDEXED');
  });
});
