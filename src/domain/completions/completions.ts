import type { ModelInfo } from '../../engine/models/catalog.ts';
import type { ModelMessage, ModelParameters, ModelPart } from '../../engine/models/port.ts';
import { RunFold } from '../../engine/runs/fold.ts';
import type { RunPlan } from '../../engine/runs/run-engine.ts';
import type { Caller } from '../../entities/accounts/caller.ts';
import type { AgentOptions, RunnableAgent } from '../../entities/agents/agent.ts';
import { DomainError } from '../../entities/errors.ts';
import { isId } from '../../entities/ids.ts';
import type { Citation } from '../../entities/knowledge/citation.ts';
import type { IncompleteReason, RunEventStream, RunSnapshot, Usage } from '../../entities/runs/event.ts';
import { agentForRun, modelIdOf } from '../agents/agents.ts';
import { fillVariables } from '../agents/parts/user-input.ts';
import { requireNoToolConflict, withAgentTools } from '../agents/tools.ts';
import { type ContextPart, type GivenSource, readGiven, requireGivenCount } from '../chats/given-files.ts';
import type { Deps } from '../deps.ts';
import { chargeTo } from '../usage/charges.ts';
import { type CompletionInput, type CompletionRequest, readCompletion, serverToolNames } from './input.ts';
import { type ImageAddress, imageAddressesOf, questionOf } from './messages.ts';

export type { CompletionInput } from './input.ts';

export type CompletionFinish = 'stop' | 'length' | 'tool_calls' | 'content_filter';

/** Why an answer is incomplete, in the terms of the responses format. */
export interface IncompleteDetails {
  readonly reason: IncompleteReason;
}

/** The result of a completion, in the terms of the chat completions format. */
export interface Completion {
  readonly content: string | null;
  readonly toolCalls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  readonly citations: readonly Citation[];
  readonly reasoning: string | null;
  readonly finish: CompletionFinish;
  /** The limit that cut the answer when `finish` is `length`; else null. */
  readonly incompleteDetails: IncompleteDetails | null;
  readonly usage: Usage;
  /** `provider/name` of the model that answered; null when unknown. */
  readonly resolvedModel: string | null;
}

/**
 * Runs one stateless completion. `model` names a model, or an agent that the caller may use: then its instructions, model, options
 * and knowledge apply.
 *
 * @param inOnePiece  whether the client reads no deltas, so that the model may answer in one piece.
 * @throws DomainError MODEL_NOT_FOUND, also for an agent that the caller may not see; with every fault of the input; and from the
 * first read of the stream, the refusals of the model.
 *
 * Cost: no promise and no statement while model and agent are cached; images by address are fetched first.
 */
export function runCompletion(
  deps: Deps,
  caller: Caller,
  input: CompletionInput,
  inOnePiece: boolean,
  signal: AbortSignal,
): RunEventStream | Promise<RunEventStream> {
  const request = readCompletion(input, deps.settings);
  const start = (agent: RunnableAgent | undefined) => {
    const run = (model: ModelInfo | undefined) => {
      if (model === undefined) throw missingModel(input.model);
      const begin = (messages: readonly ModelMessage[]) =>
        deps.runs.runStateless(planOf(caller, input, { ...request, messages }, model, agent, inOnePiece), signal);
      const addresses = imageAddressesOf(request.messages);
      if (addresses.length === 0) return begin(request.messages);
      return withImages(deps, caller, request.messages, addresses, model, signal).then(begin);
    };
    const found = deps.models.find(agent === undefined ? input.model : modelIdOf(deps, agent));
    return found instanceof Promise ? found.then(run) : run(found);
  };
  if (!isId('agent', input.model)) return start(undefined);
  const agent = agentOf(deps, caller, input.model);
  return agent instanceof Promise ? agent.then(start) : start(agent);
}

/** The messages with their images fetched. @throws DomainError naming each image that may not or cannot be fetched. */
async function withImages(
  deps: Deps,
  owner: Caller,
  messages: readonly ModelMessage[],
  addresses: readonly ImageAddress[],
  model: ModelInfo,
  signal: AbortSignal,
): Promise<readonly ModelMessage[]> {
  requireGivenCount('messages', addresses.length);
  const sources = addresses.map(({ param, part: { url, detail } }): GivenSource => {
    return { param, from: { url }, isImage: true, ...(detail === undefined ? {} : { detail }) };
  });
  const read = await readGiven(deps, sources, { owner, model, tokensMax: 0 }, signal);
  const images = new Map<ModelPart, ContextPart | undefined>(addresses.map(({ part }, index) => [part, read[index]]));
  return messages.map((message) => {
    if (message.role !== 'user' || typeof message.content === 'string') return message;
    return { ...message, content: message.content.map((part) => (images.get(part) ?? part) as ModelPart) };
  });
}

/** Runs the completion to its end. @throws DomainError also when the run failed in mid-stream. */
export async function createCompletion(
  deps: Deps,
  caller: Caller,
  input: CompletionInput,
  signal: AbortSignal,
): Promise<Completion> {
  const stream = await runCompletion(deps, caller, input, true, signal);
  const fold = new RunFold();
  for await (const batch of stream.batches()) fold.add(batch);
  return completionOf(fold.snapshot());
}

/** Converts a finished run into the chat completions format. @throws DomainError when it failed or was cancelled. */
export function completionOf(run: RunSnapshot): Completion {
  if (run.status === 'failed') {
    throw new DomainError(run.error?.code ?? 'SERVER_ERROR', run.error?.message ?? 'The run failed');
  }
  if (run.status === 'cancelled') throw new DomainError('CLIENT_CLOSED_REQUEST', 'The run was cancelled');
  const toolCalls = run.output.flatMap((item) =>
    item.type === 'function_call' ? [{ id: item.callId, name: item.name, arguments: item.arguments }] : [],
  );
  const messages = run.output.flatMap((item) => (item.type === 'message' ? [item] : []));
  const reasoning = run.output.flatMap((item) => (item.type === 'reasoning' ? [item.text] : []));
  return {
    content: messages.length === 0 && toolCalls.length > 0 ? null : messages.map((message) => message.text).join(''),
    toolCalls,
    citations: joinCitations(messages),
    reasoning: reasoning.length === 0 ? null : reasoning.join('\n'),
    finish: finishOf(run),
    incompleteDetails: incompleteDetailsOf(run),
    usage: run.usage ?? { inputTokens: 0, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0 },
    resolvedModel: run.selection === null ? null : `${run.selection.provider}/${run.selection.model}`,
  };
}

/**
 * Calls of tools that ran in the service are not the client's: they never lead to `tool_calls`. The format has one value for every limit, `length`;
 * `incompleteDetails` names the limit.
 */
export function finishOf(run: RunSnapshot): CompletionFinish {
  if (run.incompleteReason === 'content_filter') return 'content_filter';
  if (incompleteDetailsOf(run) !== null) return 'length';
  return run.output.some((item) => item.type === 'function_call') ? 'tool_calls' : 'stop';
}

/** The limit that cut an answer whose `finish` is `length`. */
export function incompleteDetailsOf({ incompleteReason }: RunSnapshot): IncompleteDetails | null {
  return incompleteReason === null || incompleteReason === 'content_filter' ? null : { reason: incompleteReason };
}

/** Whether the reply shows citations: the request's setting, else the agent's. */
function isCiting(input: CompletionInput, agent: RunnableAgent | undefined): boolean {
  return input.generateCitations ?? agent?.generateCitations ?? false;
}

function planOf(
  caller: Caller,
  input: CompletionInput,
  request: CompletionRequest,
  model: ModelInfo,
  agent: RunnableAgent | undefined,
  inOnePiece: boolean,
): RunPlan {
  const { toolChoice, responseFormat } = request;
  if (agent !== undefined) requireNoToolConflict(input.tools ?? [], agent);
  const instructions = agent === undefined ? '' : fillVariables(agent.instructions, agent.userInputs, {}).trim();
  const messages: readonly ModelMessage[] =
    instructions === '' ? request.messages : [{ role: 'system', content: instructions }, ...request.messages];
  const question = agent === undefined || agent.dataSourceIds.length === 0 ? '' : questionOf(messages).trim();
  const inputTokensMax = agent?.options.maxInputTokens?.[0];
  if (inputTokensMax !== undefined) requireInputFits(messages, inputTokensMax);
  return {
    modelId: model.id,
    messages,
    ...withAgentTools(request.tools, agent),
    serverTools: serverToolNames(input.tools ?? []),
    parameters: agent === undefined ? request.parameters : { ...parametersOf(agent.options), ...request.parameters },
    isStreaming: !inOnePiece,
    forgetsText: !inOnePiece,
    generateCitations: isCiting(input, agent),
    charge: chargeTo(caller, { agentId: agent?.id ?? null, runId: null }),
    ...(inputTokensMax === undefined ? {} : { inputTokensMax }),
    ...(toolChoice === undefined ? {} : { toolChoice }),
    ...(responseFormat === undefined ? {} : { responseFormat }),
    ...(typeof input.parallelToolCalls === 'boolean' ? { parallelToolCalls: input.parallelToolCalls } : {}),
    ...(agent === undefined || agent.dataSourceIds.length === 0
      ? {}
      : { knowledge: { orgId: agent.orgId, dataSourceIds: agent.dataSourceIds, question } }),
  };
}

/** The first value of each option is the one used. */
export function parametersOf(options: AgentOptions): ModelParameters {
  const given: Record<string, number> = {};
  for (const name of ['temperature', 'topP', 'topK', 'maxTokens', 'frequencyPenalty', 'presencePenalty'] as const) {
    const value = options[name]?.[0];
    if (value !== undefined) given[name] = value;
  }
  return given;
}

/** Counts four characters as a token: the tokenizers of all models are not known. */
function requireInputFits(messages: readonly ModelMessage[], most: number): void {
  let length = 0;
  for (const { content } of messages) {
    if (typeof content === 'string') length += content.length;
    else for (const part of content ?? []) length += part.type === 'text' ? part.text.length : 0;
  }
  if (length / 4 <= most) return;
  throw new DomainError('CONTEXT_LENGTH_EXCEEDED', `The messages are longer than the ${most} tokens this agent takes`, {
    param: 'messages',
  });
}

/** @throws DomainError MODEL_NOT_FOUND, also for an agent that the caller may not see. */
export function agentOf(deps: Deps, caller: Caller, id: string): RunnableAgent | Promise<RunnableAgent> {
  try {
    const agent = agentForRun(deps, caller, id);
    if (!(agent instanceof Promise)) return agent;
    return agent.catch((error: unknown) => {
      throw hidden(error, id);
    });
  } catch (error) {
    throw hidden(error, id);
  }
}

function hidden(error: unknown, id: string): unknown {
  return error instanceof DomainError && error.code === 'NOT_FOUND' ? missingModel(id) : error;
}

export function missingModel(id: string): DomainError {
  return new DomainError('MODEL_NOT_FOUND', `There is no model or agent "${id.slice(0, 100)}"`, { param: 'model' });
}

/** Positions in later messages count from the start of the joined text. */
function joinCitations(
  messages: readonly { readonly text: string; readonly citations: readonly Citation[] }[],
): readonly Citation[] {
  let offset = 0;
  return messages.flatMap(({ text, citations }) => {
    const start = offset;
    offset += text.length;
    return citations.map((citation) => ({
      ...citation,
      answerStart: citation.answerStart + start,
      answerEnd: citation.answerEnd + start,
    }));
  });
}
