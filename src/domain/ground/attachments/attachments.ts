import { EgressError } from '../../../engine/egress/error.ts';
import type { ModelInfo } from '../../../engine/models/catalog.ts';
import type { ModelPart } from '../../../engine/models/port.ts';
import { writePromptFile } from '../../../engine/models/prompts/files.ts';
import { estimateTokens } from '../../../engine/models/tokens.ts';
import type { FileImagePart } from '../../../engine/runs/model/file-images.ts';
import type { ChatFile } from '../../../entities/conversations/chats/file.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { ShareOwner } from '../../../lib/flow/fair-share.ts';
import { detectImageType } from '../../../lib/image-type.ts';
import { storableText } from '../../../lib/text/text.ts';
import type { Deps } from '../../deps.ts';
import { Faults } from '../faults.ts';

/** A part of a model's context; an image of a chat's files is a reference without bytes. */
export type ContextPart = ModelPart | FileImagePart;

/** A file, address or bytes that came with a message and must be read. */
export interface AttachmentSource {
  /** The caller's name of it, for errors: `prompt[1].id`. */
  readonly param: string;
  readonly from: PromptFile | { readonly url: string } | AttachmentBytes;
  /** Default: the name of the file, or the address. */
  readonly name?: string;
  /** Refuses everything except images. */
  readonly isImage?: boolean;
  readonly detail?: 'auto' | 'low' | 'high';
}

/** A file that is kept, with its content. */
export type PromptFile = Pick<ChatFile, 'filename' | 'mimeType' | 'sizeBytes'> & { readonly blobKey: string };

export interface AttachmentBytes {
  readonly bytes: Buffer;
  readonly filename: string;
  readonly mimeType: string;
}

/** The bytes of a data URL in base64. */
export function bytesOfDataUrl(url: string, filename: string): AttachmentBytes {
  const mimeType = /^data:([^;,]*)/i.exec(url)?.[1] ?? '';
  return { bytes: Buffer.from(url.slice(url.indexOf(',') + 1), 'base64'), filename, mimeType };
}

export interface AttachmentLimits {
  /** The reading counts for this owner: its places, look-ups and calls. */
  readonly owner: ShareOwner;
  readonly model: ModelInfo;
  /** Most tokens of text of all of them together; the rest is cut, with a note. Earlier ones get their text first. */
  readonly tokensMax: number;
}

/** Most files and addresses in one request; each may need a process or a call. */
export const messageAttachmentsMax = 20;
const timeoutMs = 60_000;

/**
 * Reads the files and addresses of a message, one after the other: images as images, everything else as its text, each in a delimited block.
 *
 * @returns one part for each source, in order.
 * @throws DomainError naming the source: an address that may not or cannot be fetched, a document without text or too large, an image for a model
 * without images; REQUEST_TIMEOUT after a minute for all of them.
 */
export async function readAttachments(
  deps: Deps,
  sources: readonly AttachmentSource[],
  { owner, model, tokensMax }: AttachmentLimits,
  caller?: AbortSignal,
): Promise<readonly ContextPart[]> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = caller === undefined ? timeout : AbortSignal.any([timeout, caller]);
  const faults = new Faults();
  const parts: ContextPart[] = [];
  const fetchBudget: FetchBudget = { bytesLeft: deps.settings.PROMPT_FETCH_MAX_BYTES };
  let remainingTokens = tokensMax;
  let textChars = 0;
  for (const source of sources) {
    const { param } = source;
    try {
      const part = await readSource(deps, source, { owner, model, tokensMax: remainingTokens, fetched: fetchBudget, signal });
      if (part.type === 'text') {
        remainingTokens = Math.max(0, remainingTokens - estimateTokens(part.text));
        textChars += part.text.length;
        if (textChars > deps.settings.EXTRACT_TEXT_MAX_CHARS) throw tooMuchText(param, deps.settings.EXTRACT_TEXT_MAX_CHARS);
      }
      parts.push(part);
    } catch (error) {
      caller?.throwIfAborted();
      if (signal.aborted) throw new DomainError('REQUEST_TIMEOUT', `${param} could not be read in ${timeoutMs} ms`, { param });
      if (!(error instanceof DomainError) || error.code !== 'INVALID_VALUE') throw error;
      faults.add(param, error.message);
    }
  }
  faults.throwIfAny();
  return parts;
}

/** @throws DomainError when a request has more files than allowed. */
export function requireAttachmentCount(param: string, count: number): void {
  if (count <= messageAttachmentsMax) return;
  throw new DomainError('INVALID_VALUE', `${param} must have at most ${messageAttachmentsMax} files and addresses`, { param });
}

/** The error for an image given to a model that takes none. */
export function unseen(param: string, what: string, { id }: ModelInfo): DomainError {
  return invalid(param, `${param} ${what}, but the model ${id} takes no images`);
}

/** Limits of one request. */
interface FetchBudget {
  bytesLeft: number;
}

interface Reading extends AttachmentLimits {
  readonly fetched: FetchBudget;
  readonly signal: AbortSignal;
}

async function readSource(deps: Deps, source: AttachmentSource, reading: Reading): Promise<ContextPart> {
  const { param, from, detail } = source;
  const { owner, model, tokensMax, signal } = reading;
  if ('url' in from && source.isImage === true && !model.acceptsImages) throw unseen(param, 'is an image', model);
  const sourceBytes = await loadBytes(deps, source, reading);
  const imageType = detectImageType(sourceBytes.bytes);
  if (imageType === undefined) {
    if (source.isImage === true) throw invalid(param, `${param} is none of PNG, JPEG, GIF and WebP`);
    const text = storableText(await deps.knowledge.readFile(owner, sourceBytes, param, signal));
    return { type: 'text', text: writePromptFile({ name: sourceBytes.filename, text }, tokensMax) };
  }
  if (!model.acceptsImages) throw unseen(param, `is the image ${sourceBytes.filename}`, model);
  const detailOption = detail === undefined ? {} : { detail };
  if ('blobKey' in from)
    return { type: 'chat-file', blobKey: from.blobKey, mimeType: imageType, name: sourceBytes.filename, ...detailOption };
  return { type: 'image', url: `data:${imageType};base64,${sourceBytes.bytes.toString('base64')}`, ...detailOption };
}

async function loadBytes(deps: Deps, { param, from, name }: AttachmentSource, reading: Reading): Promise<AttachmentBytes> {
  const bytesMax = deps.settings.CHAT_FILE_MAX_BYTES;
  if ('url' in from) return fetchAddress(deps, { url: from.url, name, param }, reading);
  if ('bytes' in from) {
    if (from.bytes.length > bytesMax) throw invalid(param, `${param} must have at most ${bytesMax} bytes`);
    return from;
  }
  if (from.sizeBytes > bytesMax) throw invalid(param, `${param} must have at most ${bytesMax} bytes`);
  const bytes = await deps.storage.blobs.read(from.blobKey);
  return { bytes, filename: name ?? from.filename, mimeType: from.mimeType };
}

async function fetchAddress(
  { egress, settings }: Deps,
  { url, name, param }: { readonly url: string; readonly name: string | undefined; readonly param: string },
  { owner, fetched: fetchBudget, signal }: Reading,
): Promise<AttachmentBytes> {
  const { CHAT_FILE_MAX_BYTES, PROMPT_FETCH_MAX_BYTES, EGRESS_FETCH_TIMEOUT_MS: timeoutMs } = settings;
  const bytesMax = Math.min(CHAT_FILE_MAX_BYTES, fetchBudget.bytesLeft);
  const beyond = `${param} could not be read: the addresses of one request may give ${PROMPT_FETCH_MAX_BYTES} bytes together`;
  if (bytesMax <= 0) throw invalid(param, beyond);
  try {
    const reply = await egress.send({ owner, url, bytesMax, timeoutMs }, signal);
    fetchBudget.bytesLeft -= reply.body.length;
    if (reply.status >= 300) throw invalid(param, `${param} could not be read: the address answered ${reply.status}`);
    const mimeType = (reply.headers['content-type'] ?? '').split(';')[0]?.trim() ?? '';
    return { bytes: reply.body, filename: name ?? url.slice(0, 300), mimeType: mimeType.slice(0, 200) };
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    const isBeyond = error.code === 'TOO_LARGE' && bytesMax < CHAT_FILE_MAX_BYTES;
    throw invalid(param, isBeyond ? beyond : `${param} could not be read: ${error.message}`);
  }
}

function tooMuchText(param: string, charsMax: number): DomainError {
  return invalid(param, `${param} and what stands before it give more than ${charsMax} characters of text`);
}

function invalid(param: string, message: string): DomainError {
  return new DomainError('INVALID_VALUE', message, { param });
}
