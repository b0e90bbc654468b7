import type { RetainedKind } from '../../../entities/operations/data-life/retention.ts';
import type { SweepPlace } from '../../../storage/operations/data-life/sweeps.ts';
import type { Deps } from '../../deps.ts';
import { defaultDays } from './retention.ts';

const dayMs = 86_400_000;
const organizationsAtOnce = 500;

/** What tells how long organizations keep data. */
export interface RetentionDeps {
  readonly storage: { readonly operations: Pick<Deps['storage']['operations'], 'retention'> };
}

/** The numbers of deleted rows, batch by batch. */
export async function* inBatches<Place extends SweepPlace>(
  signal: AbortSignal,
  sweep: (after: Place | undefined) => Promise<{ readonly count: number; readonly next: Place | undefined }>,
  from?: Place,
): AsyncGenerator<number> {
  let after = from;
  while (!signal.aborted) {
    const { count, next } = await sweep(after);
    yield count;
    if (next === undefined) return;
    after = next;
  }
}

/** Organizations with days of their own. */
export async function* ownDays({ storage }: RetentionDeps, kind: RetainedKind, signal: AbortSignal) {
  let after = '';
  while (!signal.aborted) {
    const organizationDays = await storage.operations.retention.listOwn(kind, after, organizationsAtOnce);
    yield* organizationDays;
    after = organizationDays.at(-1)?.orgId ?? '';
    if (organizationDays.length < organizationsAtOnce) return;
  }
}

/** The same, and all others where the installation deletes this kind. */
export async function* allDays(deps: Deps, kind: RetainedKind, signal: AbortSignal) {
  yield* ownDays(deps, kind, signal);
  const days = defaultDays(deps.settings, kind);
  let after = '';
  while (days !== undefined && !signal.aborted) {
    const organizationIds = await deps.storage.operations.retention.listOthers(kind, after, organizationsAtOnce);
    for (const orgId of organizationIds) yield { orgId, days };
    after = organizationIds.at(-1) ?? '';
    if (organizationIds.length < organizationsAtOnce) return;
  }
}

export function daysAgo({ now }: Pick<Deps, 'now'>, days: number): Date {
  return new Date(now().getTime() - days * dayMs);
}
