import { createHash } from 'node:crypto';
import type { ModelMessage, ModelRequest } from '../../models/port.ts';
import { choiceFor } from '../../plan/choice.ts';
import type { RunPlan } from '../../plan/plan.ts';
import type { RunTools } from '../calls/run-tools.ts';

/** The state of a run when it asks its model. */
interface Turn {
  /** The model may call no tool. */
  readonly mustAnswer: boolean;
  /** The model has called a tool: a forced call is satisfied. */
  readonly hasCalled: boolean;
}

/** The cache key of a conversation, for the requests of a run in it. */
export function writeCacheKey({ chatId }: Pick<RunPlan, 'chatId'>): Pick<ModelRequest, 'cacheKey'> {
  if (chatId === undefined || chatId === null) return {};
  return { cacheKey: createHash('sha256').update(chatId).digest('base64url') };
}

/** Builds the next model request of a run. */
export function makeRequest(
  plan: RunPlan,
  tools: RunTools,
  messages: readonly ModelMessage[],
  ending: string | undefined,
  { mustAnswer, hasCalled }: Turn,
): ModelRequest {
  const isForcing = plan.forcedTool !== undefined && !hasCalled && !mustAnswer;
  const offeredTools = tools.definitions(isForcing);
  const toolChoice = mustAnswer && tools.all.size > 0 ? 'none' : choiceFor(plan.toolChoice, hasCalled, offeredTools);
  return {
    model: plan.modelId,
    messages,
    ...(ending === undefined ? {} : { ending }),
    ...writeCacheKey(plan),
    tools: offeredTools,
    parameters: plan.parameters,
    isStreaming: plan.isStreaming,
    ...(plan.isWhole === undefined ? {} : { isWhole: plan.isWhole }),
    ...(toolChoice === undefined ? {} : { toolChoice }),
    ...(plan.parallelToolCalls === undefined ? {} : { parallelToolCalls: plan.parallelToolCalls }),
    ...(plan.routing === undefined ? {} : { routing: plan.routing }),
    ...(plan.responseFormat === undefined ? {} : { responseFormat: plan.responseFormat }),
  };
}
