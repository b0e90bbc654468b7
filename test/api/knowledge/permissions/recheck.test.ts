import { beforeEach, describe, expect, it } from 'vitest';
import type { PermissionReader, RecheckTask } from '../../../../src/engine/knowledge/connectors/permissions.ts';
import { PermissionReaders } from '../../../../src/engine/knowledge/connectors/registry.ts';
import { Recheck } from '../../../../src/engine/knowledge/permissions/recheck.ts';
import type { PassageMatch } from '../../../../src/engine/knowledge/search/passages.ts';
import type { Person } from '../../../support/make.ts';
import { withService } from '../../../support/service.ts';

const { service, make } = await withService();
const { storage, newId } = service.deps;
let ann: Person;
let source: string;
let asked: RecheckTask[];
let answer: (task: RecheckTask) => Promise<ReadonlySet<string>>;
let items: readonly string[];

/** The service behind the source answers as the test says. */
const reader: PermissionReader = {
  read: async function* () {
    yield { items: [], place: null };
    return { isFull: true };
  },
  recheck(task) {
    asked.push(task);
    return answer(task);
  },
};

beforeEach(async () => {
  ann = await make.person();
  await storage.db.prisma.user.update({ where: { id: ann.userId }, data: { emailVerifiedAt: new Date() } });
  const at = { createdAt: new Date(), updatedAt: new Date() };
  source = newId('dataSource');
  const row = { id: source, orgId: ann.orgId, ownerUserId: ann.userId, name: 'Drive', type: 'DRIVE_A', data: {}, ...at };
  await storage.db.prisma.dataSource.create({ data: row });
  await storage.knowledge.sources.update(source, { access: 'MIRRORED', recheck: 'ON_ANSWER' });
  await storage.db.prisma.permissionReading.create({ data: { dataSourceId: source, directory: 'drive', readAt: new Date() } });
  items = ['a', 'b'].map(() => newId('knowledgeItem'));
  for (const [index, id] of items.entries()) {
    const document = {
      id,
      orgId: ann.orgId,
      dataSourceId: source,
      name: 'Plan',
      uniqueId: `file-${index}`,
      type: 'DRIVE_A',
      ...at,
    };
    await storage.db.prisma.knowledgeItem.create({ data: document });
  }
  asked = [];
  answer = async () => new Set(['file-0']);
});

const passage = (knowledgeItemId: string, dataSourceId = source): PassageMatch => ({
  ...{
    chunkId: '1',
    chunkIds: ['1'],
    knowledgeItemId,
    dataSourceId,
    title: 'Plan',
    headingPath: '',
    text: 'Thirty days.',
    page: null,
  },
  ...{
    charStart: 0,
    charEnd: 12,
    url: '',
    itemType: 'DRIVE_A',
    tokenCount: 3,
    score: 1,
    mayCite: true,
    firstOrdinal: 0,
    lastOrdinal: 0,
  },
  scores: { lexical: 1, vector: null, rerank: null },
});
const createRecheck = () => new Recheck({ storage, readers: new PermissionReaders(new Map([['DRIVE_A', reader]])) });
async function keep(recheck: Recheck, passages: readonly PassageMatch[]) {
  const gate = await storage.knowledge.permissions.gates.open(ann, [source]);
  const open = await recheck.keepOpen(gate, ann, passages, AbortSignal.timeout(30_000));
  return open.map(({ knowledgeItemId }) => knowledgeItemId);
}

describe('a source that is asked before an answer', () => {
  it('gives what the service says to be open, and is asked once a minute', async () => {
    const recheck = createRecheck();
    const passages = [...items.map((id) => passage(id)), passage(newId('knowledgeItem'), 'ds_of_another')];
    expect(await keep(recheck, passages)).toEqual([items[0], passages[2]?.knowledgeItemId]);
    expect(await keep(recheck, passages)).toHaveLength(2);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({ source: { id: source }, person: { emails: [ann.email] } });
    expect(asked[0]?.items.map(({ uniqueId }) => uniqueId).sort()).toEqual(['file-0', 'file-1']);
  });

  it('gives nothing when the service fails, or does not answer within a second', async () => {
    answer = () => Promise.reject(new Error('503'));
    expect(await keep(createRecheck(), [passage(items[0] ?? '')])).toEqual([]);
    answer = () => new Promise(() => undefined);
    expect(await keep(createRecheck(), [passage(items[0] ?? '')])).toEqual([]);
  });

  it('says whether permissions that were just read name the person, by its groups too', async () => {
    const place = { dataSourceId: source, orgId: ann.orgId, directory: 'drive', service: 'google' as const };
    const members = [{ kind: 'user', email: ann.email }] as const;
    await storage.knowledge.permissions.write(place, { groups: [{ id: 'staff', members }] });
    const seen: boolean[] = [];
    answer = async ({ opens }) => {
      seen.push(await opens({ lists: [[{ kind: 'group', id: 'staff' }], [{ kind: 'user', email: ann.email }]] }));
      seen.push(await opens({ lists: [[{ kind: 'group', id: 'staff' }], [{ kind: 'group', id: 'board' }]] }));
      seen.push(await opens({ lists: [[{ kind: 'anyone', isByLink: true }]] }));
      seen.push(await opens({ unknown: { code: 'INCOMPLETE', message: 'A part.' } }));
      return new Set();
    };
    await keep(createRecheck(), [passage(items[0] ?? '')]);
    expect(seen).toEqual([true, false, false, false]);
  });
});
