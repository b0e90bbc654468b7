/** A message of the conversation before a question. */
export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly text: string;
}

export const rewriteModes = ['none', 'context', 'model'] as const;
/** `none`: searched as it was asked; `context`: with words of what was said before; `model`: as a model wrote it out. */
export type RewriteMode = (typeof rewriteModes)[number];

/** Why a word was searched: it is in the question, is spelled like a word of it, or was said before. */
export const wordOrigins = ['question', 'spelling', 'context'] as const;
export type WordOrigin = (typeof wordOrigins)[number];

/** A word that a passage was found by. */
export interface MatchedWord {
  readonly word: string;
  readonly origin: WordOrigin;
  /** How much the word counts in the question: more for a rare one. */
  readonly weight: number;
  /** What it adds to the passage's lexical score. */
  readonly score: number;
}

/** A question as it was searched. */
export interface SearchedQuestion {
  readonly text: string;
  readonly rewrite: RewriteMode;
  /** What was said before and was searched too, the most important first. */
  readonly context: readonly string[];
}
