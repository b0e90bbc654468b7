import type { OutputFile } from '../../../entities/conversations/runs/tool.ts';
import { inlineImageTypes } from '../../../lib/image-type.ts';
import { isInline } from '../../models/inline-images.ts';
import type { ModelMessage } from '../../models/port.ts';

/** A reference to an image that a call of a tool gave, among the files of its run. Its bytes are read when a model gets them. */
export interface ToolImagePart {
  readonly type: 'tool-image';
  /** The id of the chat file; its name in a run that stores nothing. */
  readonly id: string;
  readonly name: string;
}

/**
 * The message that shows a model the images of a call: a user message, because most providers take text only as the output of a call. It stands
 * behind the outputs of its turn.
 *
 * @returns none without images that models take (PNG, JPEG, GIF, WebP).
 */
export function toolImages(callId: string, files: readonly OutputFile[] | undefined): readonly ModelMessage[] {
  const images = (files ?? []).filter(({ mimeType }) => inlineImageTypes.includes(mimeType));
  if (images.length === 0) return [];
  const parts = images.map(
    ({ fileId, filename }): ToolImagePart => ({ type: 'tool-image', id: fileId ?? filename, name: filename }),
  );
  return [{ role: 'user', content: [{ type: 'text', text: imagesLead(callId, images.length) }, ...parts] } as ModelMessage];
}

/** The same for a call whose files are kept nowhere: images that stand in the result themselves. */
export function keptToolImages(callId: string, files: readonly OutputFile[] | undefined): readonly ModelMessage[] {
  const storedFiles = (files ?? []).filter(({ fileId }) => fileId !== null);
  if (storedFiles.length > 0) return toolImages(callId, storedFiles);
  const images = (files ?? []).filter(({ mimeType, url }) => inlineImageTypes.includes(mimeType) && isInline(url));
  if (images.length === 0) return [];
  const parts = images.map(({ url }) => ({ type: 'image', url }) as const);
  return [{ role: 'user', content: [{ type: 'text', text: imagesLead(callId, images.length) }, ...parts] }];
}

/** Introduces images that a call gave. */
export function imagesLead(callId: string, count: number): string {
  return `${imageCount(count)} of the output of call ${callId}:`;
}

export function imageCount(count: number): string {
  return count === 1 ? 'One image' : `${count} images`;
}

export function isToolImage(part: { readonly type: string }): part is ToolImagePart {
  return part.type === 'tool-image';
}
