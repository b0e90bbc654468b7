/** The tokens of model calls. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Input that providers read from their caches. */
  readonly cachedTokens: number;
  /** Input that they wrote to their caches; absent: none, or a run of a version that did not count it. */
  readonly cacheWriteTokens?: number;
  readonly reasoningTokens: number;
  /** Whether the service estimated any of them, because a model was cut off or its provider counted nothing. */
  readonly isEstimated?: true;
}

/** The member of a usage for tokens written to a cache; nothing where there are none. */
export function writeCacheWrites(tokens: number | null | undefined): Pick<Usage, 'cacheWriteTokens'> {
  return typeof tokens === 'number' && tokens > 0 ? { cacheWriteTokens: tokens } : {};
}
