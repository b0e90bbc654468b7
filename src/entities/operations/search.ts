/** Kinds of things that one search finds. */
export const searchKinds = ['agent', 'chat', 'message', 'source'] as const;
export type SearchKind = (typeof searchKinds)[number];

/** A place in a text, in UTF-16 code units. */
export interface TextSpan {
  readonly start: number;
  readonly end: number;
}

/** A thing that a search found, and why. */
export interface FoundThing {
  readonly kind: SearchKind;
  readonly id: string;
  readonly title: string;
  readonly titleHighlights: readonly TextSpan[];
  /** Where it mentions the words, or how it begins; empty when it has no text. */
  readonly snippet: string;
  readonly highlights: readonly TextSpan[];
  /** The time of its last change. */
  readonly updatedAt: Date;
}
