import type { Logger } from 'pino';
import type { IdKind } from '../../entities/ids.ts';
import type { RunSnapshot } from '../../entities/run-event.ts';
import type { ModelRouter } from '../models/router.ts';
import type { AgentTools } from '../tools/agent-tools.ts';
import type { ServerTools } from '../tools/server-tool.ts';
import type { RunControl } from './control.ts';
import type { UsageLedger } from './ledger.ts';
import type { Retrieve } from './run-engine.ts';
import type { SubagentLimits } from './subagents/parent.ts';
import type { UsageLimits } from './usage-limits.ts';

/** What every run of this process works with. */
export interface LoopDeps {
  readonly models: ModelRouter;
  readonly retrieve: Retrieve;
  readonly ledger: UsageLedger;
  readonly limits: Pick<UsageLimits, 'reserve'>;
  readonly tools: ServerTools;
  /** The tools of agents, for runs that offer them. */
  readonly agentTools?: AgentTools;
  /** Model calls in one run at most. */
  readonly roundsMax: number;
  /** Characters of what models say that one run keeps in memory; an answer that is longer is cut there. */
  readonly answerCharsMax: number;
  readonly subagents: SubagentLimits;
  readonly logger: Logger;
  now(): Date;
  newId(kind: IdKind): string;
}

/** How one run begins. */
export interface LoopStart {
  readonly runId: string;
  /** 0, or behind the log of a run that is taken over. */
  readonly firstSequence: number;
  /**
   * True: the run says at once that it began, and every failure ends it with `response.failed`. False: nothing is yielded before the
   * model's first token, and a failure until then is thrown.
   */
  readonly isEager: boolean;
  readonly secrets: Readonly<Record<string, string>>;
  /** A run that goes on after a pause: what it came to before. */
  readonly before?: RunSnapshot;
  /** What may reach the run while it works; absent: nothing but its signal. */
  readonly control?: RunControl;
}
