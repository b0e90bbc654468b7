import type { ModelMessage, ModelTool } from '../../engine/models/port.ts';
import type { ModelInfo } from '../../engine/models/router.ts';
import { historyOf } from '../../engine/runs/history.ts';
import type { RunPlan } from '../../engine/runs/run-engine.ts';
import type { StoredRequest } from '../../engine/runs/stored/request.ts';
import type { RunnableAgent } from '../../entities/agent.ts';
import type { Caller } from '../../entities/caller.ts';
import type { ChatMessage, NewMessage } from '../../entities/chat.ts';
import { DomainError } from '../../entities/errors.ts';
import type { ResponseHead } from '../../entities/response.ts';
import { fillVariables } from '../agent-parts/user-input.ts';
import { withAgentTools } from '../agent-tools.ts';
import { parametersOf } from '../completions.ts';
import { chatNameOf } from '../message-input.ts';
import type { ReadResponse, ResponseInput } from './input.ts';
import { questionOfMessages } from './messages.ts';

/** Who answers: a model, alone or as an agent has it. */
export interface Answerer {
  readonly agent: RunnableAgent | undefined;
  readonly model: ModelInfo;
}

const planning =
  'Do not carry anything out now. Answer with a plan: what you would do, in which order, and what you would need to know first.';

/** What a stored run is begun with, by whatever process. */
export function storedRequestOf(
  input: ResponseInput,
  read: ReadResponse,
  { agent, model }: Answerer,
  messages: readonly NewMessage[],
): StoredRequest {
  const question = questionOfMessages(messages);
  const { tools, parameters, responseFormat, chatMode } = read;
  const canPlanOnly = chatMode === 'plan';
  const ofAgent = agent === undefined ? '' : fillVariables(agent.instructions, agent.userInputs, {}).trim();
  const instructions = [ofAgent, input.instructions?.trim(), canPlanOnly ? planning : ''];
  const inputTokensMax = read.echo.truncation === 'auto' ? inputTokensMaxOf(agent, model) : undefined;
  return {
    instructions: instructions.filter((part) => part !== undefined && part !== '').join('\n\n'),
    ...(canPlanOnly ? { tools: [] } : agentTools(tools.functions, agent, tools.allowed)),
    parameters: agent === undefined ? parameters : { ...parametersOf(agent.options), ...parameters },
    knowledge:
      agent === undefined || agent.dataSourceIds.length === 0 || question === ''
        ? null
        : { orgId: agent.orgId, dataSourceIds: agent.dataSourceIds, question },
    generateCitations: agent?.generateCitations ?? false,
    hidesSteps: agent?.intermediateStepsVisible !== true,
    chatName: chatNameOf(question),
    serverTools: chatMode === 'execute' ? tools.serverTools : [],
    chatMode,
    ...(canPlanOnly || tools.choice === undefined ? {} : { toolChoice: tools.choice }),
    ...(tools.allowed === undefined ? {} : { onlyTools: tools.allowed }),
    ...(typeof input.parallelToolCalls === 'boolean' ? { parallelToolCalls: input.parallelToolCalls } : {}),
    ...(typeof input.maxToolCalls === 'number' ? { toolCallsMax: input.maxToolCalls } : {}),
    ...(responseFormat === undefined ? {} : { responseFormat }),
    ...(inputTokensMax === undefined ? {} : { inputTokensMax }),
  };
}

/** With those of the agent, as far as the request allows them. */
function agentTools(
  own: readonly ModelTool[],
  agent: RunnableAgent | undefined,
  allowed: readonly string[] | undefined,
): Pick<StoredRequest, 'tools' | 'offersAgentTools'> {
  return allowed === undefined ? withAgentTools(own, agent) : { tools: own };
}

/** The plan of a run that is not stored. */
export function planOf(
  caller: Caller,
  request: StoredRequest,
  { agent, model }: Answerer,
  transcript: readonly (ChatMessage | NewMessage)[],
  head: ResponseHead,
  run: { readonly id: string; readonly isStreaming: boolean },
): RunPlan {
  const { instructions, knowledge, chatName: _name, chatMode: _mode, inputTokensMax, ...rest } = request;
  const history = historyOf(transcript.map(asStored), inputTokensMax);
  const messages: readonly ModelMessage[] =
    instructions === '' ? history : [{ role: 'system', content: instructions }, ...history];
  return {
    ...rest,
    modelId: model.id,
    messages,
    isStreaming: run.isStreaming,
    head,
    charge: { orgId: caller.orgId, userId: caller.userId, keyId: caller.keyId, agentId: agent?.id ?? null, runId: run.id },
    ...(knowledge === null ? {} : { knowledge }),
  };
}

/**
 * Where nothing may be dropped, what is too long is refused.
 *
 * @throws DomainError CONTEXT_LENGTH_EXCEEDED
 */
export function requireRoomFor(
  read: ReadResponse,
  { agent, model }: Answerer,
  transcript: readonly (ChatMessage | NewMessage)[],
): void {
  if (read.echo.truncation === 'auto') return;
  const most = inputTokensMaxOf(agent, model);
  const length = transcript.reduce(
    (sum, { content, context }) => sum + (context === null ? content.length : textLength(context)),
    0,
  );
  // At four characters a token, as nobody knows the tokenizers of all models.
  if (most === undefined || length / 4 <= most) return;
  const message = `The conversation is longer than the ${most} tokens that are taken here; truncation "auto" drops its oldest turns`;
  throw new DomainError('CONTEXT_LENGTH_EXCEEDED', message, { param: 'input' });
}

/** Images are measured otherwise: what a data URL holds is no text. */
function textLength(context: readonly unknown[]): number {
  let length = 0;
  JSON.stringify(context, (name, value: unknown) => {
    if (typeof value === 'string' && name !== 'url') length += value.length;
    return value;
  });
  return length;
}

function inputTokensMaxOf(agent: RunnableAgent | undefined, model: ModelInfo): number | undefined {
  const own = agent?.options.maxInputTokens?.[0];
  const { contextTokensMax } = model;
  if (!(contextTokensMax > 0)) return own;
  return own === undefined ? contextTokensMax : Math.min(own, contextTokensMax);
}

function asStored(message: ChatMessage | NewMessage): ChatMessage {
  return { chatId: '', ordinal: 0, updatedAt: message.createdAt, ...message };
}
