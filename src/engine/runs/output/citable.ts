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
  constructor(knownPassages: readonly Passage[], isCiting: boolean, output: RunOutput, isLogged: boolean) {
    this.#isCiting = isCiting;
    this.#output = output;
    this.#isLogged = isLogged;
    for (const passage of knownPassages) this.#add(passage);
    if (knownPassages.length > 0) this.watch();
  }

  /** @returns the numbers of the passages, in their order. */
  cite(passages: readonly Passage[]): readonly number[] {
    const before = this.#passages.length;
    const numbers = passages.map((passage) => this.#add(passage));
    const fresh = this.#passages.slice(before);
    if (this.#isLogged && fresh.length > 0) {
      // A citation shows the beginning only.
      const keptPassages = fresh.map((passage) => ({ ...passage, text: cutText(passage.text, snippetLength) }));
      this.#output.emit({ type: 'parley.cited', passages: keptPassages });
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
    const key = makeKey(passage.chunkId, passage.fileId);
    const knownNumber = this.#numbers.get(key);
    const number = knownNumber ?? this.#passages.length + 1;
    this.#passages[number - 1] = passage;
    this.#numbers.set(key, number);
    return number;
  }
}

/** A text of an earlier part of a run with the numbers of the run. @param cited  the passages of the run, in the order of their numbers. */
export function asWrittenText(text: string, citations: readonly Citation[], citedPassages: readonly Passage[]): string {
  const numbers = new Map(citedPassages.map(({ chunkId, fileId }, index) => [makeKey(chunkId, fileId), index + 1]));
  return withRunNumbers(text, citations, numbers);
}

function withRunNumbers(text: string, citations: readonly Citation[], numbers: ReadonlyMap<string, number>): string {
  const sortedCitations = [...citations].sort((one, other) => one.answerStart - other.answerStart);
  return sortedCitations.reduceRight((restText, { id, fileId, index, answerStart, answerEnd }) => {
    const number = numbers.get(makeKey(id, fileId));
    if (number === undefined || restText.slice(answerStart, answerEnd) !== `[${index}]`) return restText;
    return `${restText.slice(0, answerStart)}[${number}]${restText.slice(answerEnd)}`;
  }, text);
}

function makeKey(chunkId: string, fileId: string | undefined): string {
  return fileId === undefined ? chunkId : `${chunkId} ${fileId}`;
}
