import type { CacheLife } from '../../engine/models/port.ts';

/** Where a content part says that the prompt is to be cached up to it. No JSON of a caller has such a member. */
export const cacheMember = Symbol('cache');

export interface MarkedPart {
  readonly [cacheMember]?: CacheLife;
}
