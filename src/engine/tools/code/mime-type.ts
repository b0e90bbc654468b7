const byEnding: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  gif: 'image/gif',
  htm: 'text/html',
  html: 'text/html',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  json: 'application/json',
  md: 'text/markdown',
  pdf: 'application/pdf',
  png: 'image/png',
  svg: 'image/svg+xml',
  tsv: 'text/tab-separated-values',
  txt: 'text/plain',
  webp: 'image/webp',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  xml: 'application/xml',
  zip: 'application/zip',
};
/** Pictures begin with these bytes (Latin-1). Other bytes are no picture, whatever the name says. */
const signs: Readonly<Record<string, (start: string) => boolean>> = {
  'image/png': (start) => start.startsWith('\x89PNG'),
  'image/jpeg': (start) => start.startsWith('\xff\xd8\xff'),
  'image/gif': (start) => start.startsWith('GIF8'),
  'image/webp': (start) => start.startsWith('RIFF') && start.startsWith('WEBP', 8),
  'image/svg+xml': (start) => /<svg[\s>]/.test(start),
};
const signBytes = 1_024;

/** The type of a file that a program wrote: by its name, and for pictures by their bytes too. */
export function detectMimeType(filename: string, bytes: Buffer): string {
  const ending = /\.([a-z0-9]+)$/i.exec(filename)?.[1]?.toLowerCase() ?? '';
  const type = Object.hasOwn(byEnding, ending) ? byEnding[ending] : undefined;
  const sign = type === undefined ? undefined : signs[type];
  const isRight = sign?.(bytes.subarray(0, signBytes).toString('latin1')) ?? true;
  return type !== undefined && isRight ? type : 'application/octet-stream';
}
