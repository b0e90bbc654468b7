import { rankAll } from '../src/engine/knowledge/search/search.ts';
import { rankChunks } from '../src/engine/knowledge/search/words.ts';
import type { NewChunk } from '../src/storage/knowledge/passages/chunks.ts';
import { seededRandom } from '../test/support/property/random.ts';
import { type KnowledgeBase, nobody, openKnowledgeBase } from './support/knowledge-base.ts';
import { standIn, standInVector } from './support/stand-in-model.ts';

export interface RetrievalFigures {
  readonly chunks: number;
  readonly indexSeconds: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  /** Processor time of a search, including an embedded database: it varies less than elapsed time on a busy machine. */
  readonly cpuMs: number;
  /** Resident memory of this process after the searches less that before them. */
  readonly memoryGrowthMB: number;
  /** With vectors of the stand-in, without the call for the vector of the question; absent without `--hybrid`. */
  readonly hybrid?: {
    readonly embedSeconds: number;
    readonly dimensions: number;
    readonly p50Ms: number;
    readonly p95Ms: number;
    /** Processor time of a search, as above. */
    readonly cpuMs: number;
  };
}

const itemChunks = 300;
const questionCount = 200;

/**
 * Measures retrieval over `chunksMax` passages of about 220 words with the vocabulary of natural text, on the embedded database or that of
 * DATABASE_URL: a search asks for six to twelve words of one passage.
 */
export async function benchRetrieval(chunksMax = 90_000, isHybrid = false): Promise<RetrievalFigures> {
  const base = await openKnowledgeBase(isHybrid);
  try {
    const random = seededRandom(7);
    const startMs = performance.now();
    const questions: string[] = [];
    for (let from = 0; from < chunksMax; from += itemChunks) {
      const texts = Array.from({ length: Math.min(itemChunks, chunksMax - from) }, () => passageText(random));
      await base.addItem(`Document ${from / itemChunks}`, 'english', texts.map(chunkOf));
      if (questions.length < questionCount) questions.push(questionOf(texts[0] ?? '', random));
    }
    await base.chunks.refreshStatistics();
    const indexSeconds = (performance.now() - startMs) / 1000;
    for (const question of questions.slice(0, 50)) await rankChunks(base.chunks, base.allowed, question, 32);
    const memoryBefore = process.memoryUsage.rss();
    const times: number[] = [];
    const cpuBefore = process.cpuUsage();
    for (const question of [...questions, ...questions]) {
      const searchStart = performance.now();
      await rankChunks(base.chunks, base.allowed, question, 32);
      times.push(performance.now() - searchStart);
    }
    const cpu = process.cpuUsage(cpuBefore);
    times.sort((a, b) => a - b);
    const memoryGrowthMB = (process.memoryUsage.rss() - memoryBefore) / 1024 / 1024;
    const hybrid = isHybrid ? { hybrid: await benchHybrid(base, questions) } : {};
    return {
      ...hybrid,
      chunks: chunksMax,
      indexSeconds,
      p50Ms: times[Math.floor(times.length * 0.5)] ?? 0,
      p95Ms: times[Math.floor(times.length * 0.95)] ?? 0,
      cpuMs: (cpu.user + cpu.system) / 1000 / times.length,
      memoryGrowthMB,
    };
  } finally {
    await base.close();
  }
}

async function benchHybrid(base: KnowledgeBase, questions: readonly string[]): Promise<NonNullable<RetrievalFigures['hybrid']>> {
  const startMs = performance.now();
  const made = await base.embed();
  const embedSeconds = (performance.now() - startMs) / 1000;
  const vectors = new Map(questions.map((question) => [question, standInVector(question)]));
  const embeddings: typeof made = {
    ...made,
    embed: async (_charge, { request }) => ({ tokens: 0, vectors: [vectors.get(String([request.input].flat()[0])) ?? []] }),
  };
  const context = { ranking: base.chunks, embeddings, reranker: undefined };
  const times: number[] = [];
  const cpuBefore = process.cpuUsage();
  for (const question of questions) {
    const searchStart = performance.now();
    const asked = { text: question, context: [], charge: nobody };
    const { retrieval } = await rankAll(context, base.allowed, asked, 32, AbortSignal.timeout(60_000));
    times.push(performance.now() - searchStart);
    if (retrieval.mode !== 'hybrid') throw new Error(`searched by words alone: ${retrieval.reason}`);
  }
  const cpu = process.cpuUsage(cpuBefore);
  const cpuMs = (cpu.user + cpu.system) / 1000 / times.length;
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(times.length * share)] ?? 0;
  return { embedSeconds, dimensions: standIn.dimensions, p50Ms: at(0.5), p95Ms: at(0.95), cpuMs };
}

export function chunkOf(text: string, ordinal: number): NewChunk {
  return {
    ordinal,
    headingPath: '',
    text,
    gapBefore: '',
    searchText: text,
    tokenCount: 300,
    contentHash: `${ordinal}`,
    page: null,
    lineStart: null,
    lineEnd: null,
    charStart: 0,
    charEnd: text.length,
  };
}

const vocabulary = 60_000;

/** Words by Zipf's law, as in natural text: the n-th most frequent word is about every n-th word. */
export function passageText(random: () => number): string {
  return Array.from({ length: 220 }, () => wordOf(Math.floor(vocabulary ** random()))).join(' ');
}

const syllables = ['ba', 'ce', 'di', 'fo', 'gu', 'ha', 'ki', 'lo', 'mu', 'na', 'pe', 'ri', 'so', 'tu', 'va', 'we'];
function wordOf(rank: number): string {
  let rest = rank + 16;
  let word = '';
  while (rest > 0) {
    word += syllables[rest % 16] ?? '';
    rest = Math.floor(rest / 16);
  }
  return `${word}n`;
}

/** The vocabulary, most frequent first. */
export const passageWords: readonly string[] = Array.from({ length: vocabulary }, (_, rank) => wordOf(rank));

export function questionOf(text: string, random: () => number): string {
  const words = text.split(' ');
  return Array.from({ length: 6 + Math.floor(random() * 7) }, () => words[Math.floor(random() * words.length)]).join(' ');
}

if (import.meta.main) {
  const [chunks = '90000'] = process.argv.slice(2).filter((word) => word !== '--hybrid');
  console.log(await benchRetrieval(Number(chunks), process.argv.includes('--hybrid')));
}
