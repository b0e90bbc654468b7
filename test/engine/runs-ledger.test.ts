import { describe, expect, it } from 'vitest';
import { createUsageLedger } from '../../src/engine/runs/ledger.ts';
import { makeId } from '../../src/entities/ids.ts';
import type { UsageRow } from '../../src/storage/usage.ts';
import { cpuMs } from '../support/clock.ts';
import { eventually } from '../support/eventually.ts';
import { noLimits, plan, silent } from '../support/runs.ts';

const usage = { inputTokens: 1, outputTokens: 2, cachedTokens: 0, reasoningTokens: 0 };

type UsageLedgerLimits = Parameters<typeof createUsageLedger>[0]['limits'];

/** A store that fails as often as told; it keeps rows by id, as the table does. */
function store(failures: number) {
  const rows = new Map<string, UsageRow>();
  let left = failures;
  const add = async (added: readonly UsageRow[]) => {
    // Fails after writing: the worst case, because the caller cannot know.
    for (const row of added) rows.set(row.id, row);
    left -= 1;
    if (left >= 0) throw new Error('the connection broke');
  };
  return { add, rows };
}

function ledgerOn({ add }: ReturnType<typeof store>, limits: UsageLedgerLimits = noLimits) {
  return createUsageLedger({
    store: { add },
    limits,
    logger: silent,
    now: () => new Date(),
    newId: (kind) => makeId(kind, Date.now()),
  });
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
    const limits = { ...noLimits, noted: (_orgId: string, _kind: string, tokens: number) => void told.push(tokens) };
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

  it('takes numbers that an upstream made up', async () => {
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

  it('costs a call less than 3 µs', () => {
    const ledger = ledgerOn(store(0));
    const note = () => ledger.note(plan.charge, 'run', 'test/model', usage);
    for (let index = 0; index < 20_000; index += 1) note();
    const rounds = [1, 2, 3].map(() =>
      cpuMs(() => {
        for (let index = 0; index < 50_000; index += 1) note();
      }),
    );
    expect((Math.min(...rounds) * 1_000) / 50_000).toBeLessThan(3);
  });
});
