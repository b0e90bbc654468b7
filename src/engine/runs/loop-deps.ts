import type { Logger } from 'pino';
import type { IdKind } from '../../entities/ids.ts';
import type { RunSnapshot, RunSpent } from '../../entities/runs/event.ts';
import type { ModelRouter } from '../models/router.ts';
import type { AgentTools } from '../tools/agent-tools.ts';
import type { ServerTools } from '../tools/server-tool.ts';
import type { RunBudget } from './budget.ts';
import type { RunControl } from './control.ts';
import type { RunHold } from './hold.ts';
import type { Retrieve } from './run-engine.ts';
import type { ServerCallItem } from './tools/open-call.ts';
import type { UsageLedger } from './usage/ledger.ts';
import type { UsageLimits } from './usage/limits.ts';

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

/** How much subagents may do. */
export interface SubagentLimits {
  /** Started by one call at most. */
  readonly countMax: number;
  /** Time of each. */
  readonly timeoutMs: number;
  /** Tokens that each may write in one model call. */
  readonly outputTokensMax: number;
  /** Model calls of each, as far as its run has them left. */
  readonly roundsMax: number;
  /** What one call hands back to the model, in UTF-16 code units. */
  readonly resultCharsMax: number;
}

/** Where a run goes on whose process died. */
export interface Continuation {
  /** The call of a tool that was under way, and is made again; undefined: the model was to be asked. */
  readonly call: ServerCallItem | undefined;
  /** Where in the output the turn begins: calls for the client behind it end the turn. */
  readonly turnFrom: number;
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
  /** A run that goes on after a pause, or in the place of a dead process: what it came to before, closed items only. */
  readonly before?: RunSnapshot;
  /** It goes on in the place of a dead process, between two calls of the model. */
  readonly continues?: Continuation;
  /** What it used of its bounds before. */
  readonly spent?: RunSpent;
  /** Model calls of processes that died before their answers were in the log: they count. */
  readonly roundsLost?: number;
  /** Of a subagent: what its run lets it have. */
  readonly budget?: RunBudget;
  /** What the idempotency keys of its calls begin with. Default: the id of the run. */
  readonly keyPrefix?: string;
  /** Of a stored run: makes sure that its calls are made while this process holds it. */
  readonly hold?: RunHold;
  /** What may reach the run while it works; absent: nothing but its signal. */
  readonly control?: RunControl;
}
