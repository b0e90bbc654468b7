import { signedFileAddress } from '../../../engine/files/file-links.ts';
import { isInline } from '../../../engine/models/inline-images.ts';
import type { ChatMessage } from '../../../entities/conversations/chats/chat.ts';
import type { ChatFile } from '../../../entities/conversations/chats/file.ts';
import type { Page, PageRequest } from '../../../entities/ground/page.ts';
import type { Citation } from '../../../entities/knowledge/citation.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Deps } from '../../deps.ts';
import { findOpenItems } from '../../knowledge/passages.ts';
import { visibleMessages } from '../chats/transcripts.ts';
import type { SharedChat } from './open.ts';

/** A file of the chat, shown by the right of the link: the user of the chat owns it. */
export interface SharedFile {
  readonly id: string;
  readonly filename: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  /** A link that works without a key for an hour. */
  readonly url: string;
}

/** What a user or an agent says, as the reader of a link gets it. */
export interface SharedMessage {
  readonly message: ChatMessage;
  /** The passages whose documents the reader may open, and pages of the web. */
  readonly citations: readonly Citation[];
  /** How many passages the reader may not open. */
  readonly hiddenCitationCount: number;
  readonly files: readonly SharedFile[];
  /** Files that are deleted, or are no files of this chat. */
  readonly hiddenFileCount: number;
  /** Images that stand in the message itself, as data URLs. */
  readonly images: readonly string[];
}

/**
 * One page of what was said in a shared chat: the texts of users and agents, without what only models get, calls of tools and their outputs.
 * Cost: two to four statements.
 */
export async function pageOfSharedMessages(
  deps: Deps,
  reader: Caller,
  { share }: Pick<SharedChat, 'share'>,
  page: PageRequest,
): Promise<Page<SharedMessage>> {
  const messagePage = await deps.storage.conversations.chatShares.messages(share, page);
  const { countAll, hasNextPage, hasPreviousPage } = messagePage;
  const items = await showMessages(deps, reader, share.chatId, messagePage.items);
  const places = { hasNextPage, hasPreviousPage, countAll };
  const ends = [messagePage.items.at(0), messagePage.items.at(-1)].map((message) => message && [message.ordinal]);
  return {
    items,
    keyOf: ({ message }) => [message.ordinal],
    ...places,
    // Where the page reads from and to, also when a message at its end shows nothing.
    ...(ends[0] === undefined || ends[1] === undefined ? {} : { startKey: ends[0], endKey: ends[1] }),
  };
}

async function showMessages(
  deps: Deps,
  reader: Caller,
  chatId: string,
  storedMessages: readonly ChatMessage[],
): Promise<readonly SharedMessage[]> {
  const messages = visibleMessages(deps, storedMessages);
  const cited = messages.flatMap(({ citations }) => citations ?? []);
  // Who is not signed in opens no document: that the agent of the chat is open to anyone with a link is for people with a key.
  const openIds = reader.userId === '' ? new Set<string>() : new Set((await findOpenItems(deps, reader, cited)).keys());
  const fileIds = messages.flatMap((message) => listFileIds(message));
  const files = fileIds.length === 0 ? [] : await deps.storage.conversations.chatFiles.findMany(chatId, [...new Set(fileIds)]);
  const filesById = new Map(files.filter(({ status }) => status === 'UPLOADED').map((file) => [file.id, file]));
  const isOpen = ({ knowledgeItemId }: Citation) => knowledgeItemId === '' || openIds.has(knowledgeItemId);
  return messages.flatMap((message) => {
    const citations = message.citations ?? [];
    const ids = listFileIds(message);
    const sharedFiles = ids.flatMap((id) => {
      const file = filesById.get(id);
      return file === undefined ? [] : [toSharedFile(deps, file)];
    });
    const images = (message.parts ?? []).flatMap((part) => (part.type === 'url' && isInline(part.url) ? [part.url] : []));
    // It asks for calls of functions, which are not shown.
    if (message.content === '' && ids.length === 0 && images.length === 0) return [];
    const openCitations = citations.filter(isOpen);
    return [
      {
        message,
        citations: openCitations,
        hiddenCitationCount: citations.length - openCitations.length,
        ...{ files: sharedFiles, hiddenFileCount: ids.length - sharedFiles.length, images },
      },
    ];
  });
}

/** Files that a message names, each once. */
function listFileIds({ parts }: Pick<ChatMessage, 'parts'>): readonly string[] {
  return [...new Set((parts ?? []).flatMap((part) => (part.type === 'id' ? [part.id] : [])))];
}

function toSharedFile(deps: Deps, { id, chatId, filename, mimeType, sizeBytes }: ChatFile): SharedFile {
  return { id, filename, mimeType, sizeBytes, url: signedFileAddress(deps, { chatId, fileId: id }) };
}
