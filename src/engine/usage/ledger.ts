import type { Logger } from 'pino';
import { countable } from '../../entities/operations/usage.ts';
import { UsageBatch, type UsageRow } from '../../storage/ground/ledger/ledger.ts';
import type { UnstoredRun } from '../../storage/ground/ledger/unstored.ts';
import type { HeldRows, JournalPart, UsageJournal } from '../../storage/operations/usage/journal.ts';
import type { UsageStore } from '../../storage/operations/usage/usage.ts';
import type { TokenUsage } from '../models/port.ts';
import type { ModelRouter } from '../models/router.ts';
import type { Charge } from '../plan/plan.ts';
import { type Cost, computeCost } from './cost.ts';
import type { UsageLimits } from './limits.ts';
import type { RunTimings } from './timings.ts';

const flushEveryMs = 500;
const retryAfterMs = 2_000;
/** How often parts of the journal that other processes left are looked for. */
const recoverEveryMs = 10 * 60_000;
const rowsPerWrite = 2_000;

/** Call one of both, once. */
export interface LaterNote {
  readonly write: () => void;
  /** Another process charges for the call. */
  readonly forget: () => void;
  readonly row: UsageRow;
}

interface LedgerDeps {
  readonly store: Pick<UsageStore, 'add' | 'stateUnder'>;
  readonly journal: UsageJournal;
  /** Told of every cost at once, and again when it is stored. */
  readonly limits: Pick<UsageLimits, 'owner' | 'noted' | 'written'>;
  /** Counts the tokens that are charged. */
  readonly timings: Pick<RunTimings, 'spent'>;
  readonly models: Pick<ModelRouter, 'priceOf'>;
  readonly logger: Logger;
  now(): Date;
  newId(kind: 'usageEntry'): string;
}

/** One upstream call; see `UsageLedger.note`. */
type CallNote = [charge: Charge, purpose: UsageRow['purpose'], modelId: string, usage: TokenUsage, entryId?: string];

/** Charges for upstream calls after the reply, in batches. */
export class UsageLedger {
  readonly #deps: LedgerDeps;
  /** What came last; it gets no more rows once its write begins. */
  #fresh = new UsageBatch();
  /** Batches whose write has begun or begins with the next one; the ids of rows are fixed, so writing them again does not charge twice. */
  #batches: UsageBatch[] = [];
  /** The parts of the journal that hold `#batches`. */
  #parts: JournalPart[] = [];
  #isAppendPlanned = false;
  readonly #appendPlanned = (): void => {
    this.#isAppendPlanned = false;
    this.#append();
  };

  /**
   * For runs whose ends `noteRun` notes: a row is in the journal when that returns, and at the end of this turn of the event loop at the latest. So one
   * write to the disk is enough for the call and the end of its run.
   */
  readonly inRuns: Pick<UsageLedger, 'note'> = {
    note: (...call) => {
      this.#add(this.#toRow(...call));
      if (this.#isAppendPlanned) return;
      this.#isAppendPlanned = true;
      process.nextTick(this.#appendPlanned);
    },
  };
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #isJournalBroken = false;
  #recovering: NodeJS.Timeout | undefined;

  constructor(deps: LedgerDeps) {
    this.#deps = deps;
  }

  /**
   * Charges for one upstream call. When this returns, the row is in the journal, so a kill does not lose it; the next batch writes
   * it to the database. Cost: about 5 µs.
   *
   * @param entryId  of the row, where another process may write the same one: it is stored once. Default: a new id.
   */
  note(...call: CallNote): void {
    this.#add(this.#toRow(...call));
    this.#append();
  }

  /**
   * Keeps what is known of a run that is not stored, at its end: it is in the journal when this returns, and becomes a row with the next batch. Cost:
   * about 5 µs.
   */
  noteRun(run: UnstoredRun): void {
    this.#freshBatch.addRun(run);
    this.#append();
    this.#planFlush(flushEveryMs);
  }

  /** For a call whose charge may be dropped: limits count it at once, and its row is written by `write`. */
  noteLater(...call: CallNote): LaterNote {
    const row = this.#toRow(...call);
    return {
      write: () => {
        this.#add(row);
        this.#append();
      },
      forget: () => this.#deps.limits.noted(row, -1),
      row,
    };
  }

  /**
   * Before the end of a run is stored: a process that is killed right behind it does not lose these charges. Call what it returns when they are written
   * or forgotten.
   */
  holdForEnd(held: HeldRows): () => void {
    let drop = () => {};
    this.#withJournal(() => {
      drop = this.#deps.journal.hold(held);
    });
    return () => drop();
  }

  /** Writes all rows; resolves once they are in the database. @throws the database's error; no row is lost then. */
  async flush(): Promise<void> {
    if (this.#writing !== undefined) await this.#writing.catch(() => undefined);
    if (this.#fresh.isEmpty && this.#batches.length === 0) return;
    this.#writing = this.#write().finally(() => {
      this.#writing = undefined;
    });
    await this.#writing;
  }

  /** Writes the rows that killed processes left in the journal, now and every ten minutes until `stop`. */
  async recover(): Promise<void> {
    this.#planRecovery(recoverEveryMs);
    if (!(await this.#recoverParts())) return;
    clearTimeout(this.#recovering);
    this.#planRecovery(retryAfterMs);
  }

  /** @returns whether something is not decided yet. */
  async #recoverParts(): Promise<boolean> {
    const { store, journal, logger } = this.#deps;
    let isUndecided = false;
    for (const part of journal.leftBehind()) {
      for (let from = 0; from < Math.max(part.rows.length, part.runs.length); from += rowsPerWrite) {
        const to = from + rowsPerWrite;
        await store.add(UsageBatch.of(part.rows.slice(from, to), part.runs.slice(from, to)), part.owner);
      }
      let isOpen = false;
      for (const held of part.held) {
        const state = await store.stateUnder(held);
        if (state === 'ended') await store.add(UsageBatch.of(held.rows), part.owner);
        isOpen ||= state === 'open';
      }
      isUndecided ||= isOpen;
      // The last statement of a process that is dead may still be on its way: it ends the run, or another process takes the run over.
      if (isOpen) continue;
      part.remove();
      logger.info({ rows: part.rows.length }, 'usage in the journal of a killed process was written');
    }
    return isUndecided;
  }

  #planRecovery(afterMs: number): void {
    this.#recovering = setTimeout(() => {
      this.recover().catch((error: unknown) =>
        this.#deps.logger.error({ err: error }, 'usage in the journal of a killed process could not be written; retrying'),
      );
    }, afterMs).unref();
  }

  /** Writes the remaining rows and stops. Retries for at most `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    const deadline = Date.now() + graceMs;
    clearTimeout(this.#timer);
    clearTimeout(this.#recovering);
    for (;;) {
      try {
        return await this.flush();
      } catch (error) {
        if (Date.now() >= deadline) throw error;
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    }
  }

  #planFlush(afterMs: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.flush().catch((error: unknown) => {
        this.#deps.logger.error({ err: error, rows: this.#waitingCount }, 'usage could not be written; retrying');
        this.#planFlush(retryAfterMs);
      });
    }, afterMs).unref();
  }

  async #write(): Promise<void> {
    const { store, journal, limits } = this.#deps;
    this.#append();
    this.#seal();
    this.#withJournal(() => {
      const part = journal.closePart();
      if (part !== undefined) this.#parts.push(part);
    });
    for (let batch = this.#batches[0]; batch !== undefined; batch = this.#batches[0]) {
      await store.add(batch, limits.owner);
      const written = batch;
      if (written.rows.count > 0) limits.written(written.orgIds, () => written.readRows());
      this.#batches.shift();
    }
    const writtenParts = this.#parts;
    this.#parts = [];
    this.#withJournal(() => {
      for (const part of writtenParts) part.remove();
    });
  }

  /** A journal that cannot be written (a full disk) fails no run: the row is in memory and still reaches the database. */
  #withJournal(work: () => void): void {
    try {
      work();
      this.#isJournalBroken = false;
    } catch (error) {
      if (!this.#isJournalBroken)
        this.#deps.logger.error({ err: error }, 'the usage journal cannot be written; a kill loses usage until it can');
      this.#isJournalBroken = true;
    }
  }

  #add(row: UsageRow): void {
    this.#freshBatch.addRow(row);
    this.#deps.timings.spent(row.modelId, row);
    this.#planFlush(flushEveryMs);
  }

  /** A statement writes so many rows at most. */
  get #freshBatch(): UsageBatch {
    const { rows, runs } = this.#fresh;
    if (rows.count >= rowsPerWrite || runs.count >= rowsPerWrite) {
      this.#append();
      this.#seal();
    }
    return this.#fresh;
  }

  #seal(): void {
    if (this.#fresh.isEmpty) return;
    this.#batches.push(this.#fresh);
    this.#fresh = new UsageBatch();
  }

  /** Writes to the journal what it does not have yet. */
  #append(): void {
    const newLines = [this.#fresh.rows.takeNew(), this.#fresh.runs.takeNew()].filter(({ length }) => length > 0);
    if (newLines.length > 0) this.#withJournal(() => this.#deps.journal.append(...newLines));
  }

  get #waitingCount(): number {
    return this.#batches.reduce((sum, { rows }) => sum + rows.count, 0);
  }

  /** Limits count a call at once. */
  #toRow(...[charge, purpose, modelId, usage, entryId]: CallNote): UsageRow {
    const { limits, models, newId, now } = this.#deps;
    const id = entryId ?? newId('usageEntry');
    const { orgId, userId, keyId, agentId, agentVersion = null, runId } = charge;
    const row = {
      orgId,
      userId,
      keyId,
      agentId,
      agentVersion,
      runId,
      ...toCounts(usage),
      id,
      purpose,
      modelId,
      createdAt: now(),
      cost: toBillionths(computeCost(models.priceOf(modelId), usage)),
    };
    limits.noted(row);
    return row;
  }
}

function toCounts({ inputTokens, outputTokens, cachedTokens, cacheWriteTokens, reasoningTokens, isEstimated }: TokenUsage) {
  return {
    inputTokens: countable(inputTokens),
    outputTokens: countable(outputTokens),
    cachedTokens: countable(cachedTokens),
    cacheWriteTokens: countable(cacheWriteTokens ?? 0),
    reasoningTokens: countable(reasoningTokens),
    isEstimated: isEstimated === true,
  };
}

/** The ledger counts in billionths: a call costs at most half of one more or less. */
function toBillionths(cost: Cost | null): number | null {
  return cost === null ? null : Math.round(Number(cost) / 1_000);
}
