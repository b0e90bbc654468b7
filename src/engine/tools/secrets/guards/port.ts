import type { MaskedKind } from '../../../../entities/agents/guard.ts';
import type { Automaton } from './automaton.ts';

/** A value in a text that a guard masks. */
export interface Finding {
  readonly start: number;
  readonly end: number;
  readonly kind: MaskedKind;
  /** What stands in its place, before its number. */
  readonly label: string;
}

/** How a stream knows what an engine may find. */
export type Reading =
  /** By the characters of ordinary words and numbers. */
  | { readonly type: 'ordinary'; readonly beginnings: readonly string[] }
  /** By an automaton. No value is longer. */
  | { readonly type: 'automaton'; readonly automaton: Automaton; readonly lengthMax: number };

/** Finds values in texts: by patterns, or values that a model has named. */
export interface GuardEngine {
  /**
   * In the order of the text; they may overlap. Linear in the length of the text.
   *
   * @param before  the character that stands before the text.
   */
  find(text: string, before: string): readonly Finding[];
  /**
   * Where a value may begin at the end of a text that goes on, at most `lengthMax` characters before its end; the length of the text: nowhere.
   */
  openAt(text: string): number;
  /** What streams may let pass without asking the engine. Undefined: it must see all. */
  readonly reading: Reading | undefined;
}
