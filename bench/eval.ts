import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Embeddings } from '../src/engine/knowledge/embeddings/embeddings.ts';
import { DocumentWriter } from '../src/engine/knowledge/extract/document-writer.ts';
import { plainBlocks } from '../src/engine/knowledge/extract/markdown-blocks.ts';
import { indexChunks } from '../src/engine/knowledge/index/index-chunks.ts';
import { textSearchConfig } from '../src/engine/knowledge/index/language.ts';
import { collectContext } from '../src/engine/knowledge/search/follow-up.ts';
import { choosePassages } from '../src/engine/knowledge/search/passages.ts';
import type { ContextText } from '../src/engine/knowledge/search/question-terms.ts';
import { rankAll } from '../src/engine/knowledge/search/search.ts';
import { rankChunks } from '../src/engine/knowledge/search/words.ts';
import type { Turn } from '../src/entities/knowledge/searched-question.ts';
import { type KnowledgeBase, nobody, openKnowledgeBase } from './support/knowledge-base.ts';
import { standIn } from './support/stand-in-model.ts';

export interface EvaluationFigures extends Quality {
  readonly documents: number;
  readonly queries: number;
  /** With vectors of the stand-in; absent without `--hybrid`. */
  readonly hybrid?: Quality;
}
export interface Quality {
  readonly ndcgAt10: number;
  readonly recallAt100: number;
  /** Questions with a relevant document among the first five, of all. */
  readonly hitAt5: number;
}
export interface EvaluationOptions {
  /** Whether what was said before a question is searched too, as runs do it. Default: true. */
  readonly usesEarlierTurns?: boolean;
  /** Whether to measure with vectors of the stand-in too. Default: false. */
  readonly isHybrid?: boolean;
}

interface CollectionDocument {
  readonly _id: string;
  readonly title?: string;
  readonly text: string;
}
interface CollectionQuery {
  readonly _id: string;
  readonly text: string;
  /** Of a question in a chat: what was said before, oldest first. */
  readonly earlier?: readonly Turn[];
}
/** Query id → document id → grade. */
type Judgements = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** A document ranks once, by its best passage; so more passages are read than documents are wanted. */
const passagesRead = 300;
const depth = 100;
const answerLimits = { passagesMax: 8, tokensMax: Number.POSITIVE_INFINITY };

/**
 * Measures retrieval on a test collection: a folder with corpus.jsonl ({_id,title,text}), queries.jsonl ({_id,text,earlier?}) and qrels.tsv (query-id,
 * corpus-id, score; one header line). Cutting, indexing and searching are those of the service.
 */
export async function evaluate(
  folder: string,
  { usesEarlierTurns = true, isHybrid = false }: EvaluationOptions = {},
): Promise<EvaluationFigures> {
  const corpus = readLines(join(folder, 'corpus.jsonl')).map((line) => JSON.parse(line) as CollectionDocument);
  const queries = readLines(join(folder, 'queries.jsonl')).map((line) => JSON.parse(line) as CollectionQuery);
  const judgements = readJudgements(join(folder, 'qrels.tsv'));
  const base = await openKnowledgeBase(isHybrid);
  try {
    for (const document of corpus) await addDocument(base, document);
    await base.chunks.refreshStatistics();
    const judged = queries.filter(({ _id }) => judgements.has(_id));
    const measure = async (embeddings: Embeddings | undefined): Promise<Quality> => {
      let ndcg = 0;
      let recall = 0;
      let hits = 0;
      for (const { _id, text, earlier = [] } of judged) {
        const relevant = judgements.get(_id) ?? new Map<string, number>();
        const found = await rankDocuments(base, text, usesEarlierTurns ? collectContext(text, earlier) : [], embeddings);
        if (found.slice(0, 5).some((id) => (relevant.get(id) ?? 0) > 0)) hits += 1;
        ndcg += normalisedGain(found.slice(0, 10), relevant);
        recall +=
          found.filter((id) => (relevant.get(id) ?? 0) > 0).length / [...relevant.values()].filter((grade) => grade > 0).length;
      }
      return { ndcgAt10: ndcg / judged.length, recallAt100: recall / judged.length, hitAt5: hits / judged.length };
    };
    const figures = { documents: corpus.length, queries: judged.length, ...(await measure(undefined)) };
    return isHybrid ? { ...figures, hybrid: await measure(await base.embed()) } : figures;
  } finally {
    await base.close();
  }
}

async function addDocument(base: KnowledgeBase, { _id, title = '', text }: CollectionDocument): Promise<void> {
  if (`${title}${text}`.trim() === '') return;
  const writer = new DocumentWriter(10_000_000);
  writer.title = title;
  writer.text(text.trim() === '' ? title : text, plainBlocks);
  const document = writer.finish('text/plain');
  await base.addItem(_id, textSearchConfig(`${title} ${document.text}`), [...indexChunks(document, '')]);
}

async function rankDocuments(
  base: KnowledgeBase,
  text: string,
  context: readonly ContextText[],
  embeddings: Embeddings | undefined,
): Promise<readonly string[]> {
  const signal = AbortSignal.timeout(600_000);
  const searching = { ranking: base.chunks, embeddings, reranker: undefined };
  const question = { text, context, charge: nobody };
  const chunks =
    embeddings === undefined
      ? await rankChunks(base.chunks, base.allowed, text, passagesRead, context)
      : (await rankAll(searching, base.allowed, question, passagesRead, signal)).chunks;
  // The first places are those of an answer, of which each way of searching keeps some.
  const answer = embeddings === undefined ? [] : choosePassages(chunks, answerLimits, () => '');
  return [...new Set([...answer, ...chunks].map(({ title }) => title))].slice(0, depth);
}

function normalisedGain(found: readonly string[], relevant: ReadonlyMap<string, number>): number {
  const gain = (grades: readonly number[]) => grades.reduce((sum, grade, index) => sum + grade / Math.log2(index + 2), 0);
  const ideal = [...relevant.values()].sort((a, b) => b - a).slice(0, 10);
  return gain(found.map((id) => relevant.get(id) ?? 0)) / gain(ideal);
}

function readJudgements(path: string): Judgements {
  const judgements = new Map<string, Map<string, number>>();
  for (const line of readLines(path).slice(1)) {
    const [query = '', document = '', grade = '0'] = line.split('\t');
    const ofQuery = judgements.get(query) ?? new Map<string, number>();
    judgements.set(query, ofQuery.set(document, Number(grade)));
  }
  for (const [query, grades] of judgements) if (![...grades.values()].some((grade) => grade > 0)) judgements.delete(query);
  return judgements;
}

function readLines(path: string): string[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '');
}

function write({ ndcgAt10, hitAt5, recallAt100 }: Quality): string {
  return `nDCG@10 ${ndcgAt10.toFixed(4)}, hit@5 ${hitAt5.toFixed(4)}, recall@100 ${recallAt100.toFixed(4)}`;
}

if (import.meta.main) {
  const isHybrid = process.argv.includes('--hybrid');
  const isJson = process.argv.includes('--json');
  const folders = process.argv.slice(2).filter((word) => word !== '--hybrid' && word !== '--json');
  if (folders.length === 0)
    throw new Error('name a folder with corpus.jsonl, queries.jsonl and qrels.tsv: npm run eval -- <folder>');
  for (const folder of folders) {
    const isChat = readFileSync(join(folder, 'queries.jsonl'), 'utf8').includes('"earlier"');
    for (const usesEarlierTurns of isChat ? [false, true] : [true]) {
      const { documents, queries, hybrid, ...words } = await evaluate(folder, { usesEarlierTurns, isHybrid });
      if (isJson) {
        const turns = isChat ? (usesEarlierTurns ? ', with earlier turns' : ', without earlier turns') : '';
        console.log(JSON.stringify({ folder, documents, queries, how: `words${turns}`, ...words }));
        if (hybrid !== undefined) console.log(JSON.stringify({ folder, documents, queries, how: `hybrid${turns}`, ...hybrid }));
        continue;
      }
      const how = isChat ? ` ${usesEarlierTurns ? 'with' : 'without'} earlier turns,` : '';
      console.log(`${folder}: ${documents} documents, ${queries} queries,${how} ${write(words)}`);
      if (hybrid !== undefined) console.log(`${folder}: hybrid with ${standIn.name},${how} ${write(hybrid)}`);
    }
  }
}
