import { DomainError } from '../../../entities/errors.ts';
import type { Blobs } from '../../../storage/blobs/blobs.ts';
import type { ModelMessage, ModelPart } from '../../models/port.ts';

/** A reference to an image among the files of a chat; its bytes are read when a model gets them. */
export interface FileImagePart {
  readonly type: 'chat-file';
  readonly blobKey: string;
  readonly mimeType: string;
  readonly name: string;
  readonly detail?: 'auto' | 'low' | 'high';
}

/** Most bytes of images in one request; the newest images come first. */
const imagesBytesMax = 20 * 1024 * 1024;

/**
 * Replaces image references by the images' bytes. The name replaces an image that is gone, that the model cannot see, or that is
 * over the limit. Only files of the run's organization are read.
 */
export async function withFileImages(
  messages: readonly ModelMessage[],
  { orgId, acceptsImages }: { readonly orgId: string; readonly acceptsImages: boolean },
  blobs: Pick<Blobs, 'read'>,
): Promise<readonly ModelMessage[]> {
  if (!messages.some(hasFileImage)) return messages;
  const result = [...messages];
  let left = imagesBytesMax;
  for (let place = result.length - 1; place >= 0; place -= 1) {
    const message = result[place];
    if (message === undefined || !hasFileImage(message)) continue;
    const content: ModelPart[] = [];
    for (const part of message.content as readonly (ModelPart | FileImagePart)[]) {
      if (part.type !== 'chat-file') {
        content.push(part);
        continue;
      }
      const bytes = acceptsImages && part.blobKey.startsWith(`${orgId}/`) ? await readIfThere(blobs, part.blobKey) : undefined;
      if (bytes === undefined || bytes.length > left) content.push({ type: 'text', text: `[image ${part.name}, not shown]` });
      else {
        left -= bytes.length;
        const detail = part.detail === undefined ? {} : { detail: part.detail };
        content.push({ type: 'image', url: `data:${part.mimeType};base64,${bytes.toString('base64')}`, ...detail });
      }
    }
    result[place] = { role: 'user', content };
  }
  return result;
}

function hasFileImage({ role, content }: ModelMessage): boolean {
  return role === 'user' && typeof content !== 'string' && content.some((part) => (part.type as string) === 'chat-file');
}

async function readIfThere(blobs: Pick<Blobs, 'read'>, key: string): Promise<Buffer | undefined> {
  try {
    return await blobs.read(key);
  } catch (error) {
    if (error instanceof DomainError && error.code === 'NOT_FOUND') return undefined;
    throw error;
  }
}
