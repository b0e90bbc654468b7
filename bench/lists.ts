import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeId } from '../src/entities/ground/ids.ts';
import { createLogger } from '../src/http/log/logging.ts';
import { loadSettings } from '../src/settings.ts';
import { type Service, startService } from '../src/start/service.ts';
import type { Row } from './completions/completions.ts';

const chats = 100_000;
const pageSize = 100;
const depth = chats - pageSize;
const measured = 100;
const adminKey = 'pk-bench-administrator-key-of-40-characters';

/**
 * Measures a page of a list of 100,000 chats over HTTP: the first page, and the page at depth 99,900, in turns. `raw` is the first page, `ours` the
 * deep one: a list that is read by key costs the same at any depth.
 */
export async function benchLists(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-lists-'));
  const settings = loadSettings({ PORT: '0', DATA_DIR: folder, LOG_LEVEL: 'error', PARLEY_ADMIN_KEY: adminKey, DEMO: 'off' });
  const service = await startService(settings, createLogger({ ...settings, LOG_LEVEL: 'silent' }), (error) => {
    throw error;
  });
  try {
    const path = await fillChats(service);
    const deep = await cursorAt(service, path, depth);
    const times: { readonly first: number[]; readonly deep: number[] } = { first: [], deep: [] };
    for (let round = -10; round < measured; round += 1) {
      const first = await timed(() => page(service, path, undefined));
      const last = await timed(() => page(service, path, deep));
      if (round < 0) continue;
      times.first.push(first);
      times.deep.push(last);
    }
    return [
      {
        name: `list of ${chats.toLocaleString('en')} chats: page at depth ${depth.toLocaleString('en')} against depth 0`,
        raw: median(times.first),
        ours: median(times.deep),
        unit: 'ms',
        floor: { ratioMax: 1.5 },
      },
    ];
  } finally {
    await service.close(1_000);
    await rm(folder, { recursive: true, force: true });
  }
}

/** @returns the path of a list that holds only the chats made here. */
async function fillChats({ url, deps }: Service): Promise<string> {
  const { body } = await call(`${url}/api/v1/ais`, {
    method: 'POST',
    body: JSON.stringify({ src: '', name: 'Listed', description: 'For a benchmark', instructions: 'Be brief.' }),
  });
  const { id: agentId, userId, orgId } = body as { id: string; userId: string; orgId: string };
  const start = Date.now() - chats * 1_000;
  for (let from = 0; from < chats; from += 5_000) {
    const rows = Array.from({ length: 5_000 }, (_, index) => {
      const at = start + (from + index) * 1_000;
      return { id: makeId('chat', at), at: new Date(at), name: `Chat ${from + index}` };
    });
    await deps.storage.db.pool.query(
      `insert into chats (id, "createdAt", "updatedAt", "orgId", "userId", "agentId", name)
       select r.id, r.at, r.at, $1, $2, $3, r.name from jsonb_to_recordset($4::jsonb) as r(id text, at timestamptz, name text)`,
      [orgId, userId, agentId, JSON.stringify(rows)],
    );
  }
  await deps.storage.db.pool.query('analyze chats');
  return '/api/v1/chats';
}

/** Pages to that place, as a client does: only the service knows how to make a cursor. */
async function cursorAt(service: Service, path: string, place: number): Promise<string> {
  let cursor: string | undefined;
  for (let seen = 0; seen < place; seen += pageSize) cursor = await page(service, path, cursor);
  if (cursor === undefined) throw new Error('the list is shorter than it was filled');
  return cursor;
}

async function page({ url }: Service, path: string, cursor: string | undefined): Promise<string> {
  const after = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
  const { body } = await call(`${url}${path}?limit=${pageSize}${after}`);
  const { data, nextCursor } = body as { data: unknown[]; nextCursor: string | null };
  if (data.length !== pageSize) throw new Error(`a page of ${data.length}`);
  return nextCursor ?? '';
}

async function call(url: string, init: RequestInit = {}): Promise<{ readonly body: unknown }> {
  const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' };
  const reply = await fetch(url, { ...init, headers });
  const body: unknown = await reply.json();
  if (!reply.ok) throw new Error(`${reply.status} ${JSON.stringify(body)}`);
  return { body };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
