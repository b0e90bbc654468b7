import type { Citation, Passage } from '../../../entities/knowledge/citation.ts';
import { cutText } from '../../../lib/text/text.ts';
import type { SubagentFinding } from '../agents/subagents.ts';
import type { ToolRun } from '../tool-kind.ts';

const titleLength = 200;

/** The sources of findings, as the answer of the run may cite them: each has one number in the run, however many findings name it. */
export class CitedFindings {
  readonly #run: Pick<ToolRun, 'cite'>;
  readonly #numbers = new Map<string, number>();

  constructor(run: Pick<ToolRun, 'cite'>) {
    this.#run = run;
  }

  /** The answer of a subagent with the run's numbers in its markers, and a line that says what they name. At most `lengthMax` characters. */
  textOf({ text, citations }: SubagentFinding, lengthMax: number): string {
    if (citations.length === 0) return cutText(text.trim(), lengthMax);
    const names = new Map<number, string>();
    const markedText = citations.reduceRight((partialText, citation) => {
      const number = this.#numberOf(citation);
      names.set(number, cutText(citation.name.replaceAll(/\s+/g, ' '), titleLength));
      return `${partialText.slice(0, citation.answerStart)}[${number}]${partialText.slice(citation.answerEnd)}`;
    }, text);
    const nameEntries = [...names].sort(([one], [other]) => one - other);
    const sources = `\nSources: ${nameEntries.map(([number, name]) => `[${number}] ${name}`).join('; ')}`;
    return cutText(cutText(markedText.trim(), Math.max(0, lengthMax - sources.length)) + sources, lengthMax);
  }

  #numberOf(citation: Citation): number {
    const key = JSON.stringify([citation.id, citation.url]);
    const existingNumber = this.#numbers.get(key);
    if (existingNumber !== undefined) return existingNumber;
    const number = this.#run.cite(toPassage(citation));
    this.#numbers.set(key, number);
    return number;
  }
}

/** The cited passage again. Its text is the snippet: no more of it is shown. */
function toPassage(citation: Citation): Passage {
  const {
    id: chunkId,
    name: title,
    type: itemType,
    snippet: text,
    index: _index,
    answerStart: _start,
    answerEnd: _end,
    ...same
  } = citation;
  return {
    ...same,
    chunkId,
    title,
    itemType,
    text,
    tokenCount: 0,
    scores: { lexical: null, vector: null, rerank: null },
    mayCite: true,
  };
}
