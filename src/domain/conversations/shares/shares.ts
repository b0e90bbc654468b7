import type { Chat } from '../../../entities/conversations/chats/chat.ts';
import {
  type ChatShare,
  type ChatShareAudience,
  type ChatShareMode,
  type ChatShareStatus,
  makeShareSecret,
  sharePath,
} from '../../../entities/conversations/chats/share.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { isId } from '../../../entities/ground/ids.ts';
import type { Page, PageRequest } from '../../../entities/ground/page.ts';
import { hashSecret } from '../../../entities/people/api-key.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { ChatShareFilter } from '../../../storage/conversations/shares.ts';
import type { Deps } from '../../deps.ts';
import { isAdministrator } from '../../ground/access/access.ts';
import { Faults } from '../../ground/faults.ts';
import { getOwnMessage } from '../chats/branches.ts';
import { getOwnChat, missingChat } from '../chats/chats.ts';

type Optional<T> = T | null | undefined;

export interface ShareChatInput {
  /** Default: FROZEN. */
  readonly mode?: Optional<ChatShareMode>;
  readonly audience: ChatShareAudience;
  /** Of the people, with the audience PEOPLE. */
  readonly emails?: Optional<readonly string[]>;
  readonly expiresAt?: Optional<Date>;
  /** The last message that readers of a frozen one get; default: the newest on the branch that the user reads. */
  readonly messageId?: Optional<string>;
}
export interface NewShare {
  readonly id: string;
  /** With its secret, which is shown once. */
  readonly url: string;
  readonly share: ChatShare;
}

const emailsMax = 100;

/**
 * Makes a link under which others read a chat of the caller. Nothing of the chat is stored a second time: a frozen link shows its messages up to one of
 * them, a growing one the branch that the user of the chat reads.
 *
 * @throws DomainError NOT_FOUND; FORBIDDEN for a chat of somebody else, and for ANYONE where the installation does not allow it; CONFLICT for a frozen
 * link to a chat in which nothing was said, and for one link too many; naming every faulty member.
 */
export async function shareChat(deps: Deps, caller: Caller, chatId: string, input: ShareChatInput): Promise<NewShare> {
  const chat = await getOwnChat(deps, caller, chatId);
  const mode = input.mode ?? 'FROZEN';
  const readerIds = await readMembers(deps, caller, input);
  if (input.audience === 'ANYONE' && !allowsAnyone(deps))
    throw new DomainError('FORBIDDEN', 'This installation shares chats with members only (SHARE_WITH_ANYONE)');
  const leafId = mode === 'FROZEN' ? await findLeaf(deps, caller, chat, input.messageId) : null;
  const secret = makeShareSecret();
  const { orgId, userId } = chat;
  const newShare = {
    ...{ id: deps.newId('chatShare'), createdAt: deps.now(), orgId, userId, chatId: chat.id, mode, leafId, readerIds },
    ...{ audience: input.audience, expiresAt: input.expiresAt ?? null, hash: hashSecret(secret) },
    ...{ makerKeyId: caller.keyId, makerLevel: caller.level },
  };
  return deps.audit.change(caller, async () => {
    const creation = await deps.storage.conversations.chatShares.create(newShare, deps.settings.CHAT_SHARES_MAX);
    if (creation.kind === 'missing') throw missingChat();
    if (creation.kind === 'full') {
      const text = `A chat has at most ${deps.settings.CHAT_SHARES_MAX} links: revoke one first`;
      throw new DomainError('CONFLICT', text, { param: 'chatId' });
    }
    return { id: creation.share.id, url: `${deps.publicUrl()}${sharePath(secret)}`, share: creation.share };
  });
}

/** The links among `ids` that the caller may see, in any order: its own, and for administrators those of the organization. */
export function getChatShares(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly ChatShare[]> {
  return deps.storage.conversations.chatShares.findMany(ids, visibleShares(caller));
}

/** @throws DomainError NOT_FOUND, also for one that the caller may not see. */
export async function getChatShare(deps: Deps, caller: Caller, id: string): Promise<ChatShare> {
  const [share] = isId('chatShare', id) ? await getChatShares(deps, caller, [id]) : [];
  if (share === undefined) throw new DomainError('NOT_FOUND', 'There is no such link', { param: 'id' });
  return share;
}

/**
 * The links that the caller made, newest first.
 *
 * @param ofOrganization  those of everybody in the caller's organization.
 * @throws DomainError FORBIDDEN for `ofOrganization` of who is no administrator.
 */
export function listChatShares(
  deps: Deps,
  caller: Caller,
  { chatId, ofOrganization }: { readonly chatId?: Optional<string>; readonly ofOrganization?: Optional<boolean> },
  page: PageRequest,
): Promise<Page<ChatShare>> {
  const { orgId, userId } = caller;
  if (ofOrganization === true && !isAdministrator(caller, orgId))
    throw new DomainError('FORBIDDEN', 'Only administrators see the links of others');
  const whose = ofOrganization === true ? { orgId } : { orgId, userId };
  return deps.storage.conversations.chatShares.list({ ...whose, ...(typeof chatId === 'string' ? { chatId } : {}) }, page);
}

/** Ends a link at once, of the caller or, for administrators, of the organization. @throws DomainError NOT_FOUND. */
export async function revokeChatShare(deps: Deps, caller: Caller, id: string): Promise<ChatShare> {
  const share = await getChatShare(deps, caller, id);
  await deps.audit.change(caller, async () => {
    await deps.storage.conversations.chatShares.revoke(share, deps.now());
    return { id: share.id, orgId: share.orgId };
  });
  return getChatShare(deps, caller, id);
}

/** Whether links to chats may be for anyone. */
export function allowsAnyone({ settings }: Pick<Deps, 'settings'>): boolean {
  return settings.SHARE_WITH_ANYONE === 'on';
}

/** What became of a link by itself. Whether its maker may still share is asked when it is opened. */
export function findStatus(
  deps: Pick<Deps, 'settings' | 'now'>,
  { revokedAt, expiresAt, audience }: Pick<ChatShare, 'revokedAt' | 'expiresAt' | 'audience'>,
): ChatShareStatus {
  if (revokedAt !== null) return 'REVOKED';
  if (expiresAt !== null && expiresAt <= deps.now()) return 'EXPIRED';
  return audience === 'ANYONE' && !allowsAnyone(deps) ? 'SUSPENDED' : 'ACTIVE';
}

/** Its owner's, those of the organization for its administrators, and all for an INSTANCE key. */
function visibleShares(caller: Caller): ChatShareFilter {
  const { orgId, userId, level } = caller;
  if (level === 'INSTANCE') return {};
  return isAdministrator(caller, orgId) ? { orgId } : { orgId, userId };
}

/** The people whom the input names; none with another audience. @throws DomainError naming every faulty member. */
async function readMembers(deps: Deps, { orgId }: Caller, input: ShareChatInput): Promise<readonly string[]> {
  const faults = new Faults();
  const emails = input.emails ?? [];
  const { audience, mode, expiresAt, messageId } = input;
  if (audience !== 'PEOPLE' && emails.length > 0) faults.add('emails', 'emails is taken with the audience PEOPLE only');
  if (audience === 'PEOPLE' && emails.length === 0)
    faults.add('emails', 'emails must name the people: 1 to 100 members of the organization', 'MISSING_REQUIRED_PARAMETER');
  faults.requireCount('emails', emails, emailsMax);
  if (expiresAt instanceof Date && expiresAt <= deps.now()) faults.add('expiresAt', 'expiresAt must be in the future');
  if (mode === 'GROWING' && typeof messageId === 'string')
    faults.add('messageId', 'messageId is taken with the mode FROZEN only: a growing link has no last message');
  const asked = audience === 'PEOPLE' ? emails.slice(0, emailsMax) : [];
  const members = asked.length === 0 ? [] : await deps.storage.people.accounts.findMembers(orgId, { ids: [], emails: asked });
  const idsByEmail = new Map(members.map(({ email, id }) => [email, id]));
  const readerIds = asked.flatMap((email, index) => {
    const id = idsByEmail.get(email.trim().toLowerCase());
    if (id === undefined) faults.add(`emails[${index}]`, `emails[${index}] is the e-mail of no member of the organization`);
    return id === undefined ? [] : [id];
  });
  faults.throwIfAny();
  return [...new Set(readerIds)];
}

/** @throws DomainError NOT_FOUND for a message of another chat; CONFLICT for a chat in which nothing was said. */
async function findLeaf(deps: Deps, caller: Caller, chat: Chat, messageId: Optional<string>): Promise<string> {
  if (typeof messageId === 'string') return (await getOwnMessage(deps, caller, messageId, chat.id, 'messageId')).message.id;
  const leafId = await deps.storage.conversations.chatShares.findLastMessageId(chat.id);
  if (leafId === undefined) throw new DomainError('CONFLICT', 'Nothing was said in this chat yet');
  return leafId;
}
