import type { SortKey } from '../../../entities/ground/page.ts';
import type { Deps } from '../../deps.ts';
import { performOperation } from '../../ground/audit/operation.ts';
import type { CallOrigin } from '../../ground/audit/origin.ts';
import { pageOfSharedMessages } from './messages.ts';
import { anonymousReader, findSharedChat, findSharerName, openSharedChat } from './open.ts';

/** What the page of a link shows to who is not signed in, as JSON. Its members are called as those of `SharedChat`. */
export interface SharedChatPage {
  readonly name: string | null;
  readonly sharedBy: string;
  readonly sharedAt: Date;
  readonly expiresAt: Date | null;
  readonly mode: string;
  readonly agentName: string;
  readonly agentPictureUrl: string;
  readonly messages: readonly object[];
  /** Where the next page begins; null at the end. */
  readonly nextAfter: SortKey[number] | null;
}
export interface SharedChatVisit {
  readonly secret: string;
  /** `nextAfter` of the page before. */
  readonly after: number | undefined;
  /** Whether the visitor opens it, and does not read on. */
  readonly isOpening: boolean;
}

const messagesAtOnce = 100;

/**
 * A page of a chat that is shared with anyone, for who is not signed in. An opening is an entry of the audit log, with the network address as its only trace of a person.
 *
 * @throws DomainError NOT_FOUND.
 */
export async function readSharedChatPage(
  deps: Deps,
  origin: CallOrigin,
  { secret, after, isOpening }: SharedChatVisit,
): Promise<SharedChatPage> {
  const shared = isOpening
    ? await performOperation({ deps, caller: anonymousReader, ...origin }, 'Query.sharedChat', [], (reader) =>
        openSharedChat(deps, reader, secret),
      )
    : await findSharedChat(deps, anonymousReader, secret);
  const request = { limit: messagesAtOnce, after: after === undefined ? undefined : [after] };
  const { items, hasNextPage, endKey } = await pageOfSharedMessages(deps, anonymousReader, shared, request);
  const { chat, share } = shared;
  return {
    name: chat.name === '' ? null : chat.name,
    sharedBy: await findSharerName(deps, shared),
    ...{ sharedAt: share.createdAt, expiresAt: share.expiresAt, mode: share.mode },
    ...{ agentName: chat.agent.name, agentPictureUrl: chat.agent.src },
    messages: items.map(({ message: { id, createdAt, role, content }, files, citations, ...counts }) => ({
      ...{ id, createdAt, role: role.toUpperCase(), content, ...counts },
      files: files.map(({ filename, mimeType, sizeBytes, url }) => ({ filename, mimeType, size: sizeBytes, url })),
      // Of pages of the web.
      citations: citations.map(({ index, name, url, snippet }) => ({ index, name, url, snippet })),
    })),
    nextAfter: hasNextPage ? (endKey?.[0] ?? null) : null,
  };
}
