import { SourceError } from '../error.ts';

const words = {
  noindex: 'must not be indexed (noindex)',
  robots: 'must not be read (robots.txt)',
  excluded: 'are left out by excludeUrlGlobs',
  outside: 'lie outside the source (below its address, or includeUrlGlobs)',
  fileType: 'are neither web pages nor files of a chosen type',
} as const;
export type LeftOutCause = keyof typeof words;

/** Counts the addresses that a crawl found and that are no documents of the source, by cause. */
export class LeftOutCounts {
  readonly #counts = new Map<LeftOutCause, number>();

  add(cause: LeftOutCause, count: number): void {
    if (count > 0) this.#counts.set(cause, (this.#counts.get(cause) ?? 0) + count);
  }

  /** Why a source has no documents at all. */
  errorOf(url: string): SourceError {
    const causes = [...this.#counts.keys()];
    const parts = [...this.#counts].map(([cause, count]) => `${count} ${words[cause]}`);
    const foundSentence =
      parts.length === 0 ? 'No other address was found' : `Of the addresses that were found, ${parts.join(', ')}`;
    const code = causes.every((cause) => cause === 'noindex')
      ? 'NOINDEX'
      : causes.every((cause) => cause === 'robots')
        ? 'ROBOTS'
        : 'NOTHING_LEFT';
    return new SourceError(
      causes.length === 0 ? 'NOTHING_LEFT' : code,
      `Nothing of ${url} can be read. ${foundSentence}.`,
      undefined,
      true,
    );
  }
}
