/** How a kind of document is called, and by what its name or declared type tells it from others. The one list of what can be read. */
export interface ReadableFormat {
  readonly name: string;
  readonly mimeType: string;
  /** Extensions without the dot. */
  readonly extensions: readonly string[];
  /** Declared media types besides `mimeType`; a part of one is enough. */
  readonly declared: RegExp;
}

const office = 'application/vnd.openxmlformats-officedocument';

export const readableFormats = {
  markdown: {
    name: 'Markdown',
    mimeType: 'text/markdown',
    extensions: ['md', 'mdx', 'markdown', 'mdown', 'mkd'],
    declared: /markdown/i,
  },
  text: { name: 'plain text', mimeType: 'text/plain', extensions: ['txt', 'text', 'log'], declared: /^text\/plain/i },
  pdf: { name: 'PDF', mimeType: 'application/pdf', extensions: ['pdf'], declared: /pdf/i },
  html: { name: 'HTML', mimeType: 'text/html', extensions: ['html', 'htm', 'xhtml'], declared: /html/i },
  csv: {
    name: 'CSV',
    mimeType: 'text/csv',
    extensions: ['csv', 'tsv', 'tab'],
    declared: /\/(?:csv|tab-separated-values)\b/i,
  },
  json: {
    name: 'JSON',
    mimeType: 'application/json',
    extensions: ['json', 'jsonl', 'ndjson', 'geojson'],
    declared: /\bjson\b|ndjson/i,
  },
  feed: {
    name: 'RSS, Atom',
    mimeType: 'application/rss+xml',
    extensions: ['rss', 'atom'],
    declared: /\b(?:rss|atom)\+xml/i,
  },
  docx: {
    name: 'DOCX',
    mimeType: `${office}.wordprocessingml.document`,
    extensions: ['docx', 'docm', 'dotx'],
    declared: /wordprocessingml/i,
  },
  xlsx: {
    name: 'XLSX',
    mimeType: `${office}.spreadsheetml.sheet`,
    extensions: ['xlsx', 'xlsm', 'xltx'],
    declared: /spreadsheetml/i,
  },
  xls: { name: 'XLS', mimeType: 'application/vnd.ms-excel', extensions: ['xls', 'xlt'], declared: /ms-excel/i },
  ods: {
    name: 'ODS',
    mimeType: 'application/vnd.oasis.opendocument.spreadsheet',
    extensions: ['ods'],
    declared: /opendocument\.spreadsheet/i,
  },
  pptx: {
    name: 'PPTX',
    mimeType: `${office}.presentationml.presentation`,
    extensions: ['pptx', 'pptm', 'ppsx'],
    declared: /presentationml/i,
  },
  eml: { name: 'EML', mimeType: 'message/rfc822', extensions: ['eml'], declared: /rfc822/i },
  epub: { name: 'EPUB', mimeType: 'application/epub+zip', extensions: ['epub'], declared: /epub/i },
} as const satisfies Record<string, ReadableFormat>;

export type DocumentFormat = keyof typeof readableFormats;

const names = Object.values(readableFormats).map(({ name }) => name);
/** All formats in words, for errors and descriptions: `Markdown, plain text, …, EML and EPUB`. */
export const readableFormatNames = `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;

/** The format that a document's name says; for a name without an extension, what its declared type says. */
export function formatNamed({
  filename,
  mimeType,
}: {
  readonly filename: string;
  readonly mimeType: string;
}): DocumentFormat | undefined {
  const formats = Object.entries(readableFormats) as [DocumentFormat, ReadableFormat][];
  const extension = /\.(\w{1,8})$/.exec(filename)?.[1]?.toLowerCase();
  if (extension !== undefined) return formats.find(([, format]) => format.extensions.includes(extension))?.[0];
  return formats.find(([, format]) => format.declared.test(mimeType))?.[0];
}
