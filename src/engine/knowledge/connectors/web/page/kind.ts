import type { WebUrlFileType } from '../../../../../entities/knowledge/data-source.ts';
import { decodePercents, storableText } from '../../../../../lib/text/text.ts';

/** A page, a file of one of the types that a source can choose, or something that is not read. */
export const documentKinds = ['PAGE', 'TEXT', 'CSV', 'PDF', 'MARKDOWN', 'DOC', 'XLS'] as const satisfies readonly (
  | 'PAGE'
  | WebUrlFileType
)[];
export type DocumentKind = (typeof documentKinds)[number];

/** Kinds by the type that a head says or that content has. */
export const kindByMimeType: Readonly<Record<string, DocumentKind>> = {
  'text/html': 'PAGE',
  'application/xhtml+xml': 'PAGE',
  'application/pdf': 'PDF',
  'application/x-pdf': 'PDF',
  'text/csv': 'CSV',
  'application/csv': 'CSV',
  'text/tab-separated-values': 'CSV',
  'text/markdown': 'MARKDOWN',
  'text/x-markdown': 'MARKDOWN',
  'text/plain': 'TEXT',
  'application/msword': 'DOC',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'DOC',
  'application/vnd.oasis.opendocument.text': 'DOC',
  'application/vnd.ms-excel': 'XLS',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'XLS',
  'application/vnd.oasis.opendocument.spreadsheet': 'XLS',
};

const extensions: Readonly<Record<WebUrlFileType, readonly string[]>> = {
  TEXT: ['txt', 'text', 'log', 'rst', 'adoc'],
  CSV: ['csv', 'tsv', 'tab'],
  PDF: ['pdf'],
  MARKDOWN: ['md', 'mdx', 'markdown', 'mkd'],
  DOC: ['doc', 'docx', 'odt'],
  XLS: ['xls', 'xlsx', 'xlsb', 'ods'],
};
/** Kinds of files by the ending of their address. */
export const kindByExtension = new Map<string, DocumentKind>(
  Object.entries(extensions).flatMap(([kind, endings]) => endings.map((ending) => [ending, kind as WebUrlFileType] as const)),
);
/** Endings of addresses that pages have. */
export const pageExtensions = new Set(['html', 'htm', 'xhtml', 'shtml', 'php', 'asp', 'aspx', 'jsp', 'jspx', 'do', 'cgi', 'cfm']);
/** Servers that know nothing of a file say one of these. */
const saysNothing = new Set([
  '',
  'application/octet-stream',
  'binary/octet-stream',
  'application/x-download',
  'application/force-download',
  'text/plain',
]);

/** Ending of the path, in lower case, without the dot. */
export function readExtension(url: string): string {
  return /\.([a-z0-9]{1,8})$/i.exec(new URL(url).pathname)?.[1]?.toLowerCase() ?? '';
}

/** What the head of a reply says; undefined when the content has to be looked at, null for something that is not read. */
export function kindOfHead(contentType: string, url: string): DocumentKind | undefined | null {
  const mimeType = (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
  const extension = readExtension(url);
  if (mimeType === 'application/vnd.ms-excel' && extension === 'csv') return 'CSV';
  if (mimeType === 'text/plain') return kindByExtension.get(extension) ?? 'TEXT';
  const kind = kindByMimeType[mimeType];
  if (kind !== undefined) return kind;
  return saysNothing.has(mimeType) ? undefined : null;
}

/** A name for the content, with an ending that fits its kind. */
export function toFilename(url: string, kind: DocumentKind): string {
  const last = new URL(url).pathname.split('/').findLast((segment) => segment !== '') ?? 'index';
  const name = storableText(
    decodePercents(last)
      .replace(/[\p{Cc}/\\]/gu, '_')
      .slice(-150),
  );
  if (kind === 'PAGE') return /\.x?html?$/i.test(name) ? name : `${name}.html`;
  const endings = extensions[kind];
  return endings.includes(readExtension(url)) ? name : `${name}.${endings[0]}`;
}
