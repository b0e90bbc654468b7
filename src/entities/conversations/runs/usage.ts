/** The tokens of model calls. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
  readonly reasoningTokens: number;
  /** Whether the service estimated any of them, because a model was cut off or its provider counted nothing. */
  readonly isEstimated?: true;
}
