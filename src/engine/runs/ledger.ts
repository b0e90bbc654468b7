import type { Logger } from 'pino';
import type { UsageKind } from '../../entities/usage.ts';
import type { UsageRow, UsageStore } from '../../storage/usage.ts';
import type { TokenUsage } from '../models/port.ts';
import type { Charge } from './run-engine.ts';
import type { UsageLimits } from './usage-limits.ts';

const flushEveryMs = 500;
const retryAfterMs = 2_000;
const rowsPerWrite = 2_000;

/** Notes what upstream calls cost, behind the reply. */
export interface UsageLedger {
  /**
   * Takes one upstream call's tokens; well below 3 µs. The row is written in the next batch.
   *
   * @param entryId  of the row, where another process may write the same one: it is there once then. Default: a new one.
   */
  note(charge: Charge, purpose: Note['purpose'], modelId: string, usage: TokenUsage, entryId?: string): void;
  /** The same of a call that may have to be forgotten: limits count it at once, its row is for `write`. */
  noteLater(charge: Charge, purpose: Note['purpose'], modelId: string, usage: TokenUsage, entryId?: string): LaterNote;
  /** Writes what is noted; resolves once it is in the database. @throws what the database threw; nothing is lost by that. */
  flush(): Promise<void>;
  /** Writes the rest and stops. Tries until `graceMs` are over. */
  stop(graceMs: number): Promise<void>;
}

/** One of both, once. */
export interface LaterNote {
  readonly write: () => void;
  /** Somebody else is charged for the call. */
  readonly forget: () => void;
}

interface Note {
  readonly charge: Charge;
  readonly purpose: UsageRow['purpose'];
  readonly modelId: string;
  readonly usage: TokenUsage;
  readonly atMs: number;
  readonly entryId: string | undefined;
}

export function createUsageLedger(deps: {
  readonly store: Pick<UsageStore, 'add'>;
  /** Hears of every cost at once, and again when it is written. */
  readonly limits: Pick<UsageLimits, 'owner' | 'noted' | 'written'>;
  readonly logger: Logger;
  now(): Date;
  newId(kind: 'usageEntry'): string;
}): UsageLedger {
  let notes: Note[] = [];
  /** Rows whose write failed: their ids are made, so writing them again cannot charge twice. */
  let rows: UsageRow[] = [];
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;

  function plan(afterMs: number): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      flush().catch((error: unknown) => {
        deps.logger.error({ err: error, rows: rows.length }, 'usage could not be written; it will be tried again');
        plan(retryAfterMs);
      });
    }, afterMs).unref();
  }

  async function flush(): Promise<void> {
    if (writing !== undefined) await writing.catch(() => undefined);
    if (notes.length === 0 && rows.length === 0) return;
    writing = write().finally(() => {
      writing = undefined;
    });
    await writing;
  }

  async function write(): Promise<void> {
    const fresh = notes;
    notes = [];
    for (const note of fresh) rows.push(rowOf(note, note.entryId ?? deps.newId('usageEntry')));
    while (rows.length > 0) {
      const part = rows.slice(0, rowsPerWrite);
      await deps.store.add(part, deps.limits.owner);
      rows = rows.slice(part.length);
      for (const row of part) deps.limits.written(row.orgId, kindOf(row.purpose), row.inputTokens + row.outputTokens);
    }
  }

  function add(note: Note): void {
    notes.push(note);
    if (timer === undefined) plan(flushEveryMs);
  }

  return {
    note(charge, purpose, modelId, usage, entryId) {
      deps.limits.noted(charge.orgId, kindOf(purpose), tokensOf(usage));
      add({ charge, purpose, modelId, usage, atMs: deps.now().getTime(), entryId });
    },
    noteLater(charge, purpose, modelId, usage, entryId) {
      const note = { charge, purpose, modelId, usage, atMs: deps.now().getTime(), entryId };
      deps.limits.noted(charge.orgId, kindOf(purpose), tokensOf(usage));
      return {
        write: () => add(note),
        forget: () => deps.limits.noted(charge.orgId, kindOf(purpose), -tokensOf(usage)),
      };
    },
    flush,
    async stop(graceMs) {
      const deadline = Date.now() + graceMs;
      clearTimeout(timer);
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

function rowOf({ charge, purpose, modelId, usage, atMs }: Note, id: string): UsageRow {
  return {
    id,
    createdAt: new Date(atMs),
    orgId: charge.orgId,
    userId: charge.userId,
    keyId: charge.keyId,
    agentId: charge.agentId,
    runId: charge.runId,
    purpose,
    modelId,
    inputTokens: countable(usage.inputTokens),
    outputTokens: countable(usage.outputTokens),
    cachedTokens: countable(usage.cachedTokens),
    reasoningTokens: countable(usage.reasoningTokens),
  };
}

function tokensOf({ inputTokens, outputTokens }: TokenUsage): number {
  return countable(inputTokens) + countable(outputTokens);
}

function kindOf(purpose: UsageRow['purpose']): UsageKind {
  return purpose === 'run' ? 'api' : 'data';
}

/** What an upstream reports is not ours to trust: a row that the database refuses would hold up all behind it. */
export function countable(tokens: number): number {
  return Number.isFinite(tokens) ? Math.min(Math.max(0, Math.trunc(tokens)), 2_147_483_647) : 0;
}
