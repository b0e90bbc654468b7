import type { ChatMessage } from '../../../entities/chat.ts';
import type { LeasedRun } from '../../../storage/runs.ts';
import type { ModelParameters, ModelRequest, ModelTool } from '../../models/port.ts';
import { historyOf } from '../history.ts';
import type { RunPlan } from '../run-engine.ts';

/** What is kept of a chat run besides its messages, so that any process can begin it. Secrets of the caller are never here. */
export interface StoredRequest {
  /** The system message; '' for none. */
  readonly instructions: string;
  readonly tools: readonly ModelTool[];
  readonly toolChoice?: ModelRequest['toolChoice'];
  readonly parallelToolCalls?: boolean;
  readonly parameters: ModelParameters;
  readonly inputTokensMax?: number;
  /** Where the agent's knowledge is: filtered again by storage when it is searched. */
  readonly knowledge: { readonly orgId: string; readonly dataSourceIds: readonly string[]; readonly question: string } | null;
  readonly generateCitations: boolean;
  readonly hidesSteps: boolean;
  /** Names the chat when the run ends and it has no name yet. */
  readonly chatName: string | null;
}

export function planOf(run: LeasedRun, transcript: readonly ChatMessage[]): RunPlan {
  const request = requestOf(run);
  const { instructions, tools, toolChoice, parallelToolCalls, parameters, knowledge, generateCitations, hidesSteps } = request;
  const history = historyOf(transcript, request.inputTokensMax);
  return {
    modelId: run.modelId,
    messages: instructions === '' ? history : [{ role: 'system', content: instructions }, ...history],
    tools,
    parameters,
    isStreaming: true,
    generateCitations,
    hidesSteps,
    charge: { orgId: run.orgId, userId: run.userId, keyId: run.keyId, agentId: run.agentId, runId: run.id },
    ...(toolChoice === undefined ? {} : { toolChoice }),
    ...(parallelToolCalls === undefined ? {} : { parallelToolCalls }),
    ...(knowledge === null ? {} : { knowledge }),
  };
}

export function requestOf(run: LeasedRun): StoredRequest {
  return run.request as StoredRequest;
}
