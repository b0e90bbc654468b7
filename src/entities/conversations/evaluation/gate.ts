import type { Scorer } from './experiment.ts';

/** What a draft of an agent must pass before it is published. */
export interface AgentGate {
  readonly agentId: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly datasetId: string;
  /** No case with this label may fail; null: any may. */
  readonly mustTag: string | null;
  /** By how many points of a hundred the rate may be below the published version's; null: by any. */
  readonly rateDropMax: number | null;
  /** What it may cost beside the published version; null: anything. */
  readonly costRatioMax: number | null;
  readonly tokensMax: number;
  readonly scorers: readonly Scorer[];
}

export const gateVerdicts = ['PASSED', 'REFUSED', 'RUNNING', 'NOT_ASKED'] as const;
export type GateVerdict = (typeof gateVerdicts)[number];

/** What a gate says of the draft as it is now. */
export interface GateReport {
  readonly verdict: GateVerdict;
  /** Why it refuses: a sentence for each rule. */
  readonly reasons: readonly string[];
  /** The experiment that it goes by; null while none was asked. */
  readonly experimentId: string | null;
}
