import type { Charge } from '../../plan/plan.ts';
import type { ContextText } from './question-terms.ts';

/** A question as it is searched. */
export interface AskedQuestion {
  readonly text: string;
  /** What was said before that the question is about; `[]` for a question that stands alone. */
  readonly context: readonly ContextText[];
  /** Who pays for the vector of the question. */
  readonly charge: Charge;
}
