import { sentencesOf } from './sentences.ts';
import { termsOf } from './terms.ts';

/** A text that answers may quote from. */
export interface Quotable {
  /** The `n` of its marker; null for the conversation itself. */
  readonly citation: number | null;
  readonly title: string;
  readonly text: string;
}

export interface Quote {
  readonly source: Quotable;
  readonly text: string;
}

interface Candidate extends Quote {
  readonly sourceIndex: number;
  readonly position: number;
  readonly terms: ReadonlySet<string>;
  readonly context: ReadonlySet<string>;
}

const quotesMax = 3;
/** A sentence must contain this share of the question's weight; words of its headings count in part. */
const coverageMin = 0.34;
const contextWeight = 0.5;
/** More than yes or no is asked. */
const openQuestion = /\b(how|what|which|where|when|who|whom|whose|why)\b/i;

/**
 * The sentences that answer a question best, best source first; `[]` when none is good enough. Rare words count more; a further
 * sentence counts only for words that the chosen ones lack.
 */
export function quotesFor(question: string, sources: readonly Quotable[]): readonly Quote[] {
  const wanted = [...new Set(termsOf(question))];
  const candidates = candidatesOf(sources);
  if (wanted.length === 0 || candidates.length === 0) return [];
  const weights = weigh(wanted, candidates);
  const total = sum(wanted.map((term) => weights.get(term) ?? 0));
  const averageLength = sum(candidates.map((candidate) => candidate.terms.size)) / candidates.length;
  const chosen: Candidate[] = [];
  const said = new Set<string>();
  let best = 0;
  while (chosen.length < quotesMax) {
    let next: { candidate: Candidate; score: number } | undefined;
    for (const candidate of candidates) {
      if (chosen.some((other) => other.text === candidate.text)) continue;
      const matched = sum(wanted.map((term) => matchOf(candidate, term) * (weights.get(term) ?? 0)));
      if (matched < coverageMin * total || !wanted.some((term) => candidate.terms.has(term))) continue;
      const fresh = sum(wanted.map((term) => matchOf(candidate, term) * (weights.get(term) ?? 0) * (said.has(term) ? 0.6 : 1)));
      const length = 0.75 + (0.25 * candidate.terms.size) / averageLength;
      const score = fresh / length / (1 + candidate.sourceIndex * 0.03);
      if (next === undefined || score > next.score) next = { candidate, score };
    }
    if (next === undefined || next.score < best * 0.62) break;
    best = Math.max(best, next.score);
    chosen.push(next.candidate);
    for (const term of next.candidate.terms) said.add(term);
  }
  return withNeighbours(chosen, candidates, new Set(openQuestion.test(question) ? wanted : [])).sort(bySource(chosen));
}

/** The central sentences of a text, for questions that bring their own text. */
export function gistOf(source: Quotable, count: number): readonly Quote[] {
  const candidates = candidatesOf([source]);
  const frequencies = new Map<string, number>();
  for (const candidate of candidates) for (const term of candidate.terms) frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
  const weigh = (candidate: Candidate) =>
    sum([...candidate.terms].map((term) => (frequencies.get(term) ?? 1) - 1)) / Math.sqrt(candidate.terms.size + 3);
  return [...candidates]
    .sort((one, other) => weigh(other) - weigh(one) || one.position - other.position)
    .slice(0, count)
    .sort((one, other) => one.position - other.position);
}

function candidatesOf(sources: readonly Quotable[]): Candidate[] {
  return sources.flatMap((source, sourceIndex) =>
    sentencesOf(source.text).map(({ text, context, position }) => ({
      source,
      sourceIndex,
      position,
      text,
      terms: new Set(termsOf(text)),
      context: new Set(termsOf(`${source.title} ${context}`)),
    })),
  );
}

function weigh(wanted: readonly string[], candidates: readonly Candidate[]): Map<string, number> {
  return new Map(
    wanted.map((term) => {
      const found = candidates.filter((candidate) => candidate.terms.has(term)).length;
      return [term, Math.log(1 + (candidates.length - found + 0.5) / (found + 0.5)) + 0.2] as const;
    }),
  );
}

function matchOf(candidate: Candidate, term: string): number {
  return candidate.terms.has(term) ? 1 : candidate.context.has(term) ? contextWeight : 0;
}

/**
 * Adds the sentence before one that refers back (`It …`), the sentences after one that opens a list (`…:`), and the one after a sentence that
 * only repeats the question.
 */
function withNeighbours(
  chosen: readonly Candidate[],
  candidates: readonly Candidate[],
  wanted: ReadonlySet<string>,
): Candidate[] {
  const all = new Set(chosen);
  const at = (origin: Candidate, offset: number) =>
    candidates.find((other) => other.sourceIndex === origin.sourceIndex && other.position === origin.position + offset);
  for (const candidate of chosen) {
    const before = /^(it|they|this|these|that|he|she)\b/i.test(candidate.text) ? at(candidate, -1) : undefined;
    if (before !== undefined) all.add(before);
    const behind = candidate.terms.size > 0 && candidate.terms.isSubsetOf(wanted) ? at(candidate, 1) : undefined;
    if (behind !== undefined) all.add(behind);
    if (!candidate.text.endsWith(':')) continue;
    for (let offset = 1; offset <= 4; offset += 1) {
      const after = at(candidate, offset);
      if (after !== undefined) all.add(after);
    }
  }
  return [...all];
}

function bySource(chosen: readonly Candidate[]) {
  const order = new Map<number, number>();
  for (const candidate of chosen) if (!order.has(candidate.sourceIndex)) order.set(candidate.sourceIndex, order.size);
  return (one: Candidate, other: Candidate) =>
    (order.get(one.sourceIndex) ?? 0) - (order.get(other.sourceIndex) ?? 0) || one.position - other.position;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
