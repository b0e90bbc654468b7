import type { ModelInfo } from '../../engine/models/catalog.ts';
import type { ModelMessage, ModelParameters, ModelTool } from '../../engine/models/port.ts';
import { asStored, historyOf, isCompressed } from '../../engine/runs/prompt/history.ts';
import type { RunPlan } from '../../engine/runs/run-engine.ts';
import { withFileImages } from '../../engine/runs/stored/file-images.ts';
import { flowMode, type StoredRequest } from '../../engine/runs/stored/request.ts';
import { skillInstructions } from '../../engine/tools/skills/skills.ts';
import type { Caller } from '../../entities/accounts/caller.ts';
import type { RunnableAgent } from '../../entities/agents/agent.ts';
import type { UserInputValues } from '../../entities/agents/part.ts';
import type { ChatMessage, NewMessage } from '../../entities/chats/chat.ts';
import { DomainError } from '../../entities/errors.ts';
import type { ResponseHead, WireObject } from '../../entities/runs/response.ts';
import type { EnabledTool } from '../../entities/runs/tool.ts';
import { type ChosenFlow, flowPlanOf, toolsOfFlow } from '../agents/flow-choice.ts';
import { parametersOf } from '../agents/options.ts';
import { fillVariables } from '../agents/parts/user-input.ts';
import { offeredSkills, withAgentTools } from '../agents/tools.ts';
import { chatNameOf } from '../chats/message-input.ts';
import { routingFor, showsOutputs, showsSteps } from '../chats/options.ts';
import { visibleQuestionOf } from '../chats/transcripts.ts';
import { withStandingTools } from '../completions/service-tools.ts';
import type { AllowedTools } from '../completions/tool-choice.ts';
import type { Deps } from '../deps.ts';
import { chargeTo } from '../usage/charges.ts';
import type { ReadResponse, ResponseInput } from './input.ts';
import { questionOfMessages } from './messages.ts';
import { agentInMode, toolsInMode } from './modes.ts';

/** The model that answers, alone or for an agent. */
export interface Answerer {
  readonly agent: RunnableAgent | undefined;
  readonly model: ModelInfo;
  /** The chat's values for the agent's user inputs; empty when the chat is with another agent. */
  readonly userInputs: UserInputValues;
  /** The flow that answers; undefined: the plain loop. */
  readonly flow: ChosenFlow | undefined;
}

const planning =
  'Do not carry anything out now. Answer with a plan: what you would do, in which order, and what you would need to know first.';

/** The data by which any process can start a stored run. */
export function storedRequestOf(
  { tools: registry, now, models }: Pick<Deps, 'tools' | 'now' | 'models'>,
  input: ResponseInput,
  read: ReadResponse,
  { agent, model, userInputs, flow }: Answerer,
  messages: readonly NewMessage[],
  caller: Caller,
): StoredRequest {
  const question = questionOfMessages(messages);
  const { tools, responseFormat, chatMode } = read;
  const canPlanOnly = chatMode === 'plan';
  const offered = agentInMode(registry, chatMode, agent);
  // A call despite tool_choice "none" is refused.
  const { choice, forcedTool, allowed } = tools.choice;
  const onlyTools = choice === 'none' ? [] : allowed?.functions;
  const standing = allowed === undefined ? (offered?.enabledTools ?? []) : [];
  const serviceTools = withStandingTools(toolsInMode(registry, chatMode, tools.serviceTools), standing);
  const ofAgent = agent === undefined ? '' : fillVariables(agent.instructions, agent.userInputs, userInputs).trim();
  const skills = agent === undefined ? '' : skillInstructions(agent, mayReadSkills(read, flow));
  const instructions = [ofAgent, input.instructions?.trim(), canPlanOnly ? planning : '', skills];
  const inputTokensMax = read.echo.truncation === 'auto' ? inputTokensMaxOf(agent, model) : undefined;
  const own = {
    ...(canPlanOnly
      ? { tools: [], ...(mayReadSkills(read, flow) ? offeredSkills(offered) : {}) }
      : agentTools(tools.functions, offered, allowed)),
    serviceTools,
  };
  return {
    instructions: instructions.filter((part) => part !== undefined && part !== '').join('\n\n'),
    ...(flow === undefined ? own : toolsOfFlow(flow, agent)),
    parameters: samplingOf(read, agent),
    knowledge:
      agent === undefined || agent.dataSourceIds.length === 0
        ? null
        : { orgId: agent.orgId, dataSourceIds: agent.dataSourceIds, question },
    generateCitations: agent?.generateCitations ?? serviceTools.some(({ type }) => isSearch(type)),
    hidesSteps: !showsSteps(caller, agent, read.options),
    hidesOutputs: !showsOutputs(caller, agent),
    chatName: chatNameOf(visibleQuestionOf(messages)),
    ...routingFor({ models }, model.id, read.options),
    ...(forcedTool === undefined ? {} : { forcedTool }),
    ...(flow === undefined || agent === undefined
      ? { chatMode }
      : { chatMode: flowMode, flow: flowPlanOf(flow, agent, { input: question, date: now(), userInputs }) }),
    // One in the background is followed while it happens.
    ...(input.stream === false && !read.isBackground ? { isWhole: true } : {}),
    ...(Object.keys(read.secrets).length > 0 ? { needsSecrets: true } : {}),
    ...(choice === undefined || (canPlanOnly && choice === 'auto') ? {} : { toolChoice: choice }),
    ...(onlyTools === undefined ? {} : { onlyTools }),
    ...(typeof input.parallelToolCalls === 'boolean' ? { parallelToolCalls: input.parallelToolCalls } : {}),
    ...(typeof input.maxToolCalls === 'number' ? { toolCallsMax: input.maxToolCalls } : {}),
    ...(responseFormat === undefined ? {} : { responseFormat, answerCheck: input.stream === true ? 'streamed' : 'held' }),
    ...(inputTokensMax === undefined ? {} : { inputTokensMax }),
  };
}

/** In the common format, a model cites what its searches found. */
function isSearch(type: EnabledTool['type']): boolean {
  return type === 'web_search' || type === 'file_search' || type === 'deep_research';
}

/** Whether the model may call `use_skill`. */
export function mayReadSkills({ tools: { choice }, chatMode }: ReadResponse, flow: ChosenFlow | undefined): boolean {
  return chatMode !== 'chat' && flow === undefined && choice.allowed === undefined && choice.choice !== 'none';
}

/** The request's sampling, else the agent's. */
function samplingOf({ parameters }: ReadResponse, agent: RunnableAgent | undefined): ModelParameters {
  return agent === undefined ? parameters : { ...parametersOf(agent.options), ...parameters };
}

/** The members of a response that repeat its request, with the sampling that is used. */
export function echoOf(input: ResponseInput, read: ReadResponse, { agent, model }: Answerer): WireObject {
  const { temperature, topP, presencePenalty, frequencyPenalty, maxTokens } = samplingOf(read, agent);
  return {
    ...read.echo,
    model: input.model ?? agent?.id ?? model.id,
    max_output_tokens: maxTokens ?? null,
    temperature: temperature ?? 1,
    top_p: topP ?? 1,
    presence_penalty: presencePenalty ?? 0,
    frequency_penalty: frequencyPenalty ?? 0,
  };
}

/** The functions of a request with those of its agent, as far as the request allows them. */
function agentTools(
  own: readonly ModelTool[],
  agent: RunnableAgent | undefined,
  allowed: AllowedTools | undefined,
): Pick<StoredRequest, 'tools' | 'offersAgentTools' | 'offersSkills'> {
  return allowed === undefined ? withAgentTools(own, agent) : { tools: own };
}

/** The plan of a run that is not stored, including the bytes of its images. */
export async function planOf(
  { storage }: Deps,
  caller: Caller,
  request: StoredRequest,
  { agent, model }: Answerer,
  transcript: readonly (ChatMessage | NewMessage)[],
  head: ResponseHead,
  run: { readonly id: string; readonly isStreaming: boolean },
): Promise<RunPlan> {
  const { instructions, knowledge, chatName: _name, chatMode: _mode, needsSecrets: _secrets, inputTokensMax, ...rest } = request;
  const history = historyOf(transcript.map(asStored), inputTokensMax);
  const said: readonly ModelMessage[] = instructions === '' ? history : [{ role: 'system', content: instructions }, ...history];
  const seeing = { orgId: caller.orgId, acceptsImages: model.acceptsImages };
  const messages = await withFileImages(said, seeing, storage.blobs);
  return {
    ...rest,
    modelId: model.id,
    messages,
    isStreaming: run.isStreaming,
    head,
    charge: chargeTo(caller, { agentId: agent?.id ?? null, runId: run.id }),
    ...(knowledge === null ? {} : { knowledge }),
  };
}

/**
 * Refuses a request that is too long when nothing may be dropped.
 *
 * @throws DomainError CONTEXT_LENGTH_EXCEEDED
 */
export function requireRoomFor(
  read: ReadResponse,
  { agent, model }: Answerer,
  transcript: readonly (ChatMessage | NewMessage)[],
  messagesMax: number,
): void {
  if (read.echo.truncation === 'auto') return;
  const compressed = transcript.findLastIndex(isCompressed);
  const told = transcript.slice(compressed + 1);
  if (told.length > messagesMax) throw tooLong(`${messagesMax} messages`);
  const most = inputTokensMaxOf(agent, model);
  const length = told.reduce(
    (sum, { content, context }) => sum + (context === null ? content.length : textLength(context)),
    transcript[compressed]?.compression?.length ?? 0,
  );
  // At four characters a token: the tokenizers of all models are not known.
  if (most !== undefined && length / 4 > most) throw tooLong(`${most} tokens`);
}

function tooLong(most: string): DomainError {
  const message = `The conversation is longer than the ${most} that are taken here; truncation "auto" drops its oldest turns`;
  return new DomainError('CONTEXT_LENGTH_EXCEEDED', message, { param: 'input' });
}

/** Images are measured separately: a data URL is not text. */
function textLength(context: readonly unknown[]): number {
  let length = 0;
  JSON.stringify(context, (name, value: unknown) => {
    if (typeof value === 'string' && name !== 'url') length += value.length;
    return value;
  });
  return length;
}

/** Most tokens of text of a request's files; unlimited when nothing may be dropped, because a request that is too long is refused then. */
export function fileTokensMaxOf({ settings }: Deps, read: ReadResponse, { agent, model }: Answerer): number {
  if (read.echo.truncation !== 'auto') return Number.POSITIVE_INFINITY;
  return Math.min(settings.CHAT_FILE_TOKENS_MAX, Math.floor((inputTokensMaxOf(agent, model) ?? Number.POSITIVE_INFINITY) / 2));
}

function inputTokensMaxOf(agent: RunnableAgent | undefined, model: ModelInfo): number | undefined {
  const own = agent?.options.maxInputTokens?.[0];
  const { contextTokensMax } = model;
  if (!(contextTokensMax > 0)) return own;
  return own === undefined ? contextTokensMax : Math.min(own, contextTokensMax);
}
