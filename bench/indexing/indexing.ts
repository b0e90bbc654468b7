import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { createExtractor } from '../../src/engine/knowledge/extract/extract.ts';
import { indexChunks } from '../../src/engine/knowledge/index/index-chunks.ts';
import { textSearchConfig } from '../../src/engine/knowledge/index/language.ts';
import type { NewChunk } from '../../src/storage/knowledge/passages/chunks.ts';
import { seededRandom } from '../../test/support/property/random.ts';
import type { Row } from '../completions/completions.ts';
import { passageText } from '../retrieval.ts';
import { type KnowledgeBase, openKnowledgeBase } from '../support/knowledge-base.ts';

const documents = 48;
/** About 300 kB of Markdown each. */
const sectionsPerDocument = 170;
const chunksAtOnce = 500;
const limits = { timeoutMs: 30_000, memoryMaxBytes: 300 * 1024 * 1024, textMaxChars: 20_000_000 };

/**
 * Measures indexing Markdown (read in the reader process, cut, and stored with its index) against the unavoidable work, alone and in one process:
 * read the file, cut at blank lines, count tokens with an encoder, and insert the rows in bulk into a table with a text-search column and its index.
 * Document by document, in turns, after one round of warm-up.
 */
export async function benchIndexing(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-indexing-'));
  const base = await openKnowledgeBase();
  const extractor = createExtractor();
  try {
    await base.db.pool.query(plainTableSql);
    const random = seededRandom(11);
    const times = { raw: 0, ours: 0, rawCut: 0, oursCut: 0 };
    let chars = 0;
    const residentMB: number[] = [];
    for (let index = -2; index < documents; index += 1) {
      const path = join(folder, `${index}.md`);
      const text = documentText(random);
      await writeFile(path, text);
      const raw = await timed(async () => await plainCut(path));
      const rawStore = await timed(() => plainStore(base, raw.result));
      const ours = await timed(async () => {
        const document = await extractor.extract({ path, filename: path, mimeType: '' }, limits, AbortSignal.timeout(60_000));
        return { config: textSearchConfig(document.text), chunks: [...indexChunks(document, path)] };
      });
      const oursStore = await timed(() => store(base, `ki_${index}`, ours.result));
      if (index < 0) continue;
      residentMB.push(process.memoryUsage.rss() / 1024 / 1024);
      chars += text.length;
      times.rawCut += raw.ms;
      times.oursCut += ours.ms;
      times.raw += raw.ms + rawStore.ms;
      times.ours += ours.ms + oursStore.ms;
    }
    const rate = (ms: number) => chars / 1e6 / (ms / 1000);
    const quarter = documents / 4;
    const most = (from: number) => Math.max(...residentMB.slice(from, from + quarter));
    return [
      {
        name: 'indexing text',
        raw: rate(times.raw),
        ours: rate(times.ours),
        unit: 'MB/s',
        floor: { ratioMin: 0.5 },
      },
      {
        name: 'indexing text: read, cut and count only',
        raw: rate(times.rawCut),
        ours: rate(times.oursCut),
        unit: 'MB/s',
        floor: { ratioMin: 0.5 },
      },
      // Heaps grow to their working size and shrink at each collection: the peaks must not grow.
      {
        name: 'indexing text: peak memory, last quarter : second quarter',
        raw: most(quarter),
        ours: most(documents - quarter),
        unit: 'MB',
        floor: { ratioMax: 1.15 },
      },
    ];
  } finally {
    await extractor.close();
    await base.close();
    await rm(folder, { recursive: true, force: true });
  }
}

interface PlainRow {
  readonly text: string;
  readonly tokens: number;
}

async function plainCut(path: string): Promise<PlainRow[]> {
  const text = await readFile(path, 'utf8');
  return text.split(/\n\n+(?=#)/).map((part) => ({ text: part, tokens: countTokens(part) }));
}

async function plainStore({ db }: KnowledgeBase, rows: readonly PlainRow[]): Promise<void> {
  await db.transaction(async (client) => {
    for (let from = 0; from < rows.length; from += chunksAtOnce) {
      await client.query(plainInsertSql, [JSON.stringify(rows.slice(from, from + chunksAtOnce))]);
    }
  });
}

async function store(
  base: KnowledgeBase,
  id: string,
  { config, chunks }: { config: string; chunks: readonly NewChunk[] },
): Promise<void> {
  await base.addItem(id, config, chunks);
}

const plainTableSql = `
CREATE TABLE plain_rows (id bigserial PRIMARY KEY, text text NOT NULL, tokens int NOT NULL, lexemes tsvector NOT NULL);
CREATE INDEX ON plain_rows USING gin (lexemes)`;
const plainInsertSql = `
INSERT INTO plain_rows (text, tokens, lexemes)
SELECT "text", "tokens", to_tsvector('english', "text") FROM jsonb_to_recordset($1::jsonb) AS row("text" text, "tokens" int)`;

async function timed<T>(work: () => Promise<T>): Promise<{ readonly ms: number; readonly result: T }> {
  const start = performance.now();
  const result = await work();
  return { ms: performance.now() - start, result };
}

/** Sections of a heading and about 220 words in sentences, three paragraphs each. */
function documentText(random: () => number): string {
  const sections = Array.from({ length: sectionsPerDocument }, (_, index) => {
    const words = passageText(random).split(' ');
    const sentences: string[] = [];
    for (let from = 0; from < words.length; from += 12) sentences.push(`${words.slice(from, from + 12).join(' ')}.`);
    const paragraphs = [sentences.slice(0, 6), sentences.slice(6, 12), sentences.slice(12)].map((part) => part.join(' '));
    return `## Section ${index}\n\n${paragraphs.join('\n\n')}`;
  });
  return `# Measured document\n\n${sections.join('\n\n')}\n`;
}

if (import.meta.main) {
  for (const { name, raw, ours, unit, note } of await benchIndexing()) {
    console.log(
      [
        name,
        `raw ${raw.toFixed(2)} ${unit}`,
        `parley ${ours.toFixed(2)} ${unit}`,
        `ratio ${(ours / raw).toFixed(2)}`,
        note ?? '',
      ].join('\t'),
    );
  }
}
