import { describe, expect, it } from 'vitest';
import type {
  Connector,
  ListedItem,
  ListedPage,
  ListingEnd,
  ListTask,
} from '../../../../src/engine/knowledge/connectors/connector.ts';
import { SourceError } from '../../../../src/engine/knowledge/connectors/error.ts';
import { Connectors } from '../../../../src/engine/knowledge/connectors/registry.ts';
import { type SyncOutcome, syncSource } from '../../../../src/engine/knowledge/sync/sync-source.ts';
import type { RunTrigger } from '../../../../src/entities/knowledge/source-run.ts';
import type { Person } from '../../../support/make.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';

// The tests run the listings, the service the indexing. What it lists by itself reaches nothing.
const { service, make } = await withService('plain', { env: { MICROSOFT_API_URL: 'http://127.0.0.1:9' } });

/** A service with documents, whose listings a test writes. */
class Library implements Connector {
  documents = new Map<string, string>();
  end: Partial<ListingEnd> = {};
  goneIds: string[] = [];
  skipped = new Map<string, string>();
  /** Runs after each part. */
  between: (part: number) => Promise<void> | void = () => undefined;
  partSize = 2;
  tasks: ListTask[] = [];
  begunAt: number[] = [];

  async *list(task: ListTask): AsyncGenerator<ListedPage, ListingEnd, void> {
    this.tasks.push(task);
    const all = [...this.documents];
    const begin = typeof task.place === 'number' ? task.place : 0;
    this.begunAt.push(begin);
    for (let at = begin; at < all.length; at += this.partSize) {
      task.progress(all[at]?.[0] ?? '');
      yield { items: all.slice(at, at + this.partSize).map(([id, text]) => this.item(id, text)), place: at + this.partSize };
      await this.between(at / this.partSize);
    }
    if (this.goneIds.length > 0) yield { items: [], goneIds: this.goneIds, place: all.length };
    return { isComplete: true, ...this.end };
  }
  item(id: string, text: string): ListedItem {
    const reason = this.skipped.get(id);
    return {
      uniqueId: id,
      parentUniqueId: null,
      name: `${id}.txt`,
      url: `https://library.example/${id}`,
      changeKey: text,
      filename: `${id}.txt`,
      mimeType: 'text/plain',
      ...(reason === undefined ? { content: Buffer.from(text) } : { skipped: { code: 'UNSUPPORTED', message: reason } }),
    };
  }
  async fetch(): Promise<never> {
    throw new SourceError('NOT_FOUND', 'Nothing is fetched here.');
  }
}

async function source(owner: Person): Promise<string> {
  const agent = await make.agent({ owner });
  const { id: oauthTokenId } = (
    await owner.post('/api/v1/connections', { provider: 'DRIVE_B', accountName: 'Ann', accessToken: 'token' })
  ).body;
  const id = service.deps.newId('dataSource');
  const about = { id, createdAt: new Date(), orgId: owner.orgId, ownerUserId: owner.userId, name: 'Library' };
  const source = { ...about, type: 'DRIVE_B', data: { oauthTokenId, fileId: '1', filename: 'Library' } } as const;
  await service.deps.storage.knowledge.connectedSources.create(agent.id, [source], async () => undefined);
  return id;
}

function sync(
  id: string,
  library: Connector,
  {
    trigger = 'REFRESH',
    signal = new AbortController().signal,
    owner = 'test',
  }: { trigger?: RunTrigger; signal?: AbortSignal; owner?: string } = {},
): Promise<SyncOutcome> {
  return syncSource({ ...service.deps, connectors: new Connectors(new Map([['DRIVE_B', library]])), owner }, id, trigger, signal);
}
const read = async (who: Person, id: string) => (await who.get(`/api/v1/data-sources/${id}`)).body;
const itemsOf = async (who: Person, id: string) => (await who.get(`/api/v1/data-sources/${id}/knowledge?first=100`)).body.data;
const runsOf = async (who: Person, id: string) => (await who.get(`/api/v1/data-sources/${id}/runs`)).body.data;
async function settled(who: Person, id: string) {
  return eventually(async () => {
    const [run] = await runsOf(who, id);
    expect(run.endedAt).toEqual(expect.any(String));
    return run;
  });
}
const textsOf = async (id: string) =>
  (
    await service.deps.storage.db.pool.query(
      `select t.text from chunks c join chunk_texts t on t.chunk_id = c.id join knowledge_items i on i.id = c.item_id
       where i."dataSourceId" = $1 and c.generation = i."liveGeneration" order by t.text`,
      [id],
    )
  ).rows.map(({ text }) => text.trim());

describe('the schedule of a source', () => {
  it('makes one run in a period, by the listing alone, however many processes look', async () => {
    const ann = await make.person();
    const {
      db,
      knowledge: { indexing, syncing },
    } = service.deps.storage;
    let id = '';
    let library = new Library();
    // The service looks for due sources each minute too. Where it was first, the listing of the test is not asked: again with another source.
    while (library.tasks.length < 2) {
      id = await source(ann);
      library = new Library();
      library.documents.set('a', 'a one');
      await sync(id, library);
      await settled(ann, id);
      await db.pool.query(
        `with old as (update knowledge_items set "lastCheckedAt" = now() - interval '9 days' where "dataSourceId" = $1)
         update data_sources set "refreshPeriod" = 'DAILY', "lastSyncedAt" = now() - interval '9 days' where id = $1`,
        [id],
      );
      expect((await indexing.findDue()).map((due) => due.id)).not.toContain(id);
      library.between = async () => {
        // A second process that found it due at the same time: no run follows for it.
        expect(await sync(id, library, { trigger: 'SCHEDULE', owner: 'other' })).toEqual({ kind: 'held' });
      };
      const due = (await syncing.findDue()).map((one) => one.id);
      await sync(id, library, { trigger: 'SCHEDULE' });
      if (library.tasks.length === 2) expect(due).toContain(id);
    }
    expect(await settled(ann, id)).toMatchObject({ trigger: 'SCHEDULE', status: 'COMPLETED' });
    await sync(id, library, { trigger: 'SCHEDULE', owner: 'third' });
    await syncing.closeEnded(id, async (_tx, sources) => expect(sources).toEqual([]));
    expect(await runsOf(ann, id)).toHaveLength(2);
    const { rows } = await db.pool.query('select "isSyncWanted" as wanted from data_sources where id = $1', [id]);
    expect(rows).toEqual([{ wanted: false }]);
    await db.pool.query(`update data_sources set "refreshPeriod" = 'NEVER' where id = $1`, [id]);
  });
});

describe('a run of a source', () => {
  it('indexes what is new, then only what changed, and removes what is gone', async () => {
    const ann = await make.person();
    const id = await source(ann);
    const library = new Library();
    for (const name of ['a', 'b', 'c', 'd', 'e']) library.documents.set(name, `${name} one`);
    expect(await sync(id, library)).toEqual({ kind: 'done' });
    expect(await settled(ann, id)).toMatchObject({
      status: 'COMPLETED',
      listedCount: 5,
      addedCount: 5,
      changedCount: 0,
      isComplete: true,
    });
    expect(await read(ann, id)).toMatchObject({ indexStatus: 'INDEXED', indexPercentage: '100', errorCode: null });
    expect(await textsOf(id)).toEqual(['a one', 'b one', 'c one', 'd one', 'e one']);
    const before = await itemsOf(ann, id);
    expect(before.find((item: { uniqueId: string }) => item.uniqueId === 'a')).toMatchObject({
      originalContent: { contentUrl: 'https://library.example/a' },
    });

    library.documents.set('b', 'b two');
    library.documents.delete('d');
    library.documents.set('f', 'f one');
    await sync(id, library);
    expect(await settled(ann, id)).toMatchObject({
      addedCount: 1,
      changedCount: 1,
      unchangedCount: 3,
      removedCount: 1,
      failedCount: 0,
    });
    expect(await textsOf(id)).toEqual(['a one', 'b two', 'c one', 'e one', 'f one']);
    const after = await itemsOf(ann, id);
    expect(after.map((item: { uniqueId: string }) => item.uniqueId).toSorted()).toEqual(['a', 'b', 'c', 'e', 'f']);
    expect(after.find((item: { uniqueId: string }) => item.uniqueId === 'a').id).toBe(
      before.find((item: { uniqueId: string }) => item.uniqueId === 'a').id,
    );
    expect((await ann.get(`/api/v1/data-sources/${id}/indexing-statistics`)).body).toMatchObject({ doneCount: 5, totalCount: 5 });
  });

  it('keeps more than half that is missing until the next run misses it too', async () => {
    const ann = await make.person();
    const id = await source(ann);
    const library = new Library();
    for (const name of ['a', 'b', 'c']) library.documents.set(name, name);
    await sync(id, library);
    await settled(ann, id);
    library.documents.delete('a');
    library.documents.delete('b');
    await sync(id, library);
    expect(await settled(ann, id)).toMatchObject({ removedCount: 0, heldCount: 2 });
    expect(await textsOf(id)).toEqual(['a', 'b', 'c']);
    // One comes back in between.
    library.documents.set('b', 'b');
    await sync(id, library);
    expect(await settled(ann, id)).toMatchObject({ removedCount: 1, heldCount: 0 });
    expect(await textsOf(id)).toEqual(['b', 'c']);
  });

  it('removes nothing after an incomplete listing, except what the service calls deleted', async () => {
    const ann = await make.person();
    const id = await source(ann);
    const library = new Library();
    for (const name of ['a', 'b', 'c', 'd']) library.documents.set(name, name);
    await sync(id, library);
    await settled(ann, id);
    library.documents.clear();
    library.end = { isComplete: false, bound: 'maxPages (4 pages)' };
    library.goneIds = ['c', 'unknown'];
    await sync(id, library);
    expect(await settled(ann, id)).toMatchObject({ removedCount: 1, isComplete: false, bound: 'maxPages (4 pages)' });
    expect(await textsOf(id)).toEqual(['a', 'b', 'd']);
    expect(await read(ann, id)).toMatchObject({
      indexStatus: 'INDEXED',
      errorCode: 'BOUND_REACHED',
      errorMessage: expect.stringContaining('maxPages'),
    });
  });

  it('lists what is not read with its reason, and stops answering from it', async () => {
    const ann = await make.person();
    const id = await source(ann);
    const library = new Library();
    for (const name of ['a', 'b']) library.documents.set(name, name);
    await sync(id, library);
    await settled(ann, id);
    library.skipped.set('a', 'A film is not read.');
    await sync(id, library);
    expect(await settled(ann, id)).toMatchObject({ skippedCount: 1, unchangedCount: 1 });
    expect(await textsOf(id)).toEqual(['b']);
    const itemOfA = async () => (await itemsOf(ann, id)).find((item: { uniqueId: string }) => item.uniqueId === 'a');
    expect(await itemOfA()).toMatchObject({
      indexStatus: 'SKIPPED',
      errorMessage: 'A film is not read.',
      metadata: { skippedReason: 'A film is not read.' },
    });
    library.skipped.clear();
    await sync(id, library);
    await settled(ann, id);
    expect(await textsOf(id)).toEqual(['a', 'b']);
    expect((await itemOfA()).metadata).not.toHaveProperty('skippedReason');
  });

  it('is cut off as often as it must be, as long as it gets further each time', async () => {
    const ann = await make.person();
    const id = await source(ann);
    const library = new Library();
    library.partSize = 1;
    const names = Array.from({ length: 9 }, (_, index) => `document ${index}`);
    for (const name of names) library.documents.set(name, name);
    const { pool } = service.deps.storage.db;
    // As after a kill: the process is gone, its lease ends.
    for (let cut = 1; cut <= 8; cut += 1) {
      const gone = new Error('killed');
      library.between = async () => {
        await pool.query(`update source_runs set "leaseOwner" = 'gone', "leaseUntil" = 'epoch' where "dataSourceId" = $1`, [id]);
        throw gone;
      };
      await sync(id, library);
    }
    library.between = () => undefined;
    await sync(id, library);
    expect(await settled(ann, id)).toMatchObject({ status: 'COMPLETED', addedCount: 9 });
    expect(await textsOf(id)).toEqual(names);
  });

  it('goes on where it was cut off, and finds the state of the run before', async () => {
    const ann = await make.person();
    const id = await source(ann);
    const library = new Library();
    library.end = { state: { token: 7 } };
    for (const name of ['a', 'b', 'c', 'd', 'e']) library.documents.set(name, name);
    const stop = new AbortController();
    library.between = (part) => (part === 1 ? stop.abort(new Error('stopping')) : undefined);
    await expect(sync(id, library, { signal: stop.signal })).rejects.toThrow('stopping');
    expect(await read(ann, id)).toMatchObject({ indexStatus: 'INDEXING' });
    library.between = () => undefined;
    await sync(id, library);
    expect(library.begunAt).toEqual([0, 4]);
    expect(await settled(ann, id)).toMatchObject({ addedCount: 5, status: 'COMPLETED' });
    await sync(id, library);
    expect(library.tasks.at(-1)?.state).toEqual({ token: 7 });
  });

  it('is alone: a second one waits for its end, and then follows', async () => {
    const ann = await make.person();
    const id = await source(ann);
    const library = new Library();
    for (const name of ['a', 'b', 'c']) library.documents.set(name, name);
    const second = new Library();
    library.between = async (part) => {
      if (part === 0) expect(await sync(id, second, { owner: 'another' })).toEqual({ kind: 'held' });
    };
    await sync(id, library);
    expect(second.tasks).toEqual([]);
    const runs = await eventually(async () => {
      const found = await runsOf(ann, id);
      // The service itself runs the one that follows.
      expect(found.length).toBe(2);
      return found;
    });
    expect(runs.at(-1)).toMatchObject({ status: 'COMPLETED', addedCount: 3 });
  });

  it('that lists nothing ends FAILED with the reason, and the next one may find something', async () => {
    const ann = await make.person();
    const id = await source(ann);
    const library = new Library();
    await sync(id, library);
    expect(await settled(ann, id)).toMatchObject({ status: 'FAILED', errorCode: 'NOTHING_LEFT', listedCount: 0 });
    const reason = { errorCode: 'NOTHING_LEFT', errorMessage: expect.stringContaining('no document') };
    expect(await read(ann, id)).toMatchObject({ indexStatus: 'FAILED', ...reason });
    library.documents.set('a', 'a one');
    await sync(id, library);
    expect(await settled(ann, id)).toMatchObject({ status: 'COMPLETED', addedCount: 1 });
    expect(await read(ann, id)).toMatchObject({ indexStatus: 'INDEXED', errorCode: null });
  });

  it('ends FAILED with the reason, and what is indexed goes on answering', async () => {
    const ann = await make.person();
    const id = await source(ann);
    const library = new Library();
    library.documents.set('a', 'a');
    await sync(id, library);
    await settled(ann, id);
    const refused: Connector = {
      ...library,
      // biome-ignore lint/correctness/useYield: it fails before it lists anything.
      async *list() {
        throw new SourceError('AUTH', 'The library does not accept the connection any more: connect it again.');
      },
      fetch: () => library.fetch(),
    };
    await sync(id, refused);
    expect(await settled(ann, id)).toMatchObject({ status: 'FAILED', errorCode: 'AUTH' });
    expect(await read(ann, id)).toMatchObject({ indexStatus: 'INDEXED', errorCode: 'AUTH' });
    expect(await textsOf(id)).toEqual(['a']);
    const { oauthTokenId } = (await read(ann, id)).data;
    await ann.patch(`/api/v1/connections/${oauthTokenId}`, { accessToken: 'new' });
    await eventually(async () => expect((await runsOf(ann, id))[0]).toMatchObject({ trigger: 'RECONNECTED' }));
  });

  it('goes on after a failure that may pass, as late as the service asks, and fails after five', async () => {
    const ann = await make.person();
    const id = await source(ann);
    const busy: Connector = {
      // biome-ignore lint/correctness/useYield: it fails before it lists anything.
      async *list() {
        throw new SourceError('RATE_LIMITED', 'The library asks to be called less often.', 90_000);
      },
      fetch: () => new Library().fetch(),
    };
    for (let attempt = 1; attempt < 5; attempt += 1) expect(await sync(id, busy)).toEqual({ kind: 'retry', afterMs: 90_000 });
    expect(await sync(id, busy)).toEqual({ kind: 'done' });
    expect(await read(ann, id)).toMatchObject({ indexStatus: 'FAILED', errorCode: 'RATE_LIMITED' });
  });

  it('can be cancelled: the lister stops, and what answers goes on answering', async () => {
    const ann = await make.person();
    const id = await source(ann);
    const library = new Library();
    for (const name of ['a', 'b']) library.documents.set(name, name);
    await sync(id, library);
    await settled(ann, id);
    for (const name of ['c', 'd']) library.documents.set(name, name);
    library.between = async (part) => {
      if (part === 0) expect((await ann.post(`/api/v1/data-sources/${id}/cancel`)).status).toBe(200);
    };
    expect(await sync(id, library)).toEqual({ kind: 'done' });
    expect((await runsOf(ann, id))[0]).toMatchObject({ status: 'CANCELLED' });
    expect(await textsOf(id)).toEqual(['a', 'b']);
    expect(await read(ann, id)).toMatchObject({ indexStatus: 'INDEXED' });
  });
});
