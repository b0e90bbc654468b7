import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { ExportedChat } from '../../../engine/imports/exported-chat.ts';
import type { RunningJob } from '../../../engine/jobs/job.ts';
import { ExtractError } from '../../../engine/knowledge/extract/error.ts';
import type { ChatImportOmissionKind } from '../../../entities/conversations/chats/import.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { isHeldError } from '../../../entities/operations/data-life/hold.ts';
import type { NewImportedChat } from '../../../storage/conversations/imports/chats.ts';
import type { GoneReason, ImportPlace, NewOmission } from '../../../storage/conversations/imports/imports.ts';
import type { Deps } from '../../deps.ts';
import { removeBlobs, removeChat } from '../../ground/blobs.ts';
import { findChatDays } from '../chats/bin.ts';

const dayMs = 86_400_000;
const expireEveryMs = 3_600_000;
/** By then the job has used up its attempts. */
const abandonedMs = dayMs;
const abandonedAtOnce = 100;
const chatsAtOnce = 50;
const gaveUp =
  'The import could not be finished within a day, because of a fault of the service. Import the file again: no chat is brought twice.';

const goneSentences: Readonly<Record<GoneReason, string>> = {
  'agent-gone': 'The agent was deleted. Undo this import, and import the file again with another agent.',
  'person-gone': 'You were no member of the organization any more. Import the file again: no chat is brought twice.',
};

/** Registers the jobs that bring chats and undo it, and the end of those that gave up. */
export function registerChatImports(deps: Deps): void {
  // A process that dies leaves its job to the next one, which goes on behind the last chat.
  const options = { concurrency: 1 };
  deps.jobs.work('chats.import', options, ({ importId }, signal, job) => bringChats(deps, importId, signal, job));
  deps.jobs.work('chats.undo-import', options, (payload, signal) => undoImport(deps, payload, signal));
  deps.jobs.lead('chat-imports.expire', expireEveryMs, () => endAbandoned(deps));
}

async function bringChats(deps: Deps, importId: string, signal: AbortSignal, job: Pick<RunningJob, 'owner'>): Promise<void> {
  const { chatImports } = deps.storage.conversations;
  const row = (await chatImports.begin(importId)) ? await chatImports.find(importId) : undefined;
  if (row === undefined || row.blobKey === null) return;
  const { blobKey } = row;
  const folder = await mkdtemp(join(tmpdir(), 'parley-import-'));
  try {
    const path = join(folder, 'export');
    await pipeline(await deps.storage.blobs.get(blobKey), createWriteStream(path, { mode: 0o600 }), { signal });
    await bringWindows(deps, { importId, orgId: row.orgId, path, place: row.place, owner: job.owner }, signal);
    await chatImports.end(importId, ['READING'], { status: 'DONE', endedAt: deps.now() });
  } catch (error) {
    const sentence = sentenceOf(error);
    if (sentence === undefined) throw error;
    await chatImports.end(importId, ['READING'], { status: 'FAILED', endedAt: deps.now(), error: sentence });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  await removeBlobs(deps, [blobKey]);
}

/** Why an import has failed for good; undefined for a fault that may pass. */
function sentenceOf(error: unknown): string | undefined {
  if (error instanceof ExtractError) return error.isRetryable ? undefined : error.message;
  if (!(error instanceof DomainError)) return undefined;
  if (error.code === 'FORBIDDEN') return error.message;
  return error.code === 'NOT_FOUND' ? 'The file is gone. Import it again.' : undefined;
}

interface ImportTask {
  readonly importId: string;
  readonly orgId: string;
  readonly path: string;
  readonly place: ImportPlace;
  readonly owner: RunningJob['owner'];
}

/** Windows of a file are the same each time that it is read, so a job that takes over passes those over that were brought before. */
async function bringWindows(deps: Deps, { importId, orgId, path, place, owner }: ImportTask, signal: AbortSignal): Promise<void> {
  const { chatImports } = deps.storage.conversations;
  const oldestMs = await oldestTime(deps, orgId);
  let { start, done } = place;
  for (;;) {
    const window = await deps.exportReader.read(owner, path, { from: start }, signal);
    if (window.total !== null && !(await chatImports.noteTotal(importId, window.total))) return;
    for (const [index, exported] of window.chats.entries()) {
      signal.throwIfAborted();
      if (index < done) continue;
      if (!(await bringChat(deps, importId, { start, done: index }, exported, oldestMs))) return;
    }
    const refusals = Object.entries(window.refusals).map(([kind, count]) => toOmission(kind, count, ''));
    const next = window.next ?? start + window.chats.length + refusals.reduce((sum, { count }) => sum + count, 0);
    if (!(await chatImports.endWindow(importId, { start, done: window.chats.length }, next, refusals))) return;
    if (window.next === null) return;
    [start, done] = [window.next, 0];
  }
}

/** @returns false when the import was cancelled. @throws DomainError FORBIDDEN when its agent or its person is gone. */
async function bringChat(
  deps: Deps,
  importId: string,
  place: ImportPlace,
  exported: ExportedChat,
  oldestMs: number | undefined,
): Promise<boolean> {
  const { chatImports } = deps.storage.conversations;
  const chat = toChat(deps, exported);
  if (oldestMs !== undefined && chat.updatedAt.getTime() < oldestMs) {
    return chatImports.leaveOut(importId, place, chat.format, toOmission('OLD_CHATS', 1, chat.name));
  }
  const omissions = Object.entries(exported.omissions).map(([kind, count]) => toOmission(kind, count, chat.name));
  const brought = await chatImports.bring(importId, place, chat, omissions);
  if (brought === 'agent-gone' || brought === 'person-gone') throw new DomainError('FORBIDDEN', goneSentences[brought]);
  return brought !== 'stopped';
}

/** What is older would be deleted by the next sweep. */
async function oldestTime(deps: Deps, orgId: string): Promise<number | undefined> {
  const days = await findChatDays(deps, orgId);
  return days === null ? undefined : deps.now().getTime() - days * dayMs;
}

function toOmission(kind: string, count: number, chatName: string): NewOmission {
  return { kind: kind as ChatImportOmissionKind, count, chatName };
}

/** Times of a file lie in the past; a message without one is as old as the message before it. */
function toChat(deps: Deps, exported: ExportedChat): NewImportedChat {
  const nowMs = deps.now().getTime();
  const toPast = (ms: number) => Math.min(ms, nowMs);
  const firstMs = exported.messages.find(({ atMs }) => atMs !== null)?.atMs ?? null;
  const createdMs = toPast(exported.createdAtMs ?? firstMs ?? exported.updatedAtMs ?? nowMs);
  const times: number[] = [];
  const ids = exported.messages.map(() => deps.newId('message'));
  const messages = exported.messages.map(({ parent, isActive, role, text, atMs, modelName, isComplete }, place) => {
    const id = ids[place] ?? '';
    const timeMs = toPast(atMs ?? (parent === null ? createdMs : (times[parent] ?? createdMs)));
    times.push(timeMs);
    return {
      ...{ id, createdAt: new Date(timeMs), role, content: text, isActive, modelName },
      parentId: parent === null ? null : (ids[parent] ?? null),
      status: isComplete ? ('completed' as const) : ('incomplete' as const),
    };
  });
  const lastMs = times.reduce((most, time) => Math.max(most, time), createdMs);
  return {
    id: deps.newId('chat'),
    ...{ origin: exported.origin, format: exported.format, name: exported.name, messages },
    createdAt: new Date(createdMs),
    updatedAt: new Date(Math.max(lastMs, toPast(exported.updatedAtMs ?? 0))),
  };
}

async function undoImport(
  deps: Deps,
  { importId, includesContinued }: { readonly importId: string; readonly includesContinued: boolean },
  signal: AbortSignal,
): Promise<void> {
  const { chatImports } = deps.storage.conversations;
  let after = '';
  let retainedCount = 0;
  try {
    for (;;) {
      signal.throwIfAborted();
      const chats = await chatImports.chatsOf(importId, after, chatsAtOnce);
      for (const { id, isContinued } of chats) {
        if (isContinued && !includesContinued) retainedCount += 1;
        else await removeChat(deps, id);
      }
      after = chats.at(-1)?.id ?? '';
      if (chats.length < chatsAtOnce) break;
    }
  } catch (error) {
    if (!isHeldError(error)) throw error;
    const sentence = 'A legal hold keeps chats of this import: they are not deleted until an administrator ends the hold.';
    await chatImports.end(importId, ['UNDOING'], { status: 'DONE', endedAt: deps.now(), error: sentence });
    return;
  }
  await chatImports.end(importId, ['UNDOING'], { status: 'UNDONE', endedAt: deps.now(), retainedCount });
}

async function endAbandoned(deps: Deps): Promise<void> {
  const { chatImports } = deps.storage.conversations;
  for (const { id, blobKey, status } of await chatImports.abandoned(
    new Date(deps.now().getTime() - abandonedMs),
    abandonedAtOnce,
  )) {
    deps.logger.error({ importId: id }, 'an import of chats was given up after a day: its job failed');
    await chatImports.end(id, [status], { status: 'FAILED', endedAt: deps.now(), error: gaveUp });
    await removeBlobs(deps, blobKey === null ? [] : [blobKey]);
  }
}
