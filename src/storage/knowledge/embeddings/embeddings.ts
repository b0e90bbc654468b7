import type { Database } from '../../ground/database.ts';
import { createNearest, type Nearest } from './nearest.ts';
import { createPending, type Pending } from './pending.ts';
import { createSpaces, type Spaces } from './spaces.ts';

/** The vectors of passages. Only where `db.vectors` is ready. */
export interface EmbeddingStore extends Spaces, Pending, Nearest {}

/** @returns undefined where the database keeps no vectors. */
export function createEmbeddingStore(db: Database): EmbeddingStore | undefined {
  if (db.vectors.kind !== 'ready') return undefined;
  return { ...createSpaces(db), ...createPending(db), ...createNearest(db) };
}
