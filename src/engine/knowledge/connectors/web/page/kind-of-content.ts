import { fileTypeFromBuffer } from 'file-type';
import { type DocumentKind, extensionOf, kindByExtension, kindByMimeType, pageExtensions } from './kind.ts';

/**
 * What the content is, where its beginning contradicts or completes the head of the reply; null for something that is not read. It looks into archives, so only the
 * process that reads pages may import it.
 */
export async function kindOfContent(
  bytes: Uint8Array,
  said: DocumentKind | undefined,
  url: string,
): Promise<DocumentKind | null> {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 1024)).toString('latin1');
  if (head.includes('%PDF-')) return 'PDF';
  const isPage =
    /^\s*(?:\xef\xbb\xbf\s*)?(?:<!--(?:(?!-->)[\s\S])*-->\s*)*(?:<\?xml[^>]*>\s*)?<(?:!doctype\s+html|html|head|body)\b/i.test(
      head,
    );
  // A login page in place of a file, and a page whose type nobody set.
  if (isPage && said !== 'TEXT') return 'PAGE';
  if (said !== undefined) return said;
  const found = await fileTypeFromBuffer(bytes).catch(() => undefined);
  const named = kindByExtension.get(extensionOf(url));
  if (found === undefined) return named ?? (pageExtensions.has(extensionOf(url)) && /<\w/.test(head) ? 'PAGE' : null);
  // An old office file says no more than that it is one.
  if (found.mime === 'application/x-cfb') return named === 'DOC' || named === 'XLS' ? named : null;
  return kindByMimeType[found.mime] ?? null;
}
