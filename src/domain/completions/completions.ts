import type { ModelInfo } from '../../engine/models/catalog.ts';
import type { ModelMessage, ModelPart } from '../../engine/models/port.ts';
import { RunFold } from '../../engine/runs/fold.ts';
import { awaitedCall, documentsOf, imagesOf } from '../../engine/runs/prompt/transcript.ts';
import type { RunPlan } from '../../engine/runs/run-engine.ts';
import { withFileImages } from '../../engine/runs/stored/file-images.ts';
import { isForcing } from '../../engine/runs/tools/choice.ts';
import type { ToolRegistry } from '../../engine/tools/registry.ts';
import { skillInstructions } from '../../engine/tools/skills/skills.ts';
import type { Caller } from '../../entities/accounts/caller.ts';
import type { RunnableAgent } from '../../entities/agents/agent.ts';
import type { FlowStepRecord } from '../../entities/agents/flow.ts';
import type { ToolCall } from '../../entities/chats/chat.ts';
import { DomainError } from '../../entities/errors.ts';
import type { StoredFile } from '../../entities/files/file.ts';
import { isId } from '../../entities/ids.ts';
import type { Citation } from '../../entities/knowledge/citation.ts';
import type { IncompleteReason, RunEvent, RunEventStream, RunSnapshot, Usage } from '../../entities/runs/event.ts';
import type { OutputFile } from '../../entities/runs/tool.ts';
import type { Warning } from '../../entities/warning.ts';
import { agentForRun, modelIdOf } from '../agents/agents.ts';
import { type ChosenFlow, chooseFlow, type FlowTurn, flowPlanOf, toolsOfFlow } from '../agents/flow-choice.ts';
import { parametersOf } from '../agents/options.ts';
import { fillVariables } from '../agents/parts/user-input.ts';
import { withAgentTools } from '../agents/tools.ts';
import { runWarnings } from '../agents/warnings.ts';
import { type AttachmentSource, type ContextPart, readAttachments, requireAttachmentCount } from '../chats/attachments.ts';
import { routingFor, showsOutputs, showsSteps } from '../chats/options.ts';
import type { Deps } from '../deps.ts';
import { Faults } from '../faults.ts';
import { findFiles } from '../files/files.ts';
import { answersOfCompletion, settleApprovals } from '../runs/approvals.ts';
import { missingGrants } from '../runs/missing-grants.ts';
import { requireNamedParts } from '../runs/named-parts.ts';
import { functionsAmong, requireFreeNames } from '../runs/tool-names.ts';
import { chargeTo } from '../usage/charges.ts';
import { type CompletionInput, type CompletionRequest, readCompletion } from './input.ts';
import { questionOf, type RequestPart } from './messages.ts';
import { requireReadableTools } from './requested-tools.ts';
import { withStandingTools } from './service-tools.ts';
import { requireForcedTool } from './tool-choice.ts';

export type { CompletionInput } from './input.ts';

export type CompletionFinish = 'stop' | 'length' | 'tool_calls' | 'content_filter';

/** Why an answer is incomplete, in the terms of the responses format. */
export interface IncompleteDetails {
  readonly reason: IncompleteReason;
}

/** How the reply is sent. */
export interface CompletionTerms {
  /** The client reads no deltas, so the model may answer in one piece. */
  readonly inOnePiece: boolean;
  /** The client takes what the service adds to the format. */
  readonly takesExtensions: boolean;
}

/** The result of a completion, in the words of the common format. */
export interface Completion {
  readonly content: string | null;
  readonly toolCalls: readonly ToolCall[];
  readonly citations: readonly Citation[];
  readonly reasoning: string | null;
  /** Images that tools of the service made, by their addresses. */
  readonly images: readonly string[];
  /** Other files that they made. */
  readonly files: readonly OutputFile[];
  readonly finish: CompletionFinish;
  /** The limit that cut the answer when `finish` is `length`; else null. */
  readonly incompleteDetails: IncompleteDetails | null;
  readonly usage: Usage;
  /** The finished steps of the agent's flow, where the caller sees them. */
  readonly flowSteps: readonly FlowStepRecord[];
  /** What of the agent had no effect. */
  readonly warnings: readonly Warning[];
  /** `provider/name` of the model that answered; null when unknown. */
  readonly resolvedModel: string | null;
}

/**
 * Runs one stateless completion. `model` names a model, or an agent that the caller may use: then its instructions, model, options
 * and knowledge apply.
 *
 * @throws DomainError MODEL_NOT_FOUND, also for an agent that the caller may not see; with every fault of the input; and from the
 * first read of the stream, the refusals of the model.
 *
 * Cost: no promise and no statement while model and agent are cached; files and addresses are read first.
 */
export function runCompletion(
  deps: Deps,
  caller: Caller,
  input: CompletionInput,
  terms: CompletionTerms,
  signal: AbortSignal,
): RunEventStream | Promise<RunEventStream> {
  const request = readCompletion(input, deps.settings, deps.tools);
  const start = (agent: RunnableAgent | undefined) => {
    const readable = requireReadableTools(deps, caller, { enabled: request.serviceTools, written: input.tools }, agent);
    const grants = () => {
      const missing = missingGrants(deps, caller, request.serviceTools, agent);
      return missing instanceof Promise ? missing.then((warnings) => startWith(agent, warnings)) : startWith(agent, missing);
    };
    return readable instanceof Promise ? readable.then(grants) : grants();
  };
  const startWith = (agent: RunnableAgent | undefined, missing: readonly Warning[]) => {
    const run = (model: ModelInfo | undefined) => {
      if (model === undefined) throw missingModel(input.model);
      requireForcedTool(request.toolChoice, agent);
      const routing = routingFor(deps, model.id, request.options);
      const question = questionOf(request.messages);
      const begin = (messages: readonly ModelMessage[], flow: ChosenFlow | undefined) => {
        const said = { ...request, messages, question, flow, date: deps.now(), missingGrants: missing };
        const plan = { ...planOf(deps.tools, caller, input, said, model, agent, terms), ...routing };
        const answers = answersOfCompletion(request.messages, request.tools, agent);
        if (answers.length === 0) return deps.runs.runStateless(plan, signal, request.secrets);
        return settleApprovals(deps, caller, answers).then(async ({ approvals, ids }) => {
          await deps.storage.approvals.answer(ids);
          return deps.runs.runStateless(approvals === undefined ? plan : { ...plan, approvals }, signal, request.secrets);
        });
      };
      const named = requireFreeNames(deps, caller, functionsAmong(input.tools ?? []), agent, request.serviceTools);
      const chosen = chooseFlow(deps, caller, agent, flowTurnOf(request));
      const isReady = named === undefined && request.given.length === 0;
      if (isReady && !(chosen instanceof Promise)) return begin(request.messages, chosen);
      const said = withGiven(deps, caller, request, model, agent, signal);
      return Promise.all([said, chosen, named]).then(([messages, flow]) => begin(messages, flow));
    };
    const found = deps.models.find(agent === undefined ? input.model : modelIdOf(deps, agent));
    return found instanceof Promise ? found.then(run) : run(found);
  };
  const answer = () => {
    if (!isId('agent', input.model)) return start(undefined);
    const agent = agentOf(deps, caller, input.model);
    return agent instanceof Promise ? agent.then(start) : start(agent);
  };
  const allowed = requireNamedParts(deps, caller, input.tools);
  return allowed instanceof Promise ? allowed.then(answer) : answer();
}

function flowTurnOf({ options, messages, toolChoice }: CompletionRequest): FlowTurn {
  const hasToolOutputs = messages.at(-1)?.role === 'tool';
  return { override: options.override, chatMode: 'execute', hasToolOutputs, isForcing: isForcing(toolChoice.choice) };
}

/**
 * The messages with what their files and addresses hold: images as images, everything else as text.
 *
 * @throws DomainError naming each file that is not the caller's, and each address that may not or cannot be fetched.
 */
async function withGiven(
  deps: Deps,
  owner: Caller,
  { messages, given }: CompletionRequest,
  model: ModelInfo,
  agent: RunnableAgent | undefined,
  signal: AbortSignal,
): Promise<readonly ModelMessage[]> {
  requireAttachmentCount('messages', given.length);
  const files = await filesOf(deps, owner, given);
  const sources = given.map(({ from, part: _part, ...about }): AttachmentSource => {
    const file = 'fileId' in from ? files.get(from.fileId) : from;
    if (file === undefined) throw new Error('a file that was found is missing');
    return { ...about, from: file };
  });
  const half = Math.floor((agent?.options.maxInputTokens?.[0] ?? model.contextTokensMax) / 2);
  const tokensMax = Math.min(deps.settings.CHAT_FILE_TOKENS_MAX, half);
  const read = await readAttachments(deps, sources, { owner, model, tokensMax }, signal);
  const contents = new Map<ModelPart, ContextPart | undefined>(given.map(({ part }, index) => [part, read[index]]));
  const filled = messages.map((message) => {
    if (message.role !== 'user' || typeof message.content === 'string') return message;
    const content = message.content.map((part) => contents.get(part) ?? part);
    // A model without images may take texts only as one.
    if (!content.every((part) => part.type === 'text')) return { ...message, content: content as readonly ModelPart[] };
    return { ...message, content: content.map(({ text }) => text).join('\n\n') };
  });
  return withFileImages(filled, { orgId: owner.orgId, acceptsImages: model.acceptsImages }, deps.storage.blobs);
}

/** The files that are named, in one statement. Another user's file and one without content are answered like a missing file. */
async function filesOf(deps: Deps, caller: Caller, given: readonly RequestPart[]): Promise<ReadonlyMap<string, StoredFile>> {
  const named = given.flatMap(({ param, from }) => ('fileId' in from ? [{ param, id: from.fileId }] : []));
  const ids = named.map(({ id }) => id);
  const files = new Map((await findFiles(deps, caller, ids)).map((file) => [file.id, file]));
  const faults = new Faults();
  for (const { param, id } of named) {
    if (!files.has(id)) faults.add(param, `${param} names no file of yours, or one without content`);
  }
  faults.throwIfAny();
  return files;
}

/** Runs the completion to its end. @throws DomainError also when the run failed in mid-stream. */
export async function createCompletion(
  deps: Deps,
  caller: Caller,
  input: CompletionInput,
  takesExtensions: boolean,
  signal: AbortSignal,
): Promise<Completion> {
  const stream = await runCompletion(deps, caller, input, { inOnePiece: true, takesExtensions }, signal);
  const fold = new RunFold();
  let warnings: readonly Warning[] = [];
  for await (const batch of stream.batches()) {
    warnings = [...warnings, ...warningsIn(batch)];
    fold.add(batch);
  }
  return completionOf(fold.snapshot(), warnings);
}

/** The warnings in a batch: its run's first event has them, and its last. */
export function warningsIn(events: readonly RunEvent[]): readonly Warning[] {
  return events.flatMap((event) => ('run' in event ? (event.run.warnings ?? []) : []));
}

/** Converts a finished run into the common format. @throws DomainError when it failed or was cancelled. */
export function completionOf(run: RunSnapshot, warnings: readonly Warning[] = []): Completion {
  if (run.status === 'failed') {
    throw new DomainError(run.error?.code ?? 'SERVER_ERROR', run.error?.message ?? 'The run failed');
  }
  if (run.status === 'cancelled') throw new DomainError('CLIENT_CLOSED_REQUEST', 'The run was cancelled');
  const toolCalls = run.output.flatMap((item) => (item.type === 'function_call' ? [awaitedCall(item)] : []));
  const messages = run.output.flatMap((item) => (item.type === 'message' ? [item] : []));
  const reasoning = run.output.flatMap((item) => (item.type === 'reasoning' ? [item.text] : []));
  return {
    content: messages.length === 0 && toolCalls.length > 0 ? null : messages.map((message) => message.text).join(''),
    toolCalls,
    citations: joinCitations(messages),
    reasoning: reasoning.length === 0 ? null : reasoning.join('\n'),
    images: imagesOf(run.output).map(({ url }) => url),
    files: documentsOf(run.output),
    finish: finishOf(run),
    incompleteDetails: incompleteDetailsOf(run),
    usage: run.usage ?? { inputTokens: 0, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0 },
    flowSteps: run.flowSteps ?? [],
    warnings,
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

/** Whether the reply shows citations: as the request says, else as the agent is set up, for callers who take additions to the format. */
function isCiting(input: CompletionInput, agent: RunnableAgent | undefined, takesExtensions: boolean): boolean {
  return input.generateCitations ?? (takesExtensions && agent?.generateCitations === true);
}

/** A request with what was found out about it. */
interface BegunCompletion extends CompletionRequest {
  readonly question: string;
  readonly flow: ChosenFlow | undefined;
  readonly date: Date;
  readonly missingGrants: readonly Warning[];
}

function planOf(
  registry: ToolRegistry,
  caller: Caller,
  input: CompletionInput,
  request: BegunCompletion,
  model: ModelInfo,
  agent: RunnableAgent | undefined,
  { inOnePiece, takesExtensions }: CompletionTerms,
): RunPlan {
  const { responseFormat } = request;
  const { choice: toolChoice, forcedTool } = request.toolChoice;
  const showsExtensions = takesExtensions && input.streamOptions?.includeExtensions !== false;
  const { flow } = request;
  const mayReadSkills = flow === undefined && request.toolChoice.allowed === undefined && toolChoice !== 'none';
  const warnings = runWarnings(agent, registry, {
    isFlow: flow !== undefined,
    hasTools: (input.tools ?? []).length > 0,
    mayReadSkills,
    missingGrants: request.missingGrants,
  });
  const instructions = agent === undefined ? '' : instructionsOf(agent, mayReadSkills);
  const messages: readonly ModelMessage[] =
    instructions === '' ? request.messages : [{ role: 'system', content: instructions }, ...request.messages];
  const question = agent === undefined || agent.dataSourceIds.length === 0 ? '' : request.question.trim();
  const inputTokensMax = agent?.options.maxInputTokens?.[0];
  if (inputTokensMax !== undefined) requireInputFits(messages, inputTokensMax);
  return {
    modelId: model.id,
    messages,
    ...toolsOf(request, agent),
    ...(forcedTool === undefined ? {} : { forcedTool }),
    parameters: agent === undefined ? request.parameters : { ...parametersOf(agent.options), ...request.parameters },
    isStreaming: !inOnePiece,
    forgetsText: !inOnePiece,
    ...(warnings.length === 0 || !showsExtensions ? {} : { warnings }),
    generateCitations: isCiting(input, agent, showsExtensions),
    hidesSteps: !showsExtensions || !showsSteps(caller, agent, request.options),
    hidesOutputs: !showsOutputs(caller, agent),
    charge: chargeTo(caller, { agentId: agent?.id ?? null, runId: null }),
    ...(flow === undefined || agent === undefined
      ? {}
      : { flow: flowPlanOf(flow, agent, { input: request.question, date: request.date, userInputs: {} }) }),
    ...(inputTokensMax === undefined ? {} : { inputTokensMax }),
    ...(toolChoice === undefined ? {} : { toolChoice }),
    ...(responseFormat === undefined ? {} : { responseFormat }),
    ...(typeof input.parallelToolCalls === 'boolean' ? { parallelToolCalls: input.parallelToolCalls } : {}),
    ...(agent === undefined || agent.dataSourceIds.length === 0
      ? {}
      : { knowledge: { orgId: agent.orgId, dataSourceIds: agent.dataSourceIds, question } }),
  };
}

function instructionsOf(agent: RunnableAgent, mayReadSkills: boolean): string {
  const own = fillVariables(agent.instructions, agent.userInputs, {}).trim();
  const skills = skillInstructions(agent, mayReadSkills);
  return [own, skills].filter((part) => part !== '').join('\n\n');
}

/** A flow calls the agent's tools only. */
function toolsOf(
  { tools, serviceTools, toolChoice: { allowed }, flow }: CompletionRequest & { readonly flow: ChosenFlow | undefined },
  agent: RunnableAgent | undefined,
): Pick<RunPlan, 'tools' | 'serviceTools' | 'offersAgentTools' | 'offersSkills' | 'onlyTools'> {
  if (flow !== undefined) return toolsOfFlow(flow, agent);
  if (allowed !== undefined) return { tools, serviceTools, onlyTools: allowed.functions };
  return { ...withAgentTools(tools, agent), serviceTools: withStandingTools(serviceTools, agent?.enabledTools ?? []) };
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
