import type { Chat } from '../../../entities/conversations/chats/chat.ts';
import { type ChatShare, isShareSecret } from '../../../entities/conversations/chats/share.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { hashSecret } from '../../../entities/people/api-key.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Deps } from '../../deps.ts';
import { mayChange, ownChats } from '../../ground/access/access.ts';
import { followChat } from '../chats/follow.ts';
import { findStatus } from './shares.ts';

/** A chat as somebody reads it by a link. */
export interface SharedChat {
  readonly share: ChatShare;
  readonly chat: Chat;
  /** Whether the reader made the link. */
  readonly isOwn: boolean;
}

/** Who reads without being signed in. Such a reader opens what is shared with anyone, and no document besides. */
export const anonymousReader: Caller = {
  ...{ keyId: '', userId: '', orgId: '', tenantId: '' },
  ...{ level: 'ORGANIZATION', role: 'MEMBER', scopes: new Set(['CHATS:READ']) },
};

/**
 * The chat behind a link, as far as its maker may share it and the reader may open it now. An opening by somebody else is counted, and is an entry of the
 * audit log.
 *
 * @throws DomainError NOT_FOUND, whatever the reason is.
 * Cost: five to seven statements.
 */
export async function openSharedChat(deps: Deps, reader: Caller, secret: string): Promise<SharedChat> {
  const shared = await findSharedChat(deps, reader, secret);
  noteReader(deps, reader, shared);
  if (!shared.isOwn) await deps.storage.conversations.chatShares.noteOpening(shared.share.id, deps.now());
  return shared;
}

function noteReader(deps: Deps, reader: Caller, { share: { id, orgId }, isOwn }: SharedChat): void {
  if (!isOwn) deps.audit.export(reader, { id, orgId });
}

/** The same without a trace, for who has opened it before. @throws DomainError NOT_FOUND. */
export async function findSharedChat(deps: Deps, reader: Caller, secret: string): Promise<SharedChat> {
  const { chatShares, chats } = deps.storage.conversations;
  const share = isShareSecret(secret) ? await chatShares.findBySecret(hashSecret(secret)) : undefined;
  if (share === undefined || findStatus(deps, share) !== 'ACTIVE' || !isFor(share, reader)) throw missingShare();
  if (!(await mayStillShare(deps, share))) throw missingShare();
  const chat = await chats.find(share.chatId, ownChats(share));
  if (chat === undefined) throw missingShare();
  return { share, chat, isOwn: isOwnShare(share, reader) };
}

/** The name of the user of a shared chat; '' for a user who is gone. Cost: one statement. */
export async function findSharerName(deps: Deps, { share: { userId } }: Pick<SharedChat, 'share'>): Promise<string> {
  return (await deps.storage.conversations.chats.ownerNames([userId])).get(userId) ?? '';
}

/**
 * The chat at once and whenever something changed in it, until the link ends or the reader may not open it any more.
 *
 * @throws DomainError NOT_FOUND.
 */
export async function watchSharedChat(
  deps: Deps,
  reader: Caller,
  secret: string,
  signal: AbortSignal,
): Promise<AsyncGenerator<SharedChat>> {
  const first = await findSharedChat(deps, reader, secret);
  noteReader(deps, reader, first);
  const read = () =>
    findSharedChat(deps, reader, secret).catch((error: unknown) => {
      if (error instanceof DomainError && error.code === 'NOT_FOUND') return undefined;
      throw error;
    });
  return followChat(deps, first.chat.id, first, read, signal, recheckMs);
}

/** A link ends by its time, or with the rights of its maker, without a change of the chat. */
const recheckMs = 60_000;

function isOwnShare({ orgId, userId }: ChatShare, reader: Caller): boolean {
  return reader.userId === userId && reader.orgId === orgId;
}

function isFor(share: ChatShare, reader: Caller): boolean {
  if (share.audience === 'ANYONE' || isOwnShare(share, reader)) return true;
  if (reader.userId === '' || reader.orgId !== share.orgId) return false;
  return share.audience === 'ORGANIZATION' || share.readerIds.includes(reader.userId);
}

/** Whether the maker is a member who may share a chat, with the key or the session that made the link. */
async function mayStillShare(
  { storage: { people }, now }: Deps,
  { orgId, userId, makerKeyId: keyId, makerLevel: level }: ChatShare,
): Promise<boolean> {
  if ((await people.accounts.findRole(orgId, userId)) === undefined) return false;
  const maker = await people.apiKeys.findMaker({ userId, keyId, orgId, level }, now().getTime());
  if (maker === undefined || !mayChange(maker)) return false;
  return maker.scopes.has('CHATS:READ') && maker.scopes.has('CHATS:WRITE');
}

export function missingShare(): DomainError {
  return new DomainError('NOT_FOUND', 'This link opens nothing: it is unknown, has ended, or is not for you', {
    param: 'secret',
  });
}
