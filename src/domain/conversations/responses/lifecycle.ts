import { freshFileAddress } from '../../../engine/files/file-links.ts';
import { freshContentAddress } from '../../../engine/knowledge/content-links.ts';
import { RunFold } from '../../../engine/runs/events/fold.ts';
import type { RunEventStream, RunItem } from '../../../entities/conversations/runs/event.ts';
import { type ResponseHead, type WireObject, withIncludes } from '../../../entities/conversations/runs/response.ts';
import type { Run, RunState } from '../../../entities/conversations/runs/run.ts';
import type { OutputFile } from '../../../entities/conversations/runs/tool.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { isId } from '../../../entities/ground/ids.ts';
import { type ListPage, type ListRequest, readPageSize, toListPage } from '../../../entities/ground/page.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { missingModel } from '../../agents/models.ts';
import { readSecrets } from '../../agents/tools/secrets.ts';
import type { Deps } from '../../deps.ts';
import { refuseHeld } from '../../ground/access/kept-by-hold.ts';
import { Faults } from '../../ground/faults.ts';
import { linkReader } from '../../knowledge/items.ts';
import { closeEvents } from '../../knowledge/permissions/closed-events.ts';
import { closeRunItems } from '../../knowledge/permissions/open-items.ts';
import { agentNamed } from '../runs/plan.ts';
import { requireEvents } from '../runs/runs.ts';
import { toRunState } from '../runs/states.ts';
import { findHolder, queueFull } from '../runs/thread.ts';
import { type BegunResponse, beginResponse, cancelWhenAlone } from './create.ts';
import { type ResponseInput, readIncludes } from './input.ts';
import { readItems } from './items.ts';
import { requireCalls, resolveItems, toMessages } from './request-items.ts';

/** A response at one moment: its run, with its head. */
export type ResponseState = RunState & { readonly head: ResponseHead };

export interface ResumeInput {
  readonly input?: unknown;
  readonly userSecrets?: unknown;
  readonly background?: boolean | null | undefined;
}

/** How the client of a resumed response reads it. */
export interface ResumeTerms {
  /** The client reads the events while they come, also of a response in the background. */
  readonly isWatched: boolean;
  /** The last event that the client knows; default: the last one before it goes on. */
  readonly afterSequence?: number | undefined;
}

/** Begins a response like `beginResponse` and returns its state: at once when it is stored, else at its end. */
export async function createResponse(
  deps: Deps,
  caller: Caller,
  input: ResponseInput,
  signal: AbortSignal,
): Promise<ResponseState> {
  const responseStart = await beginResponse(deps, caller, { ...input, stream: false, background: input.store !== false }, signal);
  return loadState(responseStart.events);
}

/**
 * @param include  values of the format for optional members, beside those that the request for the response named.
 * @throws DomainError NOT_FOUND, also for another user's response; those of `readIncludes`.
 *
 * Cost: reads its row and its log.
 */
export async function getResponse(
  deps: Deps,
  caller: Caller,
  id: string,
  include: readonly string[] = [],
): Promise<ResponseState> {
  const includes = requireIncludes(include);
  await findResponse(deps, caller, id);
  const { head, ...run } = await loadState(deps.runs.replay(id));
  return { ...run, head: withIncludes(head, includes), output: await openOutput(deps, caller, run.output) };
}

/** The output of a stored response as the caller may read it now, with new links. */
export async function openOutput(deps: Deps, caller: Caller, items: readonly RunItem[]): Promise<readonly RunItem[]> {
  const output = await closeRunItems(deps, caller, items);
  return output.map((item) => withFreshLinks(deps, caller, item));
}

/** Links to sources work for an hour, so whoever reads a stored answer gets new ones. */
function withFreshLinks(deps: Deps, caller: Caller, item: RunItem): RunItem {
  if (item.type === 'server_tool_call' && item.result?.files !== undefined) {
    return { ...item, result: { ...item.result, files: item.result.files.map((file) => withFreshLink(deps, file)) } };
  }
  if (item.type === 'server_tool_call_output' && item.files !== undefined) {
    return { ...item, files: item.files.map((file) => withFreshLink(deps, file)) };
  }
  if (item.type !== 'message' || item.citations.length === 0) return item;
  const citations = item.citations.map((citation) => ({
    ...citation,
    url: freshContentAddress(deps, citation, linkReader(deps, caller, citation.dataSourceId).reader),
  }));
  return { ...item, citations };
}

function withFreshLink(deps: Deps, file: OutputFile): OutputFile {
  return { ...file, url: freshFileAddress(deps, file) };
}

/**
 * The log of a response after a sequence number, then new events. A reader that leaves stops nothing.
 *
 * @throws DomainError NOT_FOUND, also for a response whose events are no longer kept.
 */
export async function followResponse(
  deps: Deps,
  caller: Caller,
  id: string,
  { afterSequence, include = [] }: { readonly afterSequence: number; readonly include?: readonly string[] | undefined },
  signal: AbortSignal,
): Promise<RunEventStream> {
  requireIncludes(include);
  await requireEvents(deps, await findResponse(deps, caller, id), afterSequence);
  return closeEvents(deps, caller, deps.runs.follow(id, afterSequence, signal));
}

/** Stops a response in any process; a finished response is returned unchanged. A paused response is cancelled without running again. */
export async function cancelResponse(deps: Deps, caller: Caller, id: string): Promise<ResponseState> {
  await findResponse(deps, caller, id);
  await deps.runs.cancel(id, (write) => deps.audit.change(caller, write));
  return getResponse(deps, caller, id);
}

/** Pauses a response at its next boundary. @throws DomainError NOT_FOUND; RESPONSE_NOT_ACTIVE when it is over. */
export async function pauseResponse(deps: Deps, caller: Caller, id: string): Promise<ResponseState> {
  const run = await findResponse(deps, caller, id);
  if (run.incompleteReason !== 'paused') {
    await deps.runs.pause(id, (write) =>
      deps.audit.change(caller, async () => {
        const outcome = await write();
        if (outcome !== 'not-active') return outcome;
        throw new DomainError('RESPONSE_NOT_ACTIVE', `This response is ${run.status}: only one in progress can be paused`);
      }),
    );
  }
  return getResponse(deps, caller, id);
}

/**
 * Continues a paused response under the same id; it waits while another response holds its thread.
 *
 * @returns its events; `seenSequence` is the last one from before.
 * @throws DomainError NOT_FOUND; RESPONSE_NOT_PAUSED; THREAD_QUEUE_FULL, and it stays paused; MODEL_NOT_FOUND, also for an agent
 * that the caller may no longer use; with every fault of the input.
 */
export async function resumeResponse(
  deps: Deps,
  caller: Caller,
  id: string,
  input: ResumeInput,
  terms: ResumeTerms,
  signal: AbortSignal,
): Promise<BegunResponse & { readonly seenSequence: number }> {
  const run = await findResponse(deps, caller, id);
  const faults = new Faults();
  const requestItems = readItems(input.input, { itemsMax: deps.settings.MESSAGES_MAX, isRequired: false }, faults);
  const secrets = readSecrets(input.userSecrets, faults, 'userSecrets');
  faults.throwIfAny();
  if (run.incompleteReason !== 'paused' || run.chatId === null) throw notPaused(run);
  // A caller who may no longer use the agent cannot continue the response.
  if (run.agentId !== null) await agentNamed(deps, caller, run.agentId);
  const items = await resolveItems(deps, caller, requestItems);
  requireCalls(requestItems, items, await deps.storage.conversations.chats.history(run.chatId, deps.settings.MESSAGES_MAX));
  const model = await deps.models.find(run.modelId);
  if (model === undefined) throw missingModel(run.modelId);
  const giving = { caller, model, tokensMax: deps.settings.CHAT_FILE_TOKENS_MAX, runId: id };
  const messages = await toMessages(deps, items, giving, signal);
  await deps.runs.requireRoom(caller);
  const isBackground = input.background === true;
  const { RUN_LEASE_MS: leaseMs, THREAD_WAITING_MAX: waitingMax } = deps.settings;
  const holder = findHolder(deps, secrets);
  const resumption = { messages, items, isBackground, waitingMax, leaseMs, holder, keyId: caller.keyId };
  const resumeResult = await deps.audit.change(caller, async () => {
    const threadResult = await deps.storage.conversations.threads.resume(id, resumption);
    if (threadResult === undefined) throw notPaused(run);
    if (threadResult.kind === 'full') throw queueFull(deps);
    return threadResult;
  });
  if (resumeResult.kind === 'started') deps.runs.startStored(id, secrets);
  else deps.runs.expectStored(id, secrets);
  const isWatched = terms.isWatched || !isBackground;
  if (!isBackground) cancelWhenAlone(deps, id, signal);
  const { lastSequence: seenSequence } = run;
  const events = isWatched ? deps.runs.follow(id, terms.afterSequence ?? seenSequence, signal) : deps.runs.replay(id);
  return { id, events, isStored: true, seenSequence };
}

/** Deletes a response and its messages in the thread; an active one is stopped first. @throws DomainError NOT_FOUND. */
export async function deleteResponse(deps: Deps, caller: Caller, id: string): Promise<string> {
  const run = await findResponse(deps, caller, id);
  refuseHeld((await deps.storage.legalHolds.find(caller))?.createdAt);
  if (run.status === 'in_progress') await deps.runs.cancel(id);
  await deps.audit.change(caller, async () => {
    if (!(await deps.storage.conversations.responses.delete(id, caller))) throw missing();
  });
  if (run.chatId !== null) deps.storage.signals.publish('chat-changed', run.chatId);
  return id;
}

/** The input items of a response, with those of requests that joined it. @throws DomainError NOT_FOUND; INVALID_VALUE. */
export async function listInputItems(deps: Deps, caller: Caller, id: string, page: ListRequest): Promise<ListPage<WireObject>> {
  const { after, order } = page;
  const limit = readPageSize(page);
  await findResponse(deps, caller, id);
  const query = { after: after ?? undefined, limit, order: order ?? ('desc' as const) };
  const inputPage = await deps.storage.conversations.responses.listInput(id, query);
  if (inputPage === undefined)
    throw new DomainError('INVALID_VALUE', 'after names no input item of this response', { param: 'after' });
  return toListPage(inputPage, page);
}

/** The state after some events. @throws DomainError when there are none. */
export async function loadState(events: RunEventStream): Promise<ResponseState> {
  const fold = new RunFold();
  let head: ResponseHead | undefined;
  for await (const batch of events.batches()) {
    const [first] = batch;
    if (first?.type === 'response.created') head ??= first.run.head;
    fold.add(batch);
  }
  if (head === undefined) throw missing();
  return { ...toRunState(fold.snapshot()), head };
}

/** @throws DomainError NOT_FOUND */
export async function findResponse(deps: Deps, caller: Caller, id: string): Promise<Run> {
  const run = isId('response', id) ? await deps.storage.conversations.responses.find(id, caller) : undefined;
  if (run === undefined) throw missing();
  return run;
}

function missing(): DomainError {
  return new DomainError('NOT_FOUND', 'There is no such response', { param: 'responseId' });
}

function notPaused(run: Run): DomainError {
  return new DomainError('RESPONSE_NOT_PAUSED', `This response is ${run.status}: only a paused one can be resumed`);
}

function requireIncludes(names: readonly string[]): readonly string[] {
  const faults = new Faults();
  const includes = readIncludes(names, faults);
  faults.throwIfAny();
  return includes;
}
