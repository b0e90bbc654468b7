import { EgressError } from '../engine/egress/error.ts';
import { estimateTokens } from '../engine/knowledge/tokens.ts';
import type { ModelMessage, ModelPart } from '../engine/models/port.ts';
import type { ModelInfo } from '../engine/models/router.ts';
import { writeGivenFile } from '../engine/runs/given-files.ts';
import type { FileImagePart } from '../engine/runs/stored/file-images.ts';
import type { Chat, PromptPart } from '../entities/chat.ts';
import type { ChatFile } from '../entities/chat-file.ts';
import { DomainError } from '../entities/errors.ts';
import { isId } from '../entities/ids.ts';
import { storableText } from '../lib/text.ts';
import type { Deps } from './deps.ts';
import { Faults } from './faults.ts';

type ContextPart = ModelPart | FileImagePart;
interface Given {
  readonly bytes: Buffer;
  readonly filename: string;
  readonly mimeType: string;
  /** Of a file of the chat. */
  readonly blobKey?: string;
}

/** Files and addresses in one message; each may take a process or a call. */
const givenMax = 20;
const timeoutMs = 60_000;
const fetchTimeoutMs = 15_000;
const imageAddress = /^data:image\/|^https?:\/\/[^?#]+\.(?:png|jpe?g|gif|webp)(?:[?#]|$)/i;

/**
 * What a model is given in place of a prompt with files or addresses: images where it sees them, everything else as the text in it, a
 * delimited block each, cut to CHAT_FILE_TOKENS_MAX together.
 *
 * @returns null for a prompt that can be given as it is.
 * @throws DomainError naming `prompt[n].id` or `prompt[n].url`: for a file that is none of the chat or has no content, an address that
 *   may not or could not be fetched, what gives no text, and images for a model that sees none; REQUEST_TIMEOUT.
 */
export async function contextOfPrompt(
  deps: Deps,
  chat: Chat,
  parts: readonly PromptPart[] | null,
  model: ModelInfo,
  inputTokensMax: number | undefined,
): Promise<readonly ModelMessage[] | null> {
  if (parts === null || parts.every((part) => part.type === 'text' || isSeenAsItIs(part, model))) return null;
  const faults = new Faults();
  if (parts.filter(({ type }) => type !== 'text').length > givenMax) {
    faults.add('prompt', `prompt must have at most ${givenMax} files and addresses`);
    faults.throwIfAny();
  }
  const files = await filesOf(deps, chat, parts, faults);
  const signal = AbortSignal.timeout(timeoutMs);
  const budget = new Budget(
    Math.min(deps.settings.CHAT_FILE_TOKENS_MAX, Math.floor((inputTokensMax ?? model.contextTokensMax) / 2)),
  );
  const content: ContextPart[] = [];
  for (const [index, part] of parts.entries()) {
    const param = `prompt[${index}].${part.type}`;
    try {
      content.push(await readPart(deps, part, { files, model, budget, param, signal }));
    } catch (error) {
      if (signal.aborted) throw new DomainError('REQUEST_TIMEOUT', `${param} could not be read in ${timeoutMs} ms`, { param });
      if (!(error instanceof DomainError) || error.code !== 'INVALID_VALUE') throw error;
      faults.add(param, error.message);
    }
  }
  faults.throwIfAny();
  const isText = content.every(({ type }) => type === 'text');
  return [
    {
      role: 'user',
      content: isText ? content.map((part) => (part as { text: string }).text).join('\n\n') : content,
    } as ModelMessage,
  ];
}

interface Reading {
  readonly files: ReadonlyMap<string, ChatFile>;
  readonly model: ModelInfo;
  readonly budget: Budget;
  readonly param: string;
  readonly signal: AbortSignal;
}

async function readPart(deps: Deps, part: PromptPart, reading: Reading): Promise<ContextPart> {
  const { model, param } = reading;
  if (part.type === 'text') return { type: 'text', text: part.text };
  if (part.type === 'url' && isSeenAsItIs(part, model)) return { type: 'image', url: part.url };
  if (part.type === 'url' && part.url.startsWith('data:')) throw unseen(param, 'is an image', model);
  const given = part.type === 'id' ? await readFile(deps, part.id, reading) : await fetchAddress(deps, part.url, reading);
  const imageType = imageTypeOf(given.bytes);
  if (imageType === undefined) return { type: 'text', text: await textOf(deps, given, reading) };
  if (!model.acceptsImages) throw unseen(param, `is the image ${given.filename}`, model);
  if (given.blobKey !== undefined)
    return { type: 'chat-file', blobKey: given.blobKey, mimeType: imageType, name: given.filename };
  return { type: 'image', url: `data:${imageType};base64,${given.bytes.toString('base64')}` };
}

async function textOf(deps: Deps, given: Given, { budget, param, signal }: Reading): Promise<string> {
  const text = storableText(await deps.knowledge.readFile(given, param, signal));
  const block = writeGivenFile({ name: given.filename, text }, budget.left);
  budget.take(estimateTokens(block));
  return block;
}

async function readFile(deps: Deps, id: string, { files, param }: Reading): Promise<Given> {
  const file = files.get(id);
  // Told already: all of them are looked up at once.
  if (file === undefined || file.blobKey === null) throw invalid(param, `${param} names no file of this chat`);
  const bytes = await deps.storage.blobs.read(file.blobKey);
  return { bytes, filename: file.filename, mimeType: file.mimeType, blobKey: file.blobKey };
}

async function fetchAddress(deps: Deps, url: string, { param, signal }: Reading): Promise<Given> {
  try {
    const bytesMax = deps.settings.CHAT_FILE_MAX_BYTES;
    const reply = await deps.egress.send({ url, bytesMax, timeoutMs: fetchTimeoutMs }, signal);
    if (reply.status >= 300) throw invalid(param, `${param} could not be read: the address answered ${reply.status}`);
    const mimeType = (reply.headers['content-type'] ?? '').split(';')[0]?.trim() ?? '';
    return { bytes: reply.body, filename: url.slice(0, 300), mimeType: mimeType.slice(0, 200) };
  } catch (error) {
    if (error instanceof EgressError) throw invalid(param, `${param} could not be read: ${error.message}`);
    throw error;
  }
}

/** The files that parts name, in one statement; a record without content, another chat's file and a missing one look alike. */
async function filesOf(
  deps: Deps,
  chat: Chat,
  parts: readonly PromptPart[],
  faults: Faults,
): Promise<ReadonlyMap<string, ChatFile>> {
  const ids = parts.flatMap((part) => (part.type === 'id' && isId('chatFile', part.id) ? [part.id] : []));
  const found = ids.length === 0 ? [] : await deps.storage.chatFiles.findMany(chat.id, ids);
  const files = new Map(found.filter(({ blobKey }) => blobKey !== null).map((file) => [file.id, file]));
  for (const [index, part] of parts.entries()) {
    if (part.type === 'id' && !files.has(part.id)) {
      faults.add(`prompt[${index}].id`, `prompt[${index}].id names no file of this chat, or one without content`);
    }
  }
  faults.throwIfAny();
  return files;
}

/** An image by its address, for a model that fetches it or reads it from there. */
function isSeenAsItIs(part: PromptPart, { acceptsImages }: ModelInfo): boolean {
  return part.type === 'url' && acceptsImages && imageAddress.test(part.url);
}

/** By the first bytes: names and declared types are not trusted. */
function imageTypeOf(bytes: Buffer): string | undefined {
  if (bytes.subarray(0, 4).equals(Buffer.from([0x89, 0x50, 0x4e, 0x47]))) return 'image/png';
  if (bytes.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff]))) return 'image/jpeg';
  const start = bytes.toString('latin1', 0, 12);
  if (start.startsWith('GIF87a') || start.startsWith('GIF89a')) return 'image/gif';
  return start.startsWith('RIFF') && start.endsWith('WEBP') ? 'image/webp' : undefined;
}

/** Tokens that the files of one message share; who comes first is served first. */
class Budget {
  left: number;

  constructor(tokensMax: number) {
    this.left = tokensMax;
  }

  take(tokens: number): void {
    this.left = Math.max(0, this.left - tokens);
  }
}

function unseen(param: string, what: string, { id }: ModelInfo): DomainError {
  return invalid(param, `${param} ${what}, but the model ${id} takes no images`);
}

function invalid(param: string, message: string): DomainError {
  return new DomainError('INVALID_VALUE', message, { param });
}
