import { DomainError } from '../../../entities/ground/errors.ts';
import { detectImageType } from '../../../lib/image-type.ts';
import type { Blobs } from '../../../storage/blobs/blobs.ts';
import type { ModelMessage, ModelPart } from '../../models/port.ts';
import type { RunFiles } from '../../tools/run-files.ts';
import { isToolImage, type ToolImagePart } from '../events/tool-images.ts';

/** A reference to an image among the files of a chat; its bytes are read when a model gets them. */
export interface FileImagePart {
  readonly type: 'chat-file';
  readonly blobKey: string;
  readonly mimeType: string;
  readonly name: string;
  readonly detail?: 'auto' | 'low' | 'high';
}

/** Who sees the images, and where they are. */
export interface ImageSight {
  readonly orgId: string;
  readonly acceptsImages: boolean;
  /** The files of the run; absent: no tool gave any. */
  readonly files?: Pick<RunFiles, 'read'> | undefined;
  /** Bytes that images may still have in this request. Default: `imagesBytesMax`. */
  readonly bytesLeft?: number;
}

/** Most bytes of images in one request; the newest images come first. */
export const imagesBytesMax = 20 * 1024 * 1024;
/** Most bytes of one image of a tool: in base64 it stays below the 5 MB that providers take. */
const toolImageBytesMax = 3_750_000;

/**
 * Replaces image references by the images' bytes. The name replaces an image that is gone, that the model cannot see, or that is
 * over the limit. Only files of the run's organization are read. A model without images gets no message with images of tools: the output of the
 * call names them.
 */
export async function withFileImages(
  messages: readonly ModelMessage[],
  sight: ImageSight,
  blobs: Pick<Blobs, 'read'>,
  signal: AbortSignal = new AbortController().signal,
): Promise<readonly ModelMessage[]> {
  if (!messages.some(hasImageReference)) return messages;
  const result: ModelMessage[] = [];
  let remainingBytes = sight.bytesLeft ?? imagesBytesMax;
  for (const message of messages.toReversed()) {
    if (!hasImageReference(message)) {
      result.push(message);
      continue;
    }
    const parts = message.content as readonly (ModelPart | FileImagePart | ToolImagePart)[];
    if (!sight.acceptsImages && parts.some(isToolImage)) continue;
    const content: ModelPart[] = [];
    for (const part of parts) {
      if (part.type !== 'chat-file' && !isToolImage(part)) {
        content.push(part);
        continue;
      }
      const image = isToolImage(part)
        ? await toolImage(part, sight, remainingBytes, signal)
        : await fileImage(part, sight, blobs);
      if (image === undefined || image.bytes.length > remainingBytes)
        content.push({ type: 'text', text: `[image ${part.name}, not shown]` });
      else {
        remainingBytes -= image.bytes.length;
        const detail = isToolImage(part) || part.detail === undefined ? {} : { detail: part.detail };
        content.push({ type: 'image', url: `data:${image.mimeType};base64,${image.bytes.toString('base64')}`, ...detail });
      }
    }
    result.push({ role: 'user', content });
  }
  return result.toReversed();
}

/** The bytes of the images that stand in messages. */
export function imageBytesIn(messages: readonly ModelMessage[]): number {
  let bytes = 0;
  for (const { content } of messages) {
    if (content === null || typeof content === 'string') continue;
    for (const part of content) if (part.type === 'image') bytes += (part.url.length * 3) / 4;
  }
  return bytes;
}

interface ReadImage {
  readonly bytes: Buffer;
  readonly mimeType: string;
}

async function fileImage(
  { blobKey, mimeType }: FileImagePart,
  { orgId, acceptsImages }: ImageSight,
  blobs: Pick<Blobs, 'read'>,
): Promise<ReadImage | undefined> {
  if (!acceptsImages || !blobKey.startsWith(`${orgId}/`)) return undefined;
  const bytes = await unlessMissing(blobs.read(blobKey));
  return bytes === undefined ? undefined : { bytes, mimeType };
}

async function toolImage(
  { id }: ToolImagePart,
  { files }: ImageSight,
  remainingBytes: number,
  signal: AbortSignal,
): Promise<ReadImage | undefined> {
  if (files === undefined || remainingBytes <= 0) return undefined;
  const bytes = await unlessMissing(files.read({ id }, Math.min(remainingBytes, toolImageBytesMax), signal));
  const mimeType = bytes === undefined ? undefined : detectImageType(bytes);
  return bytes === undefined || mimeType === undefined ? undefined : { bytes, mimeType };
}

/** Whether images of the message are still references. */
export function hasImageReference({ role, content }: ModelMessage): boolean {
  return role === 'user' && typeof content !== 'string' && content.some((part) => isReference(part));
}

function isReference({ type }: { readonly type: string }): boolean {
  return type === 'chat-file' || type === 'tool-image';
}

/** Undefined for a file that is gone, or larger than may be read. */
async function unlessMissing(reading: Promise<Buffer>): Promise<Buffer | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof DomainError && (error.code === 'NOT_FOUND' || error.code === 'REQUEST_TOO_LARGE')) return undefined;
    throw error;
  }
}
