import type { RunItem } from '../../../entities/conversations/runs/event.ts';
import type { Citation, Passage } from '../../../entities/knowledge/citation.ts';
import { cutText } from '../../../lib/text/text.ts';
import { CitationMarkers, snippetLength } from './markers.ts';
import type { RunOutput } from './output.ts';

/**
 * The passages that an answer may cite, by their numbers in the run: the model reads a passage with its number, and writes the number behind what
 * rests on it. A passage has one number for the whole run, however often and by whichever tool it is found, also in a process that takes the run
 * over and after a pause: new passages are told to the log.
 */
export class CitablePassages {
  readonly #passages: Passage[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #isCiting: boolean;
  readonly #output: RunOutput;
  readonly #isLogged: boolean;

  /**
   * @param known     of the same run, by an earlier process.
   * @param isLogged  whether a process may go on with the run: new passages become events.
   */
  constructor(known: readonly Passage[], isCiting: boolean, output: RunOutput, isLogged: boolean) {
    this.#isCiting = isCiting;
    this.#output = output;
    this.#isLogged = isLogged;
    for (const passage of known) this.#add(passage);
    if (known.length > 0) this.watch();
  }

  /** @returns the numbers of the passages, in their order. */
  cite(passages: readonly Passage[]): readonly number[] {
    const before = this.#passages.length;
    const numbers = passages.map((passage) => this.#add(passage));
    const fresh = this.#passages.slice(before);
    if (this.#isLogged && fresh.length > 0) {
      // A citation shows the beginning only.
      const kept = fresh.map((passage) => ({ ...passage, text: cutText(passage.text, snippetLength) }));
      this.#output.emit({ type: 'parley.cited', passages: kept });
    }
    if (this.#passages.length > 0) this.watch();
    return numbers;
  }

  /** The items with the numbers of the run in their texts, as the model wrote them: readers get numbers that begin with 1 in each message. */
  asWritten(items: readonly RunItem[]): readonly RunItem[] {
    if (this.#passages.length === 0) return items;
    return items.map((item) =>
      item.type === 'message' && item.citations.length > 0
        ? { ...item, text: withRunNumbers(item.text, item.citations, this.#numbers) }
        : item,
    );
  }

  /** From now on, messages are searched for the numbers of passages. */
  watch(): void {
    this.#output.watchMarkers(() => new CitationMarkers(this.#passages, this.#isCiting));
  }

  /** A passage that is found again replaces what is known of it: its link is newer. */
  #add(passage: Passage): number {
    const key = keyOf(passage.chunkId, passage.fileId);
    const known = this.#numbers.get(key);
    const number = known ?? this.#passages.length + 1;
    this.#passages[number - 1] = passage;
    this.#numbers.set(key, number);
    return number;
  }
}

/** A text of an earlier part of a run with the numbers of the run. @param cited  the passages of the run, in the order of their numbers. */
export function asWrittenText(text: string, citations: readonly Citation[], cited: readonly Passage[]): string {
  const numbers = new Map(cited.map(({ chunkId, fileId }, index) => [keyOf(chunkId, fileId), index + 1]));
  return withRunNumbers(text, citations, numbers);
}

function withRunNumbers(text: string, citations: readonly Citation[], numbers: ReadonlyMap<string, number>): string {
  const sorted = [...citations].sort((one, other) => one.answerStart - other.answerStart);
  return sorted.reduceRight((left, { id, fileId, index, answerStart, answerEnd }) => {
    const number = numbers.get(keyOf(id, fileId));
    if (number === undefined || left.slice(answerStart, answerEnd) !== `[${index}]`) return left;
    return `${left.slice(0, answerStart)}[${number}]${left.slice(answerEnd)}`;
  }, text);
}

function keyOf(chunkId: string, fileId: string | undefined): string {
  return fileId === undefined ? chunkId : `${chunkId} ${fileId}`;
}
