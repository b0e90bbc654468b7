import type { ChatMessage } from '../../../entities/chats/chat.ts';
import type { LeasedRun } from '../../../storage/runs/runs.ts';
import type { ModelMessage, ModelParameters, ModelRequest, ModelTool, ResponseFormat } from '../../models/port.ts';
import type { AnswerCheck } from '../answer/gate.ts';
import { historyOf } from '../prompt/history.ts';
import type { Charge, RunPlan } from '../run-engine.ts';

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
  readonly responseFormat?: ResponseFormat;
  readonly answerCheck?: AnswerCheck;
  /** Names of tools of the service that the model may call. */
  readonly serverTools?: readonly string[];
  /** So are the tools of the run's agent that run here: they are read anew when the run begins. */
  readonly offersAgentTools?: true;
  readonly toolCallsMax?: number;
  readonly onlyTools?: readonly string[];
  /** It has secrets of the caller: a process without them ends it instead of running it with less, or with others. */
  readonly needsSecrets?: boolean;
  /** Of responses: what may join a running one must be of the same mode. */
  readonly chatMode?: string;
}

/** Said to a model that goes on after a pause, behind what it had said: providers want a turn of the user last. */
const goOn: ModelMessage = { role: 'user', content: 'You were interrupted. Go on from exactly where you stopped.' };

export function planOf(run: LeasedRun, transcript: readonly ChatMessage[], isResumed = false): RunPlan {
  const request = requestOf(run);
  const { instructions, tools, toolChoice, parallelToolCalls, parameters, knowledge, generateCitations, hidesSteps } = request;
  const { responseFormat, answerCheck, serverTools, offersAgentTools, toolCallsMax, onlyTools, inputTokensMax } = request;
  const instructionTokens = Math.ceil(instructions.length / 4);
  const said = historyOf(transcript, inputTokensMax === undefined ? undefined : Math.max(0, inputTokensMax - instructionTokens));
  const history = isResumed && said.at(-1)?.role === 'assistant' ? [...said, goOn] : said;
  return {
    modelId: run.modelId,
    messages: instructions === '' ? history : [{ role: 'system', content: instructions }, ...history],
    tools,
    parameters,
    isStreaming: true,
    generateCitations,
    hidesSteps,
    charge: chargeOf(run),
    ...(toolChoice === undefined ? {} : { toolChoice }),
    ...(parallelToolCalls === undefined ? {} : { parallelToolCalls }),
    ...(knowledge === null ? {} : { knowledge }),
    ...(responseFormat === undefined ? {} : { responseFormat }),
    ...(answerCheck === undefined ? {} : { answerCheck }),
    ...(serverTools === undefined ? {} : { serverTools }),
    ...(offersAgentTools === undefined ? {} : { offersAgentTools }),
    ...(onlyTools === undefined ? {} : { onlyTools }),
    ...(toolCallsMax === undefined ? {} : { toolCallsMax }),
    ...(inputTokensMax === undefined ? {} : { inputTokensMax }),
  };
}

export function chargeOf({ tenantId, orgId, userId, keyId, agentId, id }: LeasedRun): Charge {
  return { tenantId, orgId, userId, keyId, agentId, runId: id };
}

export function requestOf(run: LeasedRun): StoredRequest {
  return run.request as StoredRequest;
}
