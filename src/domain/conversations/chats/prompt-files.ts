import type { ModelInfo } from '../../../engine/models/catalog.ts';
import { isInline } from '../../../engine/models/inline-images.ts';
import type { ModelMessage } from '../../../engine/models/port.ts';
import type { Chat, PromptPart } from '../../../entities/conversations/chats/chat.ts';
import { isId } from '../../../entities/ground/ids.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Deps } from '../../deps.ts';
import {
  type AttachmentSource,
  type ContextPart,
  type PromptFile,
  readAttachments,
  requireAttachmentCount,
  unseen,
} from '../../ground/attachments/attachments.ts';
import { Faults } from '../../ground/faults.ts';

/**
 * The context that replaces a prompt with files or addresses: images if the model accepts them, everything else as its text, each in a delimited
 * block, together cut to CHAT_FILE_TOKENS_MAX.
 *
 * @returns null for a prompt that needs no replacement.
 * @throws DomainError naming `prompt[n].id` or `prompt[n].url`: a file of another chat or without content, an address that may not or cannot be
 * fetched, a document without text, an image for a model without images; REQUEST_TIMEOUT.
 */
export async function contextOfPrompt(
  deps: Deps,
  caller: Caller,
  chat: Pick<Chat, 'id'>,
  parts: readonly PromptPart[] | null,
  model: ModelInfo,
  inputTokensMax: number | undefined,
): Promise<readonly ModelMessage[] | null> {
  if (parts === null || parts.every((part) => part.type === 'text' || isSeenAsItIs(part, model))) return null;
  requireAttachmentCount('prompt', parts.filter(({ type }) => type !== 'text').length);
  const files = await loadFiles(deps, chat, parts);
  const sources = new Map<PromptPart, AttachmentSource>();
  for (const [index, part] of parts.entries()) {
    if (part.type === 'text' || isSeenAsItIs(part, model)) continue;
    const param = `prompt[${index}].${part.type}`;
    if (part.type === 'url' && isInline(part.url)) throw unseen(param, 'is an image', model);
    const file = part.type === 'id' ? files.get(part.id) : undefined;
    if (part.type === 'url') sources.set(part, { param, from: { url: part.url } });
    else if (file !== undefined) sources.set(part, { param, from: file });
  }
  const half = Math.floor((inputTokensMax ?? model.contextTokensMax) / 2);
  const read = await readAttachments(deps, [...sources.values()], {
    owner: caller,
    model,
    tokensMax: Math.min(deps.settings.CHAT_FILE_TOKENS_MAX, half),
  });
  const contextByPart = new Map([...sources.keys()].map((part, index) => [part, read[index]]));
  const content = parts.map((part): ContextPart => contextByPart.get(part) ?? asItIs(part));
  const isText = content.every(({ type }) => type === 'text');
  return [
    {
      role: 'user',
      content: isText ? content.map((part) => (part as { text: string }).text).join('\n\n') : content,
    } as ModelMessage,
  ];
}

function asItIs(part: PromptPart): ContextPart {
  if (part.type === 'url') return { type: 'image', url: part.url };
  return { type: 'text', text: part.type === 'text' ? part.text : '' };
}

/** The files of the parts, in one statement. A record without content and another chat's file give the same error as a missing file. */
async function loadFiles(
  deps: Deps,
  chat: Pick<Chat, 'id'>,
  parts: readonly PromptPart[],
): Promise<ReadonlyMap<string, PromptFile>> {
  const ids = parts.flatMap((part) => (part.type === 'id' && isId('chatFile', part.id) ? [part.id] : []));
  const chatFiles = ids.length === 0 ? [] : await deps.storage.conversations.chatFiles.findMany(chat.id, ids);
  const files = new Map(
    chatFiles.flatMap(({ blobKey, ...file }) => (blobKey === null ? [] : [[file.id, { ...file, blobKey }] as const])),
  );
  const faults = new Faults();
  for (const [index, part] of parts.entries()) {
    if (part.type === 'id' && !files.has(part.id)) {
      faults.add(`prompt[${index}].id`, `prompt[${index}].id names no file of this chat, or one without content`);
    }
  }
  faults.throwIfAny();
  return files;
}

/** Whether the part is an inline image and the model accepts images. */
function isSeenAsItIs(part: PromptPart, { acceptsImages }: ModelInfo): boolean {
  return part.type === 'url' && acceptsImages && isInline(part.url);
}
