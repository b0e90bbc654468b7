import type { MaskedKind } from '../../../../entities/agents/guard.ts';

/** A value in a text that a guard masks. */
export interface Finding {
  readonly start: number;
  readonly end: number;
  readonly kind: MaskedKind;
  /** What stands in its place, before its number. */
  readonly label: string;
}

/** Finds values in texts: by patterns, or values that a model has named. */
export interface GuardEngine {
  /** In the order of the text; they may overlap. Linear in the length of the text. */
  find(text: string): readonly Finding[];
  /**
   * Where a value may begin at the end of a text that goes on, at most `lengthMax` characters before its end; the length of the text: nowhere.
   */
  openAt(text: string): number;
}
