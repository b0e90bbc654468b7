import { fileTypeFromBuffer } from 'file-type';
import { decodeText, wideCharset } from './charset.ts';
import type { DocumentBytes } from './document.ts';
import { ExtractError } from './error.ts';

export type DocumentType =
  | { readonly format: 'pdf' | 'html'; readonly mimeType: string }
  | { readonly format: 'markdown' | 'text' | 'csv' | 'json'; readonly mimeType: string; readonly text: string };

const sampleBytes = 64 * 1024;
/** Text may contain a few stray control characters. */
const controlShareMax = 0.01;
const textFormats = {
  markdown: { mimeType: 'text/markdown', extension: /\.(?:md|mdx|markdown|mdown|mkd)$/i, declared: /markdown/i },
  csv: { mimeType: 'text/csv', extension: /\.(?:csv|tsv|tab)$/i, declared: /\/(?:csv|tab-separated-values)\b/i },
  json: { mimeType: 'application/json', extension: /\.(?:json|jsonl|ndjson|geojson)$/i, declared: /\bjson\b|ndjson/i },
  html: { mimeType: 'text/html', extension: /\.(?:html?|xhtml)$/i, declared: /html/i },
} as const;

/**
 * Determines the type of a document by its content. The file's name decides between kinds of text; the declared type decides only
 * when the name has no known extension.
 *
 * @throws ExtractError UNSUPPORTED_TYPE, with the type that was found.
 */
export async function sniff(document: DocumentBytes): Promise<DocumentType> {
  const { bytes } = document;
  if (bytes.byteLength === 0) throw new ExtractError('NO_TEXT', 'The file is empty.');
  if (Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 1024)).includes('%PDF-')) {
    return { format: 'pdf', mimeType: 'application/pdf' };
  }
  if (!isText(bytes)) {
    const found = await fileTypeFromBuffer(bytes).catch(() => undefined);
    throw unsupported(found === undefined ? 'a binary file of an unknown kind' : found.mime);
  }
  const head = decodeText(bytes.subarray(0, 4096))
    .replace(/^\ufeff/, '')
    .trimStart();
  if (head.startsWith('{\\rtf')) throw unsupported('application/rtf');
  if (head.startsWith('%!PS')) throw unsupported('application/postscript');
  if (/^(?:<!--(?:(?!-->)[\s\S])*-->\s*)*(?:<\?xml[^>]*>\s*)?<(?:!doctype html|html|head|body)\b/i.test(head)) {
    return { format: 'html', mimeType: 'text/html' };
  }
  const named = formatNamed(document);
  if (named === 'html') return { format: 'html', mimeType: 'text/html' };
  const text = decodeText(bytes);
  if (named !== undefined) return { format: named, mimeType: textFormats[named].mimeType, text };
  if (/^[[{]/.test(head) && isJson(text)) return { format: 'json', mimeType: 'application/json', text };
  return { format: 'text', mimeType: 'text/plain', text };
}

function formatNamed({ filename, mimeType }: DocumentBytes): keyof typeof textFormats | undefined {
  const formats = Object.entries(textFormats) as [keyof typeof textFormats, (typeof textFormats)[keyof typeof textFormats]][];
  const byName = formats.find(([, { extension }]) => extension.test(filename))?.[0];
  if (byName !== undefined || /\.\w{1,8}$/.test(filename)) return byName;
  return formats.find(([, { declared }]) => declared.test(mimeType))?.[0];
}

/** Text contains no unusual control characters. Bytes with the zero bytes of UTF-16 are checked as UTF-16. */
function isText(bytes: Uint8Array): boolean {
  const sample = bytes.subarray(0, sampleBytes);
  const wide = wideCharset(sample);
  const codes = wide === undefined ? sample : Array.from(decodeText(sample, wide), (char) => char.charCodeAt(0));
  let controls = 0;
  for (const code of codes) if (code < 0x20 && (code < 0x07 || code > 0x0d) && code !== 0x1b) controls += 1;
  return controls <= codes.length * controlShareMax;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function unsupported(found: string): ExtractError {
  return new ExtractError(
    'UNSUPPORTED_TYPE',
    `The file is ${found}, which cannot be read. Markdown, text, PDF, HTML, CSV and JSON can.`,
  );
}
