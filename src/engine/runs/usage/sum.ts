import type { RunEventBody, RunSpent, SpentCall, Usage } from '../../../entities/runs/event.ts';
import type { TokenUsage } from '../../models/port.ts';

/** What a run has cost after one more model call. */
export function addUsage(usage: Usage | null, spent: TokenUsage): Usage {
  if (usage === null) return spent;
  return {
    inputTokens: usage.inputTokens + spent.inputTokens,
    outputTokens: usage.outputTokens + spent.outputTokens,
    cachedTokens: usage.cachedTokens + spent.cachedTokens,
    reasoningTokens: usage.reasoningTokens + spent.reasoningTokens,
  };
}

/** What a run has cost: the sum, and the calls that its log does not tell of yet. */
export class Spending {
  total: Usage | null;
  private untold: SpentCall[] = [];

  constructor(before: Usage | null) {
    this.total = before;
  }

  /** For a run whose log nobody keeps. */
  addUntold(usage: TokenUsage): void {
    this.total = addUsage(this.total, usage);
  }

  add(call: SpentCall): void {
    this.total = addUsage(this.total, call.usage);
    this.untold.push(call);
  }

  /** What the log is to be told now; undefined for nothing new. */
  news(spent: () => RunSpent): Extract<RunEventBody, { type: 'parley.usage' }> | undefined {
    if (this.total === null || this.untold.length === 0) return undefined;
    const calls = this.untold;
    this.untold = [];
    return { type: 'parley.usage', usage: this.total, calls, spent: spent() };
  }
}
