import { describe, expect, it } from 'vitest';
import { RunRecorder } from '../../../src/engine/runs/record/recorder.ts';
import { unstoredRow } from '../../../src/engine/runs/unstored/unstored-row.ts';
import type { EndedSubagent } from '../../../src/entities/conversations/runs/event.ts';
import { plan } from '../../support/runs/runs.ts';

const price = { inputPerMillionTokens: 1, outputPerMillionTokens: 2 };
const usage = { inputTokens: 1_000_000, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0 };
const call = { startedMs: 0, firstTokenMs: null, errorCode: null, usage } as const;
const subagent: EndedSubagent = {
  ...{ id: 'sub_1', name: 'Reader', agentId: null, parentId: null, task: 'read', depth: 1 },
  ...{ status: 'completed' as const, summary: '', usage },
};

function newRecorder() {
  return new RunRecorder({ models: { priceOf: (id) => (id === 'test/priced' ? price : null) }, now: () => new Date() });
}

describe('the record of a run', () => {
  it('does not know what a subagent cost when any of its models has no price', () => {
    const recorder = newRecorder();
    recorder.modelCall({ ...call, modelId: 'test/unpriced', subagentId: 'sub_2' });
    recorder.modelCall({ ...call, modelId: 'test/priced', subagentId: 'sub_2' });
    recorder.subagent({ ...subagent, id: 'sub_2', parentId: 'sub_1', depth: 2 }, 0);
    recorder.modelCall({ ...call, modelId: 'test/priced', subagentId: 'sub_1' });
    recorder.subagent(subagent, 0);
    const costs = recorder.steps.flatMap((step) => (step.type === 'subagent' ? [[step.id, step.cost]] : []));
    expect(costs).toEqual([
      ['sub_2', null],
      ['sub_1', null],
    ]);
  });

  it('makes a row that the database takes of implausible token counts of an upstream', () => {
    const recorder = newRecorder();
    const reported = { inputTokens: 1e300, outputTokens: Number.NaN, cachedTokens: -1, reasoningTokens: 1.5 };
    for (const each of [1, 2]) recorder.modelCall({ ...call, modelId: 'test/priced', startedMs: each, usage: reported });
    const frame = { id: 'chatcmpl_1', kind: 'completion', charge: plan.charge, modelId: 'test/priced' } as const;
    const { usage: counted } = unstoredRow(frame, recorder, 'done');
    expect(counted).toEqual({ inputTokens: 2_147_483_647, outputTokens: 0, cachedTokens: 0, reasoningTokens: 2 });
  });
});
