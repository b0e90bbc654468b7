import type { ModelInfo } from '../../../engine/models/catalog.ts';
import { isInline } from '../../../engine/models/inline-images.ts';
import type { ChatMessage, NewMessage } from '../../../entities/conversations/chats/chat.ts';
import type { StoredFile } from '../../../entities/conversations/files/file.ts';
import { itemIncludes, type ResponseItem, type WireObject } from '../../../entities/conversations/runs/response.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { type IdKind, isId } from '../../../entities/ground/ids.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { isObject } from '../../../lib/json/json.ts';
import type { ResponseOwner } from '../../../storage/conversations/runs/responses.ts';
import { toWireItem } from '../../../wire/responses/output-items.ts';
import type { Deps } from '../../deps.ts';
import {
  type AttachmentSource,
  bytesOfDataUrl,
  readAttachments,
  requireAttachmentCount,
} from '../../ground/attachments/attachments.ts';
import { requireOwnFiles } from '../../ground/attachments/own-files.ts';
import { Faults } from '../../ground/faults.ts';
import { type ApprovalAnswer, type SettledApprovals, settleApprovals, toApproval } from '../runs/approvals.ts';
import type { RequestItem } from './items.ts';
import { findAnsweredId, findCallId, messagesOfItems } from './messages.ts';
import type { ResponseRequest } from './request.ts';
import { outputsAfterApproval } from './tool-items.ts';

const idKinds: Readonly<Record<string, IdKind>> = {
  message: 'message',
  function_call: 'functionCall',
  server_tool_call: 'serverToolCall',
  server_tool_call_output: 'serverToolOutput',
  reasoning: 'reasoning',
  web_search_call: 'webSearchCall',
  file_search_call: 'fileSearchCall',
  mcp_call: 'mcpCall',
  mcp_list_tools: 'mcpList',
  compaction: 'compaction',
};

/**
 * Replaces references by the items they name, and gives ids to new items.
 *
 * @throws DomainError INVALID_VALUE naming each reference to an item that does not exist or belongs to another user.
 */
export async function resolveItems(
  deps: Deps,
  owner: ResponseOwner,
  requestItems: readonly RequestItem[],
): Promise<readonly ResponseItem[]> {
  const referenceIds = requestItems.flatMap(({ item }) =>
    item.type === 'item_reference' || isBareThought(item) ? [String(item.id)] : [],
  );
  const matchesById = await deps.storage.conversations.responses.findItems(referenceIds, owner);
  const faults = new Faults();
  const items = requestItems.flatMap(({ item, at }): ResponseItem[] => {
    const itemMatch = matchesById.get(String(item.id));
    if (isBareThought(item) && itemMatch?.direction === 'output' && itemMatch.item.type === 'reasoning') {
      return [{ itemId: itemMatch.itemId, item: toWireItem(itemMatch.item, itemIncludes) }];
    }
    if (item.type !== 'item_reference') return [withId(deps, item)];
    if (itemMatch === undefined) {
      faults.add(`${at}.id`, `${at}.id names no item of yours`);
      return [];
    }
    return [
      {
        itemId: itemMatch.itemId,
        item: itemMatch.direction === 'input' ? itemMatch.item : toWireItem(itemMatch.item, itemIncludes),
      },
    ];
  });
  faults.throwIfAny();
  return withOwnIds(deps, items);
}

/** A thought without what its provider demands to see again: clients that keep items by their ids send it so. */
function isBareThought(item: WireObject): boolean {
  return item.type === 'reasoning' && typeof item.id === 'string' && typeof item.encrypted_content !== 'string';
}

/** @throws DomainError INVALID_VALUE for outputs of unknown calls. */
export function requireCalls(
  requestItems: readonly RequestItem[],
  items: readonly ResponseItem[],
  history: readonly (ChatMessage | NewMessage)[],
): void {
  const callIds = new Set(items.flatMap(({ item }) => findCallId(item) ?? []));
  for (const message of history) {
    for (const call of message.toolCalls ?? []) callIds.add(call.id);
    for (const part of message.context ?? []) {
      if (isObject(part) && Array.isArray(part.toolCalls)) for (const call of part.toolCalls) callIds.add(String(call.id));
    }
  }
  const faults = new Faults();
  for (const { item, at } of requestItems) {
    const answeredId = findAnsweredId(item);
    if (answeredId === undefined || callIds.has(answeredId)) continue;
    const member = item.type === 'mcp_approval_response' ? 'approval_request_id' : 'call_id';
    faults.add(`${at}.${member}`, `${at}.${member} names no call of this conversation`);
  }
  faults.throwIfAny();
}

/**
 * The answers of the request to calls that wait for approval, checked.
 *
 * @throws DomainError as `settleApprovals`; UNSUPPORTED_VALUE for an approval in chat mode `chat`, which makes no call of the service.
 */
export function settleAnswers(
  deps: Deps,
  { caller, read, items, messages }: Pick<ResponseRequest, 'caller' | 'read' | 'items' | 'messages'>,
): Promise<SettledApprovals> {
  const answers = approvalAnswers(read.items, items, messages);
  if (read.chatMode === 'chat' && answers.some(({ approves, isPast }) => approves && isPast !== true)) {
    const message = 'input approves a call, and chat_mode "chat" makes none: approve it with "execute", or refuse it';
    throw new DomainError('UNSUPPORTED_VALUE', message, { param: 'input' });
  }
  return settleApprovals(deps, caller, answers);
}

/** What a caller writes, or the service lists: behind it, an answer may still be the newest. Everything else is the model's. */
const callerTypes = ['function_call_output', 'mcp_approval_request', 'mcp_approval_response', 'mcp_list_tools', 'compaction'];

function isOfModel({ item }: ResponseItem): boolean {
  return item.type === 'message' ? item.role === 'assistant' : !callerTypes.includes(String(item.type));
}

/**
 * The answers among the items to calls that wait for approval.
 *
 * @param given  the items as the request wrote them, in the same order.
 * @param messages  what the items became.
 */
function approvalAnswers(
  requestItems: readonly RequestItem[],
  items: readonly ResponseItem[],
  messages: readonly NewMessage[],
): readonly ApprovalAnswer[] {
  const lastOfModel = items.findLastIndex(isOfModel);
  const made = outputsAfterApproval(items);
  const outputs = new Map(messages.map((message) => [message.toolCallId, message]));
  return items.flatMap(({ item }, index): readonly ApprovalAnswer[] => {
    const callId = findAnsweredId(item);
    const isResponse = item.type === 'mcp_approval_response';
    if (callId === undefined || made.has(callId) || !(isResponse || isId('mcpApproval', callId))) return [];
    const at = requestItems[index]?.at ?? 'input';
    const { toolStatus, content = '' } = outputs.get(callId) ?? {};
    return [
      {
        ...{ callId, at: `${at}.${isResponse ? 'approval_request_id' : 'call_id'}`, argumentsAt: `${at}.output` },
        ...{ isPast: index < lastOfModel, ...toApproval(toolStatus ?? 'success', content) },
      },
    ];
  });
}

/** The caller of the items, and the model that gets them. */
export interface Giving {
  readonly caller: Caller;
  readonly model: ModelInfo;
  /** Most tokens of text of the request's files together; the rest is cut, with a note. */
  readonly tokensMax: number;
  readonly runId: string | null;
  /** The member that holds the items; default `input`. */
  readonly member?: string;
}

/**
 * The items as messages of a chat. Files and addresses are read now, once: later turns use the text from this time.
 *
 * @throws DomainError INVALID_VALUE naming each file that is none of the caller, each address that cannot be fetched, each
 * document without text, and images that the model cannot see; REQUEST_TIMEOUT.
 */
export async function toMessages(
  deps: Deps,
  items: readonly ResponseItem[],
  { caller, model, tokensMax, runId, member = 'input' }: Giving,
  signal: AbortSignal,
): Promise<readonly NewMessage[]> {
  const parts = items.flatMap(({ item }, index) => unreadParts(item, `${member}[${index}]`));
  requireAttachmentCount(member, parts.length);
  const fileReferences = parts.flatMap(({ part, param }) =>
    typeof part.file_id === 'string' ? [{ id: part.file_id, param }] : [],
  );
  const files = await requireOwnFiles(deps, caller, fileReferences);
  const sources = parts.map((part) => toAttachmentSource(part, files));
  const read = await readAttachments(deps, sources, { owner: caller, model, tokensMax }, signal);
  const contextByPart = new Map(parts.map(({ part }, index) => [part, read[index]]));
  const newMessageId = () => deps.newId('message');
  return messagesOfItems(items, { runId, createdAt: deps.now(), seesImages: model.acceptsImages, newMessageId }, (part) =>
    contextByPart.get(part),
  );
}

interface UnreadPart {
  readonly part: WireObject;
  /** The member with the reference to the content, as in the request. */
  readonly param: string;
}

/** Parts whose content must be read. */
function unreadParts(item: WireObject, at: string): readonly UnreadPart[] {
  const member = item.type === 'message' ? 'content' : 'output';
  const parts = item[member];
  if (!Array.isArray(parts)) return [];
  return parts.flatMap((part: unknown, index) => {
    if (!isObject(part)) return [];
    const isFile = part.type === 'input_file';
    const isImage = part.type === 'input_image' || part.type === 'output_image';
    const name = (isFile ? ['file_id', 'file_url', 'file_data'] : ['file_id', 'image_url']).find(
      (candidate) => typeof part[candidate] === 'string' && !(isImage && isInline(String(part[candidate]))),
    );
    return (isFile || isImage) && name !== undefined ? [{ part, param: `${at}.${member}[${index}].${name}` }] : [];
  });
}

function toAttachmentSource({ part, param }: UnreadPart, files: ReadonlyMap<unknown, StoredFile>): AttachmentSource {
  const { filename, detail, file_url: fileUrl } = part;
  const url = part.type === 'input_file' ? fileUrl : part.image_url;
  const file = files.get(part.file_id);
  return {
    param,
    from: file ?? (typeof url === 'string' ? { url } : bytesOfDataUrl(String(part.file_data), String(filename ?? 'file'))),
    ...(typeof filename === 'string' ? { name: filename } : {}),
    ...(part.type === 'input_file' ? {} : { isImage: true }),
    ...(detail === 'low' || detail === 'high' ? { detail } : {}),
  };
}

function withId(deps: Deps, item: WireObject): ResponseItem {
  const { id, status, ...rest } = item;
  const itemId = typeof id === 'string' ? id : createItemId(deps, item);
  // Every item has a status; the default is completed.
  return { itemId, item: { id: itemId, status: typeof status === 'string' ? status : 'completed', ...rest } };
}

/** A repeated item gets a new id: lists are paged by ids. */
function withOwnIds(deps: Deps, items: readonly ResponseItem[]): readonly ResponseItem[] {
  const usedIds = new Set<string>();
  return items.map((originalItem) => {
    if (!usedIds.has(originalItem.itemId)) {
      usedIds.add(originalItem.itemId);
      return originalItem;
    }
    const itemId = createItemId(deps, originalItem.item);
    return { itemId, item: { ...originalItem.item, id: itemId } };
  });
}

function createItemId(deps: Deps, { type }: WireObject): string {
  return deps.newId(idKinds[String(type)] ?? 'input');
}
