/** A message of the conversation before a question. */
export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly text: string;
}

export const rewriteModes = ['none', 'context', 'model'] as const;
/** `none`: searched as it was asked; `context`: with words of what was said before; `model`: as a model wrote it out. */
export type RewriteMode = (typeof rewriteModes)[number];

/** A question as it was searched. */
export interface SearchedQuestion {
  readonly text: string;
  readonly rewrite: RewriteMode;
  /** What was said before and was searched too, the most important first. */
  readonly context: readonly string[];
}
