import type { Logger } from 'pino';
import type {
  BegunResearch,
  FlowStepEvent,
  RunSnapshot,
  RunSpent,
  ServerCallItem,
  Subagent,
  SubagentRecord,
} from '../../../entities/conversations/runs/event.ts';
import type { IdKind } from '../../../entities/ground/ids.ts';
import type { Passage } from '../../../entities/knowledge/citation.ts';
import type { CallApproval } from '../../../storage/conversations/runs/approvals.ts';
import type { ModelMessage } from '../../models/port.ts';
import type { ModelRouter } from '../../models/router.ts';
import type { Charge, Retrieve, RunPlan } from '../../plan/plan.ts';
import type { AgentTools } from '../../tools/agents/agent-tools.ts';
import type { SubagentLimits, SubagentPlan } from '../../tools/agents/subagents.ts';
import type { AgentServers } from '../../tools/mcp/agent-servers.ts';
import type { ToolRegistry } from '../../tools/registry.ts';
import type { RunFiles } from '../../tools/run-files.ts';
import type { Guards } from '../../tools/secrets/guards/guards.ts';
import type { GuardSession } from '../../tools/secrets/guards/session.ts';
import type { RunMask } from '../../tools/secrets/masking.ts';
import type { Tracing } from '../../tracing/tracing.ts';
import type { RunBudget } from '../../usage/budget.ts';
import type { UsageLedger } from '../../usage/ledger.ts';
import type { UsageLimits } from '../../usage/limits.ts';
import type { RunTimings } from '../../usage/timings.ts';
import type { TokenAllowance } from '../../usage/token-allowance.ts';
import type { RunRecorder } from '../record/recorder.ts';
import type { RunControl, RunHold } from './control.ts';

/** The parts that all runs of this process share. */
export interface LoopDeps {
  readonly models: ModelRouter;
  readonly retrieve: Retrieve;
  readonly ledger: Pick<UsageLedger, 'note'>;
  readonly limits: Pick<UsageLimits, 'reserve'>;
  /** The tools of the service. */
  readonly tools: ToolRegistry;
  /** Notes that a call waits for a person's approval, before anybody sees it. */
  askApproval(approval: CallApproval): Promise<void>;
  /** The files that the tools of a run work with. */
  filesOf(plan: RunPlan): RunFiles;
  /** The messages with the bytes of images instead of references to them. @param bytesLeft  of images in one request. */
  withImages(
    messages: readonly ModelMessage[],
    plan: Pick<RunPlan, 'modelId' | 'charge'>,
    files: RunFiles,
    bytesLeft: number,
    signal: AbortSignal,
  ): Promise<readonly ModelMessage[]>;
  /** Finds the tools of an agent, for runs that offer them. */
  readonly agentTools?: AgentTools;
  /** Opens the MCP servers of an agent, for runs that offer its tools. */
  readonly agentServers?: AgentServers;
  /** Most model calls of one run. */
  readonly roundsMax: number;
  /** Most characters of model output that one run keeps in memory; a longer answer is cut. */
  readonly answerCharsMax: number;
  readonly subagents: SubagentLimits;
  /** Makes the plans of agents that are asked as subagents; absent: none can be. */
  readonly subagentPlan?: SubagentPlan;
  readonly logger: Logger;
  /** Of the secrets of the run's request, and of the run that started it; absent: none. */
  readonly mask?: RunMask;
  /** What is masked in the runs of organizations and agents; absent: nothing is. */
  readonly guards?: Guards;
  /** Of the run, and of the run that started it; absent: nothing is masked. */
  readonly guard?: GuardSession;
  /**
   * Has the model of the guard find names and addresses in what users say, which are masked from then on; absent: the guard has no model.
   *
   * @throws DomainError UPSTREAM_ERROR; see findPersonal.
   */
  readonly maskPersonal?: (messages: readonly ModelMessage[], charge: Charge, signal: AbortSignal) => Promise<void>;
  /** Undefined while tracing is off. */
  readonly tracing?: Tracing | undefined;
  readonly timings?: RunTimings;
  now(): Date;
  newId(kind: IdKind): string;
}

/** Where a run continues whose process died. */
export interface Continuation {
  /** The tool call that was under way and is made again; undefined: the model is asked next. */
  readonly call: ServerCallItem | undefined;
  /** Those that the call had started. */
  readonly subagents?: readonly SubagentRecord[];
  /** Index of the first output item of the current turn; calls for the client from there on end the turn. */
  readonly turnFrom: number;
}

/** How one run begins. */
export interface LoopStart {
  readonly runId: string;
  /** 0, or the next sequence number of a run that is taken over. */
  readonly firstSequence: number;
  /**
   * True: the first events leave at once, and every failure ends the run with `response.failed`. False: nothing is yielded before
   * the model's first token, and a failure until then is thrown.
   */
  readonly isEager: boolean;
  readonly secrets: Readonly<Record<string, string>>;
  /** The state of a run that continues after a pause or in place of a dead process; closed items only. */
  readonly before?: RunSnapshot;
  /** Set when the run continues in place of a dead process, between two model calls. */
  readonly continues?: Continuation;
  /** The finished steps of its flow, when the run goes on after a pause or in place of a dead process. */
  readonly flowSteps?: readonly FlowStepEvent[];
  /** The passages that it may cite already, in the order of their numbers. */
  readonly cited?: readonly Passage[];
  /** The calls of `deep_research` in earlier processes, and before pauses. */
  readonly researches?: readonly BegunResearch[];
  /** Rounds, tool calls and time used before. */
  readonly spent?: RunSpent;
  /** Model calls of dead processes whose answers are not in the log: they count as rounds. */
  readonly roundsLost?: number;
  /** Tokens that the run and others may use together; absent: no limit. */
  readonly allowance?: TokenAllowance;
  /** For a subagent: its share of its run's budget. */
  readonly budget?: RunBudget;
  /** The subagent that the run is; absent: none. */
  readonly subagent?: Pick<Subagent, 'id' | 'depth'>;
  /** Prefix of the idempotency keys of its tool calls. Default: the id of the run. */
  readonly keyPrefix?: string;
  /** For a stored run: makes sure that tools are called only while this process holds it. */
  readonly hold?: RunHold;
  /** Of the run that the subagent is in, or of whoever keeps what a stateless run did. Absent: the run has its own, which its last event tells. */
  readonly recorder?: RunRecorder;
  /** How others reach the run while it works; absent: only its signal does. */
  readonly control?: RunControl;
}
