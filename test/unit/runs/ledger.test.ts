import { appendFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UsageLedger } from '../../../src/engine/usage/ledger.ts';
import { makeId } from '../../../src/entities/ground/ids.ts';
import type { UsageBatch, UsageRow } from '../../../src/storage/ground/ledger/ledger.ts';
import { UsageJournal } from '../../../src/storage/operations/usage/journal.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { noLimits, plan, silent } from '../../support/runs/runs.ts';
import { newFolder } from '../../support/storage/databases.ts';

const usage = { inputTokens: 1, outputTokens: 2, cachedTokens: 0, reasoningTokens: 0 };

let folder: string;
beforeEach(() => {
  folder = newFolder();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

type UsageLedgerLimits = ConstructorParameters<typeof UsageLedger>[0]['limits'];

/** A store that fails a given number of times; it keeps rows by id, as the table does. */
function store(failures: number) {
  const rows = new Map<string, UsageRow>();
  const runs: object[] = [];
  let left = failures;
  const add = async (batch: UsageBatch) => {
    runs.push(...(JSON.parse(batch.runs.toArrayText()) as object[]));
    // Fails after writing: the worst case, because the caller cannot know that the rows are stored.
    for (const row of batch.readRows()) rows.set(row.id, row);
    left -= 1;
    if (left >= 0) throw new Error('the connection broke');
  };
  return { add, rows, runs };
}

/** The lease under which the end of every run is stored. */
const endedFence = 3;
const openFence = 4;
const states = new Map<number, 'open' | 'ended'>([
  [endedFence, 'ended'],
  [openFence, 'open'],
]);

const { charge } = plan;
const endedRun = {
  ...{ id: 'cmpl_1', kind: 'completion' as const, orgId: charge.orgId, userId: charge.userId, keyId: charge.keyId ?? '' },
  ...{ startedAt: new Date(1_795_235_197_000), endedAt: new Date(1_795_235_198_000), durationMs: 1_000, firstTokenMs: null },
  ...{ agentId: null, modelId: 'test/model', answeredModelId: 'test/model', status: 'completed' as const, cost: null },
  ...{ usage: { ...usage, inputTokens: 7 }, retrieval: null, hasFoundNothing: false, steps: null },
};

function ledgerOn(kept: ReturnType<typeof store>, limits: UsageLedgerLimits = noLimits, owner = 'test') {
  return new UsageLedger({ ...depsOn(kept), limits, journal: new UsageJournal(folder, owner) });
}

function depsOn({ add }: ReturnType<typeof store>) {
  const newId = (kind: 'usageEntry') => makeId(kind, Date.now());
  const timings = { spent: () => undefined };
  return {
    store: { add, stateUnder: async ({ fence }: { readonly fence: number }) => states.get(fence) ?? 'lost' } as const,
    limits: noLimits,
    models: { priceOf: () => null },
    timings,
    logger: silent,
    now: () => new Date(),
    newId,
  };
}

describe('the usage ledger', () => {
  it('loses nothing and charges nothing twice when the database fails', async () => {
    const kept = store(3);
    const ledger = ledgerOn(kept);
    for (let index = 0; index < 5_000; index += 1) ledger.note(plan.charge, 'run', 'test/model', usage);
    await expect(ledger.flush()).rejects.toThrow('the connection broke');
    for (let index = 0; index < 10; index += 1) ledger.note(plan.charge, 'run', 'test/model', usage);
    await ledger.stop(5_000);
    expect(kept.rows.size).toBe(5_010);
  });

  it('tells limits at once of a call whose row may never be written, and takes it back', async () => {
    const kept = store(0);
    const told: number[] = [];
    const limits = {
      ...noLimits,
      noted: (row: UsageRow, sign = 1) => void told.push(sign * (row.inputTokens + row.outputTokens)),
    };
    const ledger = ledgerOn(kept, limits);
    const [first, second] = [1, 2].map(() => ledger.noteLater(plan.charge, 'run', 'test/model', usage));
    expect(told).toEqual([3, 3]);
    first?.write();
    second?.forget();
    await ledger.flush();
    expect(told).toEqual([3, 3, -3]);
    expect(kept.rows.size).toBe(1);
  });

  it('writes by itself behind the reply', async () => {
    const kept = store(0);
    ledgerOn(kept).note(plan.charge, 'run', 'test/model', usage);
    await eventually(() => expect(kept.rows.size).toBe(1));
  });

  it('accepts implausible token counts of an upstream', async () => {
    const kept = store(0);
    const ledger = ledgerOn(kept);
    ledger.note(plan.charge, 'run', 'test/model', {
      inputTokens: 1e300,
      outputTokens: -5,
      cachedTokens: Number.NaN,
      reasoningTokens: 1.5,
    });
    await ledger.flush();
    expect([...kept.rows.values()]).toMatchObject([
      { inputTokens: 2_147_483_647, outputTokens: 0, cachedTokens: 0, reasoningTokens: 1 },
    ]);
  });

  it('writes a call and the end of its run to the journal together, and a call whose run goes on in the same turn of the event loop', async () => {
    const kept = store(0);
    const ledger = ledgerOn(kept);
    const linesIn = () => readdirSync(folder).map((name) => readFileSync(`${folder}/${name}`, 'utf8').split('\n').length - 2);
    ledger.inRuns.note(plan.charge, 'run', 'test/model', usage);
    expect(linesIn()).toEqual([]);
    ledger.noteRun(endedRun);
    expect(linesIn()).toEqual([2]);
    ledger.inRuns.note(plan.charge, 'run', 'test/mödel', usage);
    await Promise.resolve();
    expect(linesIn()).toEqual([2]);
    await new Promise((resolve) => process.nextTick(resolve));
    expect(linesIn()).toEqual([3]);
    const restarted = store(0);
    const part = readdirSync(folder).map((name) => readFileSync(`${folder}/${name}`, 'utf8'));
    await ledger.flush();
    expect(linesIn()).toEqual([]);
    writeFileSync(`${folder}/left.jsonl`, part.join('').replace('"owner":"test"', '"owner":"killed"'));
    await ledgerOn(restarted).recover();
    expect([...restarted.rows.values()].map(({ modelId }) => modelId)).toEqual(['test/model', 'test/mödel']);
    expect([kept.rows, kept.runs]).toEqual([restarted.rows, restarted.runs]);
  });

  it('tells limits of the calls that are stored, where an organization has any', async () => {
    const settled: (readonly [readonly string[], number])[] = [];
    const limits = {
      ...noLimits,
      written: (orgIds: ReadonlySet<string>, readRows: () => readonly UsageRow[]) =>
        void settled.push([[...orgIds], readRows().reduce((sum, row) => sum + row.inputTokens + row.createdAt.getTime(), 0)]),
    };
    const kept = store(0);
    const ledger = ledgerOn(kept, limits);
    ledger.note(plan.charge, 'run', 'test/model', usage);
    await ledger.flush();
    const [row] = kept.rows.values();
    expect(settled).toEqual([[[plan.charge.orgId], 1 + (row?.createdAt.getTime() ?? 0)]]);
  });

  it('keeps a row in the journal until the database has it', async () => {
    const kept = store(1);
    const ledger = ledgerOn(kept);
    ledger.note(plan.charge, 'run', 'test/model', usage);
    expect(readdirSync(folder)).toHaveLength(1);
    await expect(ledger.flush()).rejects.toThrow('the connection broke');
    expect(readdirSync(folder)).toHaveLength(1);
    await ledger.stop(5_000);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('writes what a killed process left, once, without its torn last line', async () => {
    const killed = ledgerOn(store(0), noLimits, 'killed');
    for (let index = 0; index < 3; index += 1) killed.note(plan.charge, 'run', 'test/model', usage);
    appendFileSync(`${folder}/${readdirSync(folder)[0]}`, '{"id":"use_');
    const kept = store(0);
    const ledger = ledgerOn(kept);
    await ledger.recover();
    expect(kept.rows.size).toBe(3);
    expect([...kept.rows.values()][0]).toMatchObject({ orgId: plan.charge.orgId, inputTokens: 1, outputTokens: 2 });
    expect(readdirSync(folder)).toEqual([]);
    await ledger.recover();
    expect(kept.rows.size).toBe(3);
    await ledger.stop(0);
  });

  it.each([
    ['charges once the end of the run is stored under its lease', endedFence, 1],
    ['leaves them out where another process has the run', endedFence - 1, 0],
  ])('of charges that wait for the end of their run when the process is killed, %s', async (_case, fence, charged) => {
    const killed = ledgerOn(store(0), noLimits, 'killed');
    killed.note(plan.charge, 'run', 'test/model', usage);
    const later = killed.noteLater(plan.charge, 'run', 'test/model', usage);
    killed.holdForEnd({ runId: 'run_1', fence, rows: [later.row] });
    // A batch is written meanwhile: what waits moves to the next part of the journal.
    await killed.flush();
    const kept = store(0);
    const ledger = ledgerOn(kept);
    await ledger.recover();
    expect([...kept.rows.keys()]).toEqual(charged === 1 ? [later.row.id] : []);
    expect(readdirSync(folder)).toEqual([]);
    await ledger.stop(0);
  });

  it('charges later where the last statement of the killed process ends the run after a look', async () => {
    const killed = ledgerOn(store(0), noLimits, 'killed');
    const later = killed.noteLater(plan.charge, 'run', 'test/model', usage);
    killed.holdForEnd({ runId: 'run_1', fence: openFence, rows: [later.row] });
    const kept = store(0);
    const ledger = ledgerOn(kept);
    await ledger.recover();
    expect([kept.rows.size, readdirSync(folder)]).toEqual([0, [expect.any(String)]]);
    states.set(openFence, 'ended');
    await ledger.recover();
    expect([[...kept.rows.keys()], readdirSync(folder)]).toEqual([[later.row.id], []]);
    await ledger.stop(0);
  });

  it.each([
    ['of this version', {}],
    [
      'of an older version, with times as numbers and the usage apart',
      { startedAt: 1_795_235_197_000, endedAt: 1_795_235_198_000, inputTokens: undefined, usage: { inputTokens: 7 } },
    ],
  ])('writes the runs that a killed process left in a journal %s', async (_case, difference) => {
    ledgerOn(store(0), noLimits, 'killed').noteRun(endedRun);
    const path = `${folder}/${readdirSync(folder)[0]}`;
    const [head, line = ''] = readFileSync(path, 'utf8').split('\n');
    writeFileSync(path, `${head}\n${JSON.stringify({ ...(JSON.parse(line) as object), ...difference })}\n`);
    const kept = store(0);
    const ledger = ledgerOn(kept);
    await ledger.recover();
    expect(kept.runs).toEqual([
      expect.objectContaining({
        id: 'cmpl_1',
        startedAt: '2026-11-21T04:26:37.000Z',
        endedAt: '2026-11-21T04:26:38.000Z',
        inputTokens: 7,
      }),
    ]);
    expect(kept.runs[0]).not.toHaveProperty('usage');
    await ledger.stop(0);
  });

  it('leaves the journal of a living process alone', async () => {
    ledgerOn(store(0), noLimits, 'other').note(plan.charge, 'run', 'test/model', usage);
    const [name] = readdirSync(folder);
    const head = { owner: 'other', host: hostname(), pid: process.ppid };
    writeFileSync(`${folder}/${name}`, `${JSON.stringify(head)}\n`);
    const ledger = ledgerOn(store(0));
    await ledger.recover();
    expect(readdirSync(folder)).toEqual([name]);
    await ledger.stop(0);
  });

  it('goes on in memory when the journal cannot be written', async () => {
    writeFileSync(`${folder}/blocked`, '');
    const journal = new UsageJournal(`${folder}/blocked`, 'test');
    const kept = store(0);
    const ledger = new UsageLedger({ ...depsOn(kept), journal });
    ledger.note(plan.charge, 'run', 'test/model', usage);
    await ledger.stop(5_000);
    expect(kept.rows.size).toBe(1);
  });
});
