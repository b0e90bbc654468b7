import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'vitest';
import type { GoogleDrive } from '../../fixtures/upstreams/google-drive.ts';
import type { TestClient } from '../client.ts';
import { eventually } from '../processes/eventually.ts';
import { seededRandom } from '../property/random.ts';

/** One of the processes that sync. */
export interface Syncing {
  readonly ann: TestClient;
  kill(): Promise<unknown>;
}

export interface KilledSyncs {
  readonly drive: GoogleDrive;
  readonly kills: number;
  readonly seed: number;
  /** Starts a process, or the one that takes the place of a killed one. @param isLast  it takes the place of the last one, and is not killed. */
  launch(isLast: boolean): Promise<Syncing>;
  /** How many run side by side. */
  readonly processes: number;
  /** Reads the tables, whichever process runs. */
  query(sql: string, values: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
}

const count = 500;
/** After every second kill, so many files change, are deleted and are added. */
const changesEvery = 2;
const changes = 8;
const folder = 'shelf';
/** The kills are spread over about as many requests to the drive: the listing and many of the files. What is left is read after the last kill. */
const requestsSpread = 300;
/** Fewer between two kills would cut off the same item five times in a row, which gives it up. */
const requestsMin = 6;
const restMsMax = 150;
/** With nothing left to ask for, a process is killed after this. */
const idleMsMax = 1_500;

/** Where a stand-in of a drive is found, and an account of it. */
export function driveEnv(drive: GoogleDrive): Readonly<Record<string, string>> {
  return {
    ...{
      GOOGLE_API_URL: drive.url,
      GOOGLE_TOKEN_URL: `${drive.url}/token`,
      GOOGLE_CLIENT_ID: 'id',
      GOOGLE_CLIENT_SECRET: 'secret',
    },
    ...{ INDEX_LEASE_MS: '2000', EGRESS_ALLOW: '127.0.0.1' },
  };
}

/**
 * Syncs a folder of 500 files that are added, changed and deleted in between, while processes are killed at random moments.
 *
 * @returns the id of the source, whose last run has ended, and a client of a process that runs.
 */
export async function syncThroughKills(world: KilledSyncs): Promise<{ readonly sourceId: string; readonly ann: TestClient }> {
  const { drive, kills, seed } = world;
  const random = seededRandom(seed);
  const upTo = (max: number) => Math.floor(random() * max);
  drive.pageSize = 20;
  drive.folder(folder);
  let made = 0;
  const add = () => {
    const id = `file-${made}`;
    drive.add({ id, name: `${id}.txt`, parents: [folder], text: `The ${id} first stood on the shelf.` });
    made += 1;
  };
  while (made < count) add();

  const running: Syncing[] = [];
  for (let process = 0; process < world.processes; process += 1) running.push(await world.launch(false));
  const some = () => (running[0] as Syncing).ann;
  const agent = await some().post('/api/v1/ais', { src: '', name: 'Ada', description: '', instructions: '' });
  const { access: accessToken, refresh: refreshToken } = drive.tokens;
  const account = { provider: 'DRIVE_A', accountName: 'Ann', accessToken, refreshToken };
  const { body: connection } = await some().post('/api/v1/connections', account);
  const added = await some().post(`/api/v1/ais/${agent.body.id}/data-sources/drive-a`, {
    ...{ oauthTokenId: connection.id, files: [{ id: folder, name: 'Shelf' }] },
  });
  expect(added.status).toBe(200);
  const sourceId = added.body.data[0].id as string;
  const refresh = async () =>
    expect((await some().post(`/api/v1/data-sources/${sourceId}/refresh`)).status, 'a refresh').toBe(200);
  const hasEnded = async () =>
    (await some().get(`/api/v1/data-sources/${sourceId}/runs`)).body.data.every(
      ({ endedAt }: { endedAt: string | null }) => endedAt !== null,
    );

  for (let kill = 0; kill < kills; kill += 1) {
    if (kill % changesEvery === changesEvery - 1) {
      for (let change = 0; change < changes; change += 1) {
        const ids = [...drive.files.keys()].filter((id) => id.startsWith('file-'));
        const changed = ids[upTo(ids.length)] as string;
        drive.change(changed, { text: `The ${changed} was written anew in round ${kill}, line ${change}.` });
        const gone = ids[upTo(ids.length)] as string;
        drive.remove(gone);
        add();
      }
      await refresh();
    }
    await requested(drive, requestsMin + upTo(Math.max(1, (2 * requestsSpread) / kills - 2 * requestsMin)), hasEnded);
    await wait(upTo(restMsMax));
    const victim = upTo(running.length);
    await running[victim]?.kill();
    running[victim] = await world.launch(kill === kills - 1);
  }
  // One run may go on from where it was cut off; the one after it sees everything.
  await ended(some(), sourceId);
  await refresh();
  await ended(some(), sourceId);
  // A file whose process was killed twice while it was read waits for a person who wants it tried again.
  expect((await some().post(`/api/v1/data-sources/${sourceId}/retry`)).status).toBe(200);
  await ended(some(), sourceId, 0);
  return { sourceId, ann: some() };
}

/** Waits until the drive got that many more requests, however long a slow machine takes; or until all runs have ended and it gets none for a while. */
async function requested(drive: GoogleDrive, more: number, hasEnded: () => Promise<boolean>): Promise<void> {
  const { requests } = drive.server;
  const until = requests.length + more;
  for (let seen = requests.length, since = performance.now(); seen < until; seen = requests.length) {
    await wait(5);
    if (requests.length > seen) since = performance.now();
    if (performance.now() - since > idleMsMax && (await hasEnded())) return;
  }
}

/** Waits until the last run has ended. A file that was deleted before it was fetched fails, until a run finds it gone: `failedMax` is 0 after that. */
async function ended(ann: TestClient, sourceId: string, failedMax = count): Promise<void> {
  await eventually(async () => {
    const { data } = (await ann.get(`/api/v1/data-sources/${sourceId}/runs?first=100`)).body;
    const states = (data as { status: string; errorMessage: string | null }[]).map((run) => [run.status, run.errorMessage]);
    const { body: source } = await ann.get(`/api/v1/data-sources/${sourceId}`);
    expect([source.indexStatus, states]).toEqual(['INDEXED', states.map(() => ['COMPLETED', null])]);
    const { body: statistics } = await ann.get(`/api/v1/data-sources/${sourceId}/indexing-statistics`);
    const reasons = statistics.failedCount > failedMax ? await failures(ann, sourceId) : [];
    expect(statistics.failedCount, reasons.join('\n')).toBeLessThanOrEqual(failedMax);
  }, 240_000);
}

/** Why items failed. */
async function failures(ann: TestClient, sourceId: string): Promise<readonly string[]> {
  const reasons: string[] = [];
  for (let page = 1; page <= 10; page += 1) {
    const { data } = (await ann.get(`/api/v1/data-sources/${sourceId}/knowledge?first=100&page=${page}`)).body;
    for (const { name, indexStatus, errorCode, errorMessage } of data as Readonly<Record<string, string>>[]) {
      if (indexStatus === 'FAILED') reasons.push(`${name}: ${errorCode} ${errorMessage}`);
    }
  }
  return reasons;
}

/** The same items and passages as the drive has files; nothing stuck, nothing twice; numbers that add up. */
export async function checkAgreement(world: KilledSyncs, sourceId: string, ann: TestClient): Promise<void> {
  const { drive, query } = world;
  const files = [...drive.files.values()].filter(({ id }) => id.startsWith('file-'));
  const expected = Object.fromEntries(files.map(({ id, content }) => [id, content['']]).toSorted());
  await eventually(async () => {
    const left = await query(
      `select id from knowledge_items where "dataSourceId" = $1 and ("indexStatus" <> 'INDEXED' or "needsCleaning" or "leaseOwner" is not null)`,
      [sourceId],
    );
    expect(left, 'items that are not at rest').toEqual([]);
    const jobs = await query(
      `select name, data from pgboss.job where name in ('knowledge.index-item', 'knowledge.delete-item', 'knowledge.sync-source')
         and state in ('created', 'retry', 'active')`,
      [],
    );
    expect(jobs, 'jobs that are left').toEqual([]);
  });
  const rows = await query(
    `select i."uniqueId" as id, t.text from knowledge_items i left join chunks c on c.item_id = i.id left join chunk_texts t on t.chunk_id = c.id
     where i."dataSourceId" = $1 order by i."uniqueId"`,
    [sourceId],
  );
  expect(rows.length, 'passages, of all generations').toBe(files.length);
  expect(Object.fromEntries(rows.map(({ id, text }) => [id, String(text).trim()]).toSorted())).toEqual(expected);
  const [totals] = await query(
    `select (select count(*)::int from chunks where data_source_id = $1) as chunks,
       (select sum(chunks)::int from lexeme_statistics where data_source_id = $1) as counted`,
    [sourceId],
  );
  expect(totals).toEqual({ chunks: files.length, counted: files.length });

  const statistics = (await ann.get(`/api/v1/data-sources/${sourceId}/indexing-statistics`)).body;
  expect(statistics).toMatchObject({ doneCount: files.length, failedCount: 0, pendingCount: 0, indexingCount: 0 });
  expect(statistics.totalCount).toBe(files.length);
  const { data: runs } = (await ann.get(`/api/v1/data-sources/${sourceId}/runs?first=100`)).body;
  let items = 0;
  for (const run of runs as Readonly<Record<string, number>>[]) {
    const { listedCount = 0, addedCount = 0, changedCount = 0, unchangedCount = 0, skippedCount = 0, removedCount = 0 } = run;
    expect(addedCount + changedCount + unchangedCount + skippedCount, JSON.stringify(run)).toBe(listedCount);
    items += addedCount - removedCount;
  }
  expect(items, 'added less removed of all runs').toBe(files.length);
}
