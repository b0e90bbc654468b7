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
const signs: Readonly<Record<string, RegExp>> = {
  'image/png': /^\x89PNG\r\n\x1a\n/,
  'image/jpeg': /^\xff\xd8\xff/,
  'image/gif': /^GIF8/,
  'image/webp': /^RIFF[^]{4}WEBP/,
  'image/svg+xml': /<svg[\s>]/,
};
const signBytes = 1_024;

/** The type of a file that a program wrote: by its name, and for pictures by their bytes too. */
export function mimeTypeOf(filename: string, bytes: Buffer): string {
  const ending = /\.([a-z0-9]+)$/i.exec(filename)?.[1]?.toLowerCase() ?? '';
  const type = Object.hasOwn(byEnding, ending) ? byEnding[ending] : undefined;
  const sign = type === undefined ? undefined : signs[type];
  const isRight = sign?.test(bytes.subarray(0, signBytes).toString('latin1')) ?? true;
  return type !== undefined && isRight ? type : 'application/octet-stream';
}
