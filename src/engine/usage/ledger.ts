import type { Logger } from 'pino';
import { countable, type UsageKind } from '../../entities/operations/usage.ts';
import type { UsageRow } from '../../storage/ground/ledger/ledger.ts';
import type { UnstoredRun } from '../../storage/ground/ledger/unstored.ts';
import type { JournalPart, UsageJournal } from '../../storage/operations/usage/journal.ts';
import type { UsageStore } from '../../storage/operations/usage/usage.ts';
import type { TokenUsage } from '../models/port.ts';
import type { Charge } from '../plan/plan.ts';
import type { UsageLimits } from './limits.ts';
import type { RunTimings } from './timings.ts';

const flushEveryMs = 500;
const retryAfterMs = 2_000;
/** How often parts of the journal that other processes left are looked for. */
const recoverEveryMs = 10 * 60_000;
const rowsPerWrite = 2_000;

/** Charges for upstream calls after the reply, in batches. */
export interface UsageLedger {
  /**
   * Charges for one upstream call. When this returns, the row is in the journal, so a kill does not lose it; the next batch writes
   * it to the database. Cost: about 6 µs.
   *
   * @param entryId  of the row, where another process may write the same one: it is stored once. Default: a new id.
   */
  note(charge: Charge, purpose: UsageRow['purpose'], modelId: string, usage: TokenUsage, entryId?: string): void;
  /**
   * Keeps what is known of a run that is not stored, at its end: it is in the journal when this returns, and becomes a row with the next batch. Cost:
   * about 5 µs.
   */
  noteRun(run: UnstoredRun): void;
  /** For a call whose charge may be dropped: limits count it at once, and its row is written by `write`. */
  noteLater(charge: Charge, purpose: UsageRow['purpose'], modelId: string, usage: TokenUsage, entryId?: string): LaterNote;
  /** Writes all rows; resolves once they are in the database. @throws the database's error; no row is lost then. */
  flush(): Promise<void>;
  /** Writes the rows that killed processes left in the journal, now and every ten minutes until `stop`. */
  recover(): Promise<void>;
  /** Writes the remaining rows and stops. Retries for at most `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

/** Call one of both, once. */
export interface LaterNote {
  readonly write: () => void;
  /** Another process charges for the call. */
  readonly forget: () => void;
}

export function createUsageLedger(deps: {
  readonly store: Pick<UsageStore, 'add'>;
  readonly journal: UsageJournal;
  /** Told of every cost at once, and again when it is stored. */
  readonly limits: Pick<UsageLimits, 'owner' | 'noted' | 'written'>;
  /** Counts the tokens that are charged. */
  readonly timings: Pick<RunTimings, 'spent'>;
  readonly logger: Logger;
  now(): Date;
  newId(kind: 'usageEntry'): string;
}): UsageLedger {
  /** Rows since the current part of the journal was opened. */
  let fresh: UsageRow[] = [];
  let freshRuns: UnstoredRun[] = [];
  /** Rows whose write has begun; their ids are fixed, so writing them again does not charge twice. */
  let rows: UsageRow[] = [];
  let runs: UnstoredRun[] = [];
  /** The parts of the journal that hold `rows` and `runs`. */
  let parts: JournalPart[] = [];
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  let isJournalBroken = false;
  let recovering: NodeJS.Timeout | undefined;

  function plan(afterMs: number): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      flush().catch((error: unknown) => {
        deps.logger.error({ err: error, rows: rows.length }, 'usage could not be written; retrying');
        plan(retryAfterMs);
      });
    }, afterMs).unref();
  }

  async function flush(): Promise<void> {
    if (writing !== undefined) await writing.catch(() => undefined);
    if (fresh.length + freshRuns.length + rows.length + runs.length === 0) return;
    writing = write().finally(() => {
      writing = undefined;
    });
    await writing;
  }

  async function write(): Promise<void> {
    rows.push(...fresh);
    fresh = [];
    runs.push(...freshRuns);
    freshRuns = [];
    withJournal(() => {
      const part = deps.journal.closePart();
      if (part !== undefined) parts.push(part);
    });
    while (rows.length + runs.length > 0) {
      const batch = rows.slice(0, rowsPerWrite);
      const endedRuns = runs.slice(0, rowsPerWrite);
      await deps.store.add(batch, deps.limits.owner, endedRuns);
      rows = rows.slice(batch.length);
      runs = runs.slice(endedRuns.length);
      for (const row of batch) deps.limits.written(row.orgId, toUsageKind(row.purpose), row.inputTokens + row.outputTokens);
    }
    const writtenParts = parts;
    parts = [];
    withJournal(() => {
      for (const part of writtenParts) part.remove();
    });
  }

  async function recover(): Promise<void> {
    recovering = setTimeout(() => {
      recover().catch((error: unknown) =>
        deps.logger.error({ err: error }, 'usage in the journal of a killed process could not be written; retrying'),
      );
    }, recoverEveryMs).unref();
    for (const part of deps.journal.leftBehind()) {
      for (let from = 0; from < Math.max(part.rows.length, part.runs.length); from += rowsPerWrite) {
        const to = from + rowsPerWrite;
        await deps.store.add(part.rows.slice(from, to), part.owner, part.runs.slice(from, to));
      }
      part.remove();
      deps.logger.info({ rows: part.rows.length }, 'usage in the journal of a killed process was written');
    }
  }

  /** A journal that cannot be written (a full disk) fails no run: the row is in memory and still reaches the database. */
  function withJournal(work: () => void): void {
    try {
      work();
      isJournalBroken = false;
    } catch (error) {
      if (!isJournalBroken)
        deps.logger.error({ err: error }, 'the usage journal cannot be written; a kill loses usage until it can');
      isJournalBroken = true;
    }
  }

  function add(row: UsageRow): void {
    fresh.push(row);
    deps.timings.spent(row.modelId, row);
    withJournal(() => deps.journal.append(row));
    if (timer === undefined) plan(flushEveryMs);
  }

  function noteRun(run: UnstoredRun): void {
    freshRuns.push(run);
    withJournal(() => deps.journal.appendRun(run));
    if (timer === undefined) plan(flushEveryMs);
  }

  /** Limits count a call at once. */
  function toRow(...[charge, purpose, modelId, usage, entryId]: Parameters<UsageLedger['note']>): UsageRow {
    const id = entryId ?? deps.newId('usageEntry');
    const row = { ...rowOfCharge(charge), ...toCounts(usage), id, purpose, modelId, createdAt: deps.now() };
    deps.limits.noted(row.orgId, toUsageKind(purpose), row.inputTokens + row.outputTokens);
    return row;
  }

  return {
    note: (...call) => add(toRow(...call)),
    noteRun,
    noteLater(...call) {
      const row = toRow(...call);
      return {
        write: () => add(row),
        forget: () => deps.limits.noted(row.orgId, toUsageKind(row.purpose), -(row.inputTokens + row.outputTokens)),
      };
    },
    flush,
    recover,
    async stop(graceMs) {
      const deadline = Date.now() + graceMs;
      clearTimeout(timer);
      clearTimeout(recovering);
      for (;;) {
        try {
          return await flush();
        } catch (error) {
          if (Date.now() >= deadline) throw error;
          await new Promise((resolve) => setTimeout(resolve, 200));
        }
      }
    },
  };
}

function rowOfCharge({ orgId, userId, keyId, agentId, runId }: Charge) {
  return { orgId, userId, keyId, agentId, runId };
}

function toCounts({ inputTokens, outputTokens, cachedTokens, reasoningTokens, isEstimated }: TokenUsage) {
  return {
    inputTokens: countable(inputTokens),
    outputTokens: countable(outputTokens),
    cachedTokens: countable(cachedTokens),
    reasoningTokens: countable(reasoningTokens),
    isEstimated: isEstimated === true,
  };
}

function toUsageKind(purpose: UsageRow['purpose']): UsageKind {
  return purpose === 'run' ? 'api' : 'data';
}
