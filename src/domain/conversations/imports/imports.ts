import { Readable } from 'node:stream';
import type { ChatImport } from '../../../entities/conversations/chats/import.ts';
import type { UploadedFile } from '../../../entities/conversations/chats/uploaded-file.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { isId } from '../../../entities/ground/ids.ts';
import type { Page, PageRequest } from '../../../entities/ground/page.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { agentForRun } from '../../agents/agents.ts';
import type { Deps } from '../../deps.ts';
import { refuseHeld } from '../../ground/access/kept-by-hold.ts';

/** Imports of one person that may be under way at one time. */
const openMax = 5;

export interface ImportChatsInput {
  readonly file: UploadedFile;
  /** Who answers in the chats from then on. */
  readonly agentId: string;
}

/**
 * Begins to bring the chats of a file that another product exported: a job reads them, in a process of its own. Chats that an earlier import brought are
 * not brought again.
 *
 * @throws DomainError NOT_FOUND for an agent that the caller may not use; INVALID_VALUE for an empty file; REQUEST_TOO_LARGE; CONFLICT while the caller has
 * as many imports under way as may be.
 */
export async function importChats(deps: Deps, caller: Caller, { file, agentId }: ImportChatsInput): Promise<ChatImport> {
  const { storage, jobs, settings } = deps;
  const agent = await agentForRun(deps, caller, agentId);
  if (file.sizeBytes === 0) throw new DomainError('INVALID_VALUE', 'file must not be empty', { param: 'file' });
  const { orgId, userId, tenantId } = caller;
  const id = deps.newId('chatImport');
  const blobKey = `${orgId}/chat-imports/${id}`;
  const { sizeBytes } = await storage.blobs.put(blobKey, Readable.from(file.stream()), settings.UPLOAD_MAX_BYTES);
  const row = { id, createdAt: deps.now(), orgId, userId, agentId: agent.id, filename: file.filename, sizeBytes, blobKey };
  try {
    await deps.audit.change(caller, async (tx) => {
      if (!(await storage.conversations.chatImports.create(row, openMax))) throw tooManyImports();
      await jobs.enqueue('chats.import', { importId: id }, { owner: { tenantId, orgId }, key: id, tx });
      return { id };
    });
  } catch (error) {
    await storage.blobs.delete(blobKey);
    throw error;
  }
  return getChatImport(deps, caller, id);
}

/** The caller's imports, newest first; of those that have ended, the newest hundred. */
export function listChatImports(deps: Deps, caller: Caller, page: PageRequest): Promise<Page<ChatImport>> {
  return deps.storage.conversations.chatImports.list(caller, page);
}

/** The caller's imports among `ids`, in any order. */
export function getChatImports(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly ChatImport[]> {
  return deps.storage.conversations.chatImports.findMany(ids, caller);
}

/** @throws DomainError NOT_FOUND, also for one of another user or organization. */
export async function getChatImport(deps: Deps, caller: Caller, id: string): Promise<ChatImport> {
  const [chatImport] = isId('chatImport', id) ? await getChatImports(deps, caller, [id]) : [];
  if (chatImport === undefined) throw new DomainError('NOT_FOUND', 'There is no such import', { param: 'id' });
  return chatImport;
}

/** The ids of the imports that chats come from, in the order of the chats; null for a chat that began here. Cost: one statement. */
export async function importIdsOfChats(deps: Deps, chatIds: readonly string[]): Promise<readonly (string | null)[]> {
  const idsByChat = await deps.storage.conversations.chatImports.ofChats(chatIds);
  return chatIds.map((id) => idsByChat.get(id) ?? null);
}

/**
 * Ends an import that is under way. What it has brought stays, and can be undone.
 *
 * @throws DomainError NOT_FOUND; CONFLICT for one that has ended.
 */
export async function cancelChatImport(deps: Deps, caller: Caller, id: string): Promise<ChatImport> {
  const { blobKey } = await getChatImport(deps, caller, id);
  await deps.audit.change(caller, async () => {
    const changes = { status: 'CANCELLED', endedAt: deps.now() } as const;
    if (await deps.storage.conversations.chatImports.end(id, ['WAITING', 'READING'], changes)) return { id };
    throw new DomainError('CONFLICT', 'This import has ended already', { param: 'id' });
  });
  if (blobKey !== null) await deps.storage.blobs.delete(blobKey);
  return getChatImport(deps, caller, id);
}

/**
 * Begins to delete the chats that an import has brought. Chats that were gone on with stay, unless the caller includes them.
 *
 * @throws DomainError NOT_FOUND; CONFLICT while it is under way, and while a legal hold keeps the chats.
 */
export async function undoChatImport(
  deps: Deps,
  caller: Caller,
  id: string,
  { includesContinued }: { readonly includesContinued: boolean },
): Promise<ChatImport> {
  const { storage, jobs } = deps;
  const { orgId, userId } = await getChatImport(deps, caller, id);
  refuseHeld((await storage.legalHolds.find({ orgId, userId }))?.createdAt);
  await deps.audit.change(caller, async (tx) => {
    if (!(await storage.conversations.chatImports.beginUndo(id))) {
      throw new DomainError('CONFLICT', 'This import is under way: cancel it, or wait for its end', { param: 'id' });
    }
    const owner = { tenantId: caller.tenantId, orgId };
    await jobs.enqueue('chats.undo-import', { importId: id, includesContinued }, { owner, tx });
    return { id };
  });
  return getChatImport(deps, caller, id);
}

function tooManyImports(): DomainError {
  return new DomainError('CONFLICT', `You have ${openMax} imports under way: wait until one has ended`, { param: 'file' });
}
