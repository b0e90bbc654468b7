import type { Database } from '../../ground/database.ts';
import type { ScoredId } from '../passages/chunk-ranking.ts';
import { Nearest, type NearestPlan } from './nearest.ts';
import { Pending } from './pending.ts';
import { Spaces } from './spaces.ts';

/** The vectors of passages. Only where `db.vectors` is ready. */
export class EmbeddingStore extends Pending {
  readonly spaces: Spaces;
  readonly #nearest: Nearest;

  constructor(db: Database) {
    super(db);
    this.spaces = new Spaces(db);
    this.#nearest = new Nearest(db);
  }

  /** As Nearest. */
  nearest(plan: NearestPlan): Promise<readonly ScoredId[]> {
    return this.#nearest.nearest(plan);
  }
}
