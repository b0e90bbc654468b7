import type { LogKind } from '../../../storage/operations/data-life/log-months.ts';
import type { KeptPlace } from '../../../storage/operations/data-life/log-sweeps.ts';
import type { SweepPlace } from '../../../storage/operations/data-life/sweeps.ts';
import type { Deps } from '../../deps.ts';
import { daysAgo, inBatches, ownDays } from './batches.ts';
import { defaultDays } from './retention.ts';

/** A clock of another instance may be behind. */
const clocksDifferMs = 60_000;

export interface LogSweepDeps extends Pick<Deps, 'settings' | 'now'> {
  readonly storage: { readonly operations: Pick<Deps['storage']['operations'], 'logSweeps' | 'retention'> };
  readonly logger: Pick<Deps['logger'], 'info'>;
}

/**
 * Deletes what is old of the ledger and the audit log. Months that nobody keeps are dropped whole. Other rows are deleted one by one: of organizations that
 * keep them for a shorter time than others, and of small months.
 *
 * @param note  told of deleted rows; of a dropped month about how many it had.
 */
export async function sweepLogs(
  deps: LogSweepDeps,
  kind: LogKind,
  signal: AbortSignal,
  note: (kind: LogKind, count: number) => void,
): Promise<void> {
  const { logSweeps, retention } = deps.storage.operations;
  const days = defaultDays(deps.settings, kind);
  await dropMonths(deps, kind, days, signal, note);
  const own = await retention.longestOwn(kind);
  const longest = own.isOfAll ? own.days : Math.max(own.days, days ?? Number.POSITIVE_INFINITY);
  // Only those who keep entries the longest can wait for the end of a month.
  const longestEnd = Number.isFinite(longest) ? await logSweeps.endOfRows(kind, daysAgo(deps, longest)) : undefined;
  const findEnd = (periodDays: number) =>
    periodDays === longest && longestEnd !== undefined ? longestEnd : daysAgo(deps, periodDays);
  if (days !== undefined) {
    const rows = { orgId: undefined, before: findEnd(days) };
    const keptPlace = await logSweeps.findPlace(kind, deps.now());
    const startedAt = keptPlace?.startedAt ?? new Date(deps.now().getTime() - clocksDifferMs);
    const sweep = async (after: KeptPlace | undefined) => {
      const { count, next, last } = await logSweeps.deleteRows(kind, rows, after);
      if (last !== undefined) await logSweeps.keepPlace(kind, { ...last, startedAt });
      return { count, next: next === undefined ? undefined : { ...next, startedAt } };
    };
    for await (const count of inBatches(signal, sweep, keptPlace)) note(kind, count);
  }
  for await (const { orgId, days: chosen } of ownDays(deps, kind, signal)) {
    const rows = { orgId, before: findEnd(chosen) };
    for await (const count of inBatches<SweepPlace>(signal, (after) => logSweeps.deleteRows(kind, rows, after)))
      note(kind, count);
  }
}

/** A month whose table is busy is dropped by the next sweep. */
async function dropMonths(
  { storage, logger, now }: LogSweepDeps,
  kind: LogKind,
  days: number | undefined,
  signal: AbortSignal,
  note: (kind: LogKind, count: number) => void,
): Promise<void> {
  for (const month of await storage.operations.logSweeps.findDroppable(kind, { now: now(), days })) {
    if (signal.aborted) return;
    try {
      note(kind, await storage.operations.logSweeps.drop(month));
      logger.info({ part: month.name, until: month.to }, 'a month of old entries was dropped');
    } catch (error) {
      logger.info({ err: error, part: month.name }, 'a month of old entries could not be dropped now');
    }
  }
}
