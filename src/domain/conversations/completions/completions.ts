import type { ModelInfo } from '../../../engine/models/catalog.ts';
import type { ModelMessage, ModelPart } from '../../../engine/models/port.ts';
import type { RunPlan } from '../../../engine/plan/plan.ts';
import { RunFold } from '../../../engine/runs/events/fold.ts';
import { withFileImages } from '../../../engine/runs/model/file-images.ts';
import { withMessages } from '../../../engine/runs/stored/request.ts';
import type { RunnableAgent } from '../../../entities/agents/agent.ts';
import { requireAnswer, warningsIn } from '../../../entities/conversations/runs/answer.ts';
import type { RunEventStream, RunSnapshot } from '../../../entities/conversations/runs/event.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { Warning } from '../../../entities/ground/warning.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Deps } from '../../deps.ts';
import {
  type AttachmentSource,
  type ContextPart,
  readAttachments,
  requireAttachmentCount,
} from '../../ground/attachments/attachments.ts';
import { requireOwnFiles } from '../../ground/attachments/own-files.ts';
import { chargeTo } from '../../ground/charges.ts';
import { modelFor } from '../chats/messages.ts';
import { answersOfCompletion, settleApprovals } from '../runs/approvals.ts';
import { type Answerer, admitAnswerer, answererNamed, planRun } from '../runs/plan.ts';
import { type CompletionInput, type CompletionRequest, readCompletion } from './input.ts';
import { findQuestion } from './messages.ts';

export type { CompletionInput } from './input.ts';

/** How the reply is sent. */
export interface CompletionTerms {
  /** The client reads no deltas, so the model may answer in one piece. */
  readonly inOnePiece: boolean;
  /** The last event has the whole text: it is buffered while deltas are sent. */
  readonly repeatsText: boolean;
  /** The client takes what the service adds to the format. */
  readonly takesExtensions: boolean;
}

/**
 * Runs one stateless completion. `model` names a model, or an agent that the caller may use: then its instructions, model, options
 * and knowledge apply.
 *
 * @throws DomainError MODEL_NOT_FOUND, also for an agent that the caller may not see; with every fault of the input; and from the
 * first read of the stream, the refusals of the model.
 *
 * Cost: no statement while model and agent are cached; files and addresses are read first.
 */
export async function runCompletion(
  deps: Deps,
  caller: Caller,
  input: CompletionInput,
  terms: CompletionTerms,
  signal: AbortSignal,
): Promise<RunEventStream> {
  const { plan, request, agent } = await planCompletion(deps, caller, input, terms, signal);
  const answers = answersOfCompletion(request.messages, request.tools.functions, agent);
  const approvals = answers.length === 0 ? undefined : await answeredApprovals(deps, caller, answers);
  return deps.runs.runStateless(approvals === undefined ? plan : { ...plan, approvals }, signal, request.secrets);
}

/**
 * Counts the input tokens of a request for a completion: what the model would get first, with the tools and the passages of its agent. Nothing is
 * kept, and no model is asked.
 *
 * @throws DomainError like `runCompletion`.
 */
export async function countCompletionInput(
  deps: Deps,
  caller: Caller,
  input: CompletionInput,
  signal: AbortSignal,
): Promise<number> {
  const terms = { inOnePiece: true, repeatsText: false, takesExtensions: true };
  const { plan } = await planCompletion(deps, caller, input, terms, signal);
  return deps.runs.countInput(plan, signal);
}

async function planCompletion(
  deps: Deps,
  caller: Caller,
  input: CompletionInput,
  terms: CompletionTerms,
  signal: AbortSignal,
): Promise<{ readonly plan: RunPlan; readonly request: CompletionRequest; readonly agent: RunnableAgent | undefined }> {
  const request = readCompletion(input, deps.settings, deps.tools);
  const choice = { version: input.version, canary: { key: caller.userId, begunAt: deps.now() } };
  const lookup = answererNamed(deps, caller, input.model, undefined, choice);
  const named = lookup instanceof Promise ? await lookup : lookup;
  const { modelId } = input;
  const chosen = modelId === undefined || modelId === null ? named : await withModel(deps, named, modelId);
  const answerer = await admitAnswerer(deps, caller, request, chosen);
  const { agent, model } = answerer;
  const messages = request.given.length === 0 ? request.messages : await withGiven(deps, caller, request, model, agent, signal);
  const inputTokensMax = agent?.options.maxInputTokens?.[0];
  const subject = { question: findQuestion(request.messages), date: deps.now(), inputTokensMax };
  const planned = withMessages(planRun(deps, caller, request, answerer, subject), messages);
  if (inputTokensMax !== undefined) requireInputFits(planned.messages, inputTokensMax);
  const { takesExtensions } = terms;
  const warnings = takesExtensions ? [...answerer.warnings, ...request.warnings] : request.warnings;
  const checksAnswer = planned.responseFormat?.type === 'json_object';
  const plan: RunPlan = {
    ...planned,
    modelId: model.id,
    isStreaming: !terms.inOnePiece,
    // Checked text, and text with log probabilities, is put together here.
    forgetsText: !terms.repeatsText && !checksAnswer && planned.parameters.logprobs === undefined,
    ...(checksAnswer ? { answerCheck: terms.inOnePiece ? 'held' : 'streamed', formatMember: 'response_format' } : {}),
    ...(warnings.length === 0 ? {} : { warnings }),
    ...(request.ownTools.length === 0 ? {} : { ownTools: request.ownTools }),
    generateCitations: isCiting(input, agent, takesExtensions),
    hidesSteps: !takesExtensions || planned.hidesSteps === true,
    charge: chargeTo(caller, {
      agentId: agent?.id ?? null,
      agentVersion: agent?.version ?? null,
      runId: deps.newId('completion'),
    }),
  };
  return { plan, request, agent };
}

/** The agent with another model than its own. @throws DomainError MODEL_NOT_FOUND; UNSUPPORTED_VALUE where the request names no agent. */
async function withModel(deps: Deps, answerer: Answerer, modelId: string): Promise<Answerer> {
  if (answerer.agent !== undefined) return { ...answerer, model: await modelFor(deps, modelId) };
  throw new DomainError('UNSUPPORTED_VALUE', 'modelId: model is a model itself; name an agent there', { param: 'modelId' });
}

/** Settles the answers among the messages to calls that waited for approval: each counts once. */
async function answeredApprovals(deps: Deps, caller: Caller, answers: ReturnType<typeof answersOfCompletion>) {
  const { approvals, ids } = await settleApprovals(deps, caller, answers);
  await deps.storage.conversations.approvals.answer(ids);
  return approvals;
}

/**
 * The messages with what their files and addresses hold: images as images, everything else as text.
 *
 * @throws DomainError naming each file that is not the caller's, and each address that may not or cannot be fetched.
 */
async function withGiven(
  deps: Deps,
  owner: Caller,
  { messages, given: requestParts }: CompletionRequest,
  model: ModelInfo,
  agent: RunnableAgent | undefined,
  signal: AbortSignal,
): Promise<readonly ModelMessage[]> {
  requireAttachmentCount('messages', requestParts.length);
  const fileReferences = requestParts.flatMap(({ param, from }) => ('fileId' in from ? [{ param, id: from.fileId }] : []));
  const files = await requireOwnFiles(deps, owner, fileReferences);
  const sources = requestParts.map(({ from, part: _part, ...about }): AttachmentSource => {
    const file = 'fileId' in from ? files.get(from.fileId) : from;
    if (file === undefined) throw new Error('a file that was found is missing');
    return { ...about, from: file };
  });
  const half = Math.floor((agent?.options.maxInputTokens?.[0] ?? model.contextTokensMax) / 2);
  const tokensMax = Math.min(deps.settings.CHAT_FILE_TOKENS_MAX, half);
  const read = await readAttachments(deps, sources, { owner, model, tokensMax }, signal);
  const contents = new Map<ModelPart, ContextPart | undefined>(requestParts.map(({ part }, index) => [part, read[index]]));
  const filledMessages = messages.map((message) => {
    if (message.role !== 'user' || typeof message.content === 'string') return message;
    const content = message.content.map((part): ContextPart => {
      const readPart = contents.get(part);
      if (readPart === undefined) return part;
      return part.cache === undefined || readPart.type === 'chat-file' ? readPart : { ...readPart, cache: part.cache };
    });
    // A model without images may take texts only as one.
    const texts = content.flatMap((part) => (part.type === 'text' && part.cache === undefined ? [part.text] : []));
    if (texts.length < content.length) return { ...message, content: content as readonly ModelPart[] };
    return { ...message, content: texts.join('\n\n') };
  });
  return withFileImages(filledMessages, { orgId: owner.orgId, acceptsImages: model.acceptsImages }, deps.storage.blobs);
}

/** Runs a completion to its end. @throws DomainError also when the run failed in mid-stream. */
export async function createCompletion(
  deps: Deps,
  caller: Caller,
  input: CompletionInput,
  takesExtensions: boolean,
  signal: AbortSignal,
): Promise<RunSnapshot> {
  const stream = await runCompletion(deps, caller, input, { inOnePiece: true, repeatsText: true, takesExtensions }, signal);
  const fold = new RunFold();
  let warnings: readonly Warning[] = [];
  for await (const batch of stream.batches()) {
    warnings = [...warnings, ...warningsIn(batch)];
    fold.add(batch);
  }
  return { ...requireAnswer(fold.snapshot()), warnings };
}

/** Whether the reply shows citations: as the request says, else as the agent is set up, for callers who take additions to the format. */
function isCiting(input: CompletionInput, agent: RunnableAgent | undefined, takesExtensions: boolean): boolean {
  return input.generateCitations ?? (takesExtensions && agent?.generateCitations === true);
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
