import { inlineImageTypes } from '../../../lib/image-type.ts';

/** How the content of a file is sent. */
export interface FileView {
  readonly contentType?: string;
  readonly isInline?: boolean;
}

/** Images in which nothing runs keep their declared type, and may be shown in a page; every other file is saved as bytes. */
export function fileView(mimeType: string): FileView {
  return inlineImageTypes.includes(mimeType) ? { contentType: mimeType, isInline: true } : {};
}
