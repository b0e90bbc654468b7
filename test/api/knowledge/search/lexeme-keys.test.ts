import { afterEach, expect, it } from 'vitest';
import { addFile, indexed, searchOf } from '../../../support/knowledge/knowledge.ts';
import { withService } from '../../../support/service.ts';

const { service, make } = await withService();
const {
  db,
  knowledge: { chunks },
} = service.deps.storage;
let made = 0;

afterEach(() => numberFrom(past));

/** Not now(): the column rounds to milliseconds, also upwards. */
const past = `now() - interval '1 second'`;

/** Until then, new words get the keys that the last release computes. */
async function numberFrom(since: string): Promise<void> {
  await db.pool.query(`update lexeme_numberings set since = ${since}`);
}

function newSource(): string {
  made += 1;
  return `ds_of_keys_${made}`;
}

/** Adds a document of one passage. */
async function add(dataSourceId: string, searchText: string): Promise<void> {
  made += 1;
  const place = { dataSourceId, itemId: `ki_of_keys_${made}`, generation: 1, config: 'simple' };
  const rest = {
    ordinal: 0,
    headingPath: '',
    gapBefore: '',
    tokenCount: 1,
    contentHash: '',
    page: null,
    lineStart: null,
    lineEnd: null,
  };
  const chunk = { ...rest, text: searchText, searchText, charStart: 0, charEnd: searchText.length };
  await db.transaction((tx) => chunks.add(tx, place, [chunk]));
}

interface Key {
  readonly key: number;
  /** The key that the last release computes. */
  readonly hashed: number;
  readonly df: number;
}

async function keysOf(dataSourceId: string): Promise<Readonly<Record<string, Key>>> {
  const { rows } = await db.pool.query<Key & { term: string }>(
    `select term, key, (hashtextextended(data_source_id || ' ' || config || ' ' || term, 0) & 2147483647)::int as hashed, df
     from lexeme_frequencies where data_source_id = $1`,
    [dataSourceId],
  );
  return Object.fromEntries(rows.map(({ term, ...key }) => [term, key]));
}

/** In how many chunks the index has a word, by the key that a search finds for it. */
async function chunksWith(dataSourceId: string, word: string): Promise<number> {
  const { terms } = await chunks.findTerms([dataSourceId], word);
  const { rows } = await db.pool.query<{ n: number }>(
    'select count(*)::int as n from chunks where data_source_id = $1 and term_keys @> $2',
    [dataSourceId, [terms[0]?.key]],
  );
  expect(terms[0]?.df).toBe(rows[0]?.n);
  return rows[0]?.n ?? 0;
}

it('words of a new source get numbers side by side', async () => {
  const id = newSource();
  await add(id, 'lantern meadow orchard pigeon quarry');
  await add(id, 'pigeon quarry river');
  const keys = Object.values(await keysOf(id)).map(({ key }) => key);
  expect(keys).toHaveLength(6);
  expect(Math.max(...keys)).toBeLessThan(-1);
  expect(Math.max(...keys) - Math.min(...keys)).toBe(5);
  expect([await chunksWith(id, 'quarry'), await chunksWith(id, 'river')]).toEqual([2, 1]);
});

it('while instances of the last release may run, new words get the keys that those compute, and keep them', async () => {
  const id = newSource();
  await numberFrom(`now() + interval '1 hour'`);
  await add(id, 'river stone timber');
  const before = await keysOf(id);
  for (const { key, hashed } of Object.values(before)) expect(key).toBe(hashed);
  await numberFrom(past);
  await add(id, 'river stone velvet');
  const after = await keysOf(id);
  expect(after.river).toEqual({ ...before.river, df: 2 });
  expect(after.velvet?.key).toBeLessThan(-1);
  expect([await chunksWith(id, 'river'), await chunksWith(id, 'timber'), await chunksWith(id, 'velvet')]).toEqual([2, 1, 1]);
});

it('two words whose hashes are equal are counted as one', async () => {
  const id = newSource();
  await numberFrom(`now() + interval '1 hour'`);
  // No real pair is known: "walnut" gets the key that "zephyr" will have.
  await add(id, 'walnut');
  const key = `(hashtextextended($1 || ' simple zephyr', 0) & 2147483647)::int`;
  await db.pool.query(`update lexeme_frequencies set key = ${key} where data_source_id = $1`, [id]);
  await db.pool.query(`update chunks set term_keys = array[${key}] where data_source_id = $1`, [id]);
  await add(id, 'zephyr yonder');
  const keys = await keysOf(id);
  expect(Object.keys(keys).toSorted()).toEqual(['walnut', 'yonder']);
  expect(keys.walnut?.df).toBe(2);
  expect(await chunksWith(id, 'walnut')).toBe(2);
});

it('an instance of the last release that numbers a word by its hash meanwhile hides nothing of the more frequent key', async () => {
  const id = newSource();
  await add(id, 'ember');
  await add(id, 'ember');
  await db.pool.query(
    `insert into lexeme_frequencies (data_source_id, key, config, term, df)
     values ($1, (hashtextextended($1 || ' simple ember', 0) & 2147483647)::int, 'simple', 'ember', 1)`,
    [id],
  );
  expect(await chunksWith(id, 'ember')).toBe(2);
});

it('finds a document before and after its entries leave the list of the index, which is empty once all is indexed', async () => {
  const ann = await make.person();
  const agent = await make.agent({ owner: ann });
  const source = await indexed(ann, (await addFile(ann, agent.id, 'herbs.txt', 'acorn basil clover')).body.id);
  const find = async () => (await searchOf(service, ann, [source.id], 'basil')).passages.map(({ text }) => text);
  expect(await find()).toEqual(['acorn basil clover']);
  await chunks.settleIndex(true);
  const { rows } = await db.pool.query(`select gin_clean_pending_list('chunks_term_keys_idx')::int as pages`);
  expect(rows[0].pages).toBe(0);
  expect(await find()).toEqual(['acorn basil clover']);
});
