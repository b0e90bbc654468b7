import { createRequire } from 'node:module';
import { fileTypeFromBuffer } from 'file-type';
import type { Archive } from './archive.ts';
import { decodeText, wideCharset } from './charset.ts';
import type { DocumentBytes } from './document.ts';
import { damaged, ExtractError, encrypted } from './error.ts';
import { type DocumentFormat, formatNamed, readableFormatNames, readableFormats } from './readable-formats.ts';

export type ArchiveFormat = 'docx' | 'xlsx' | 'ods' | 'pptx' | 'epub';
export type TextFormat = 'markdown' | 'text' | 'csv' | 'json' | 'feed';
export type DocumentType =
  | { readonly format: Exclude<DocumentFormat, ArchiveFormat | TextFormat>; readonly mimeType: string }
  | { readonly format: ArchiveFormat; readonly mimeType: string; readonly archive: Archive }
  | { readonly format: TextFormat; readonly mimeType: string; readonly text: string };

const sampleBytes = 64 * 1024;
/** Text may contain a few stray control characters. */
const controlShareMax = 0.01;
const textFormats: readonly DocumentFormat[] = ['markdown', 'text', 'csv', 'json'];

/**
 * Determines the type of a document by its content. The file's name decides between kinds of text; the declared type decides only
 * when the name has no extension.
 *
 * @throws ExtractError UNSUPPORTED_TYPE with the type that was found; ENCRYPTED for an encrypted Office document.
 */
export async function sniff(document: DocumentBytes): Promise<DocumentType> {
  const { bytes } = document;
  if (bytes.byteLength === 0) throw new ExtractError('NO_TEXT', 'The file is empty.');
  if (startsWith(bytes, 'PK\x03\x04') || startsWith(bytes, 'PK\x05\x06')) return sniffArchive(document);
  if (startsWith(bytes, '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1')) return sniffCompound(bytes);
  if (Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 1024)).includes('%PDF-')) return toType('pdf');
  if (!isText(bytes)) {
    const fileType = await fileTypeFromBuffer(bytes).catch(() => undefined);
    throw unsupported(fileType === undefined ? 'a binary file of an unknown kind' : fileType.mime);
  }
  const head = decodeText(bytes.subarray(0, 4096))
    .replace(/^\ufeff/, '')
    .trimStart();
  if (head.startsWith('{\\rtf')) throw unsupported('application/rtf');
  if (head.startsWith('%!PS')) throw unsupported('application/postscript');
  if (/^(?:<!--(?:(?!-->)[\s\S])*-->\s*)*(?:<\?xml[^>]*>\s*)?<(?:!doctype html|html|head|body)\b/i.test(head))
    return toType('html');
  const namedFormat = formatNamed(document);
  if (namedFormat === 'html') return toType('html');
  if (isMail(head, namedFormat, document)) return toType('eml');
  const text = decodeText(bytes);
  if (isTextFormat(namedFormat) && namedFormat !== 'text') return { ...toType(namedFormat), text };
  const feed = feedType(text);
  if (feed !== undefined) return { format: 'feed', mimeType: feed, text };
  if (/^[[{]/.test(head) && isJson(text)) return { ...toType('json'), text };
  return { ...toType('text'), text };
}

function toType<Format extends DocumentFormat>(format: Format): { readonly format: Format; readonly mimeType: string } {
  return { format, mimeType: readableFormats[format].mimeType };
}

function isTextFormat(format: DocumentFormat | undefined): format is TextFormat {
  return format !== undefined && textFormats.includes(format);
}

/** A document of an archive's kind is named by the parts in it. Other archives, also those named like a text, are not opened. */
async function sniffArchive(document: DocumentBytes): Promise<DocumentType> {
  const { Archive } = await import('./archive.ts');
  const archive = await Archive.open(document.bytes);
  if (archive === undefined) {
    const namedFormat = formatNamed(document);
    if (namedFormat !== undefined && !isTextFormat(namedFormat)) throw damaged('The file');
    throw unsupported('a damaged ZIP archive');
  }
  const format = await archiveFormat(archive);
  return { ...toType(format), archive };
}

async function archiveFormat(archive: Archive): Promise<ArchiveFormat> {
  if (archive.has('[Content_Types].xml')) {
    if (archive.has('word/document.xml')) return 'docx';
    if (archive.has('xl/workbook.xml')) return 'xlsx';
    if (archive.has('ppt/presentation.xml')) return 'pptx';
    return officeFormat(archive);
  }
  const mimeType = Buffer.from((await archive.read('mimetype')) ?? [])
    .toString('latin1', 0, 200)
    .trim();
  if (mimeType === readableFormats.epub.mimeType || archive.has('META-INF/container.xml')) return 'epub';
  if (mimeType.startsWith(readableFormats.ods.mimeType)) return 'ods';
  if (mimeType.includes('opendocument'))
    throw unsupported(`an OpenDocument file of the type ${mimeType}`, 'Save it as DOCX or PPTX.');
  throw unsupported('a ZIP archive', 'Add the files in it.');
}

/** The declared type of the parts, for documents whose main part has an unusual name. */
async function officeFormat(archive: Archive): Promise<ArchiveFormat> {
  const types: string[] = [];
  await archive.xml('[Content_Types].xml', {
    open(_name, { ContentType = '' }) {
      types.push(ContentType);
    },
  });
  for (const format of ['docx', 'xlsx', 'pptx'] as const) {
    const main = {
      docx: /word\S{0,100}\.(?:document|template)\S{0,100}main\+xml/i,
      xlsx: /(?:sheet|excel)\S{0,100}\.(?:sheet|template)\S{0,100}main\+xml/i,
      pptx: /(?:presentation|powerpoint)\S{0,100}main\+xml/i,
    };
    if (types.some((type) => main[format].test(type))) return format;
  }
  if (types.some((type) => /sheet\.binary/i.test(type)))
    throw unsupported('a binary Excel workbook (.xlsb)', 'Save it as .xlsx.');
  throw unsupported('an Office document of an unknown kind');
}

/** A compound file is the container of Office 97 to 2003 and of encrypted later documents; the streams in it tell what it is. */
function sniffCompound(bytes: Uint8Array): DocumentType {
  const names = compoundNames(bytes);
  const has = (...streams: string[]) => streams.some((stream) => names.has(stream));
  if (has('EncryptedPackage', 'EncryptionInfo')) throw encrypted('The Office document');
  if (has('WordDocument')) throw unsupported('a document of Word 97 to 2003 (.doc)', 'Save it as .docx.');
  if (has('Workbook', 'Book', 'WORKBOOK', 'BOOK')) return toType('xls');
  if (has('PowerPoint Document')) throw unsupported('a presentation of PowerPoint 97 to 2003 (.ppt)', 'Save it as .pptx.');
  if (has('__properties_version1.0')) throw unsupported('a message of Outlook (.msg)', 'Save it as .eml.');
  throw unsupported('a compound file of an unknown kind');
}

/** Names of the streams and storages at the top. */
function compoundNames(bytes: Uint8Array): ReadonlySet<string> {
  const { CFB } = createRequire(import.meta.url)('@e965/xlsx') as typeof import('@e965/xlsx');
  try {
    const { FullPaths } = CFB.read(bytes, { type: 'buffer' }) as { readonly FullPaths: readonly string[] };
    return new Set(FullPaths.map((path) => path.split('/')[1] ?? ''));
  } catch {
    throw damaged('The file');
  }
}

const headerLine = /^[A-Za-z][A-Za-z0-9-]{0,60}:/;
/** Lines that begin a mail and nothing else. */
const mailLine = /^(?:Received|Return-Path|Delivered-To|MIME-Version|Message-ID|X-Mailer|DKIM-Signature|From|Subject|Date):/i;

/** A mail begins with header lines. A file with an extension of its own is a mail only under that of mails. */
function isMail(head: string, namedFormat: DocumentFormat | undefined, { filename }: DocumentBytes): boolean {
  const [first = '', ...others] = head.replace(/^From [^\n]*\n/, '').split(/\r?\n/);
  if (namedFormat === 'eml') return headerLine.test(first);
  if (namedFormat !== undefined || /\.\w{1,8}$/.test(filename) || !headerLine.test(first)) return false;
  const blank = others.indexOf('');
  const header = [first, ...others.slice(0, blank === -1 ? others.length : blank)];
  return header.filter((line) => mailLine.test(line)).length >= 3;
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

const feedRoot = /^(?:\s|<\?[^>]{0,500}>|<!--(?:(?!-->)[\s\S]){0,2000}-->|<!DOCTYPE[^>]{0,500}>)*<(rss|feed|rdf:RDF)(?=[\s>])/;

/** The media type of a feed of news: RSS 2.0 and its predecessors, RSS 1.0, or Atom. */
function feedType(text: string): string | undefined {
  const head = text.slice(0, 4096);
  const root = feedRoot.exec(head)?.[1];
  if (root === 'feed') return /(?:w3\.org\/2005\/|purl\.org\/)atom/i.test(head) ? 'application/atom+xml' : undefined;
  const isRss = root === 'rss' || (root !== undefined && head.includes('purl.org/rss/'));
  return isRss ? readableFormats.feed.mimeType : undefined;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function startsWith(bytes: Uint8Array, mark: string): boolean {
  return Buffer.from(mark, 'latin1').equals(bytes.subarray(0, mark.length));
}

/** @param advice  what to do instead; default: the formats that can be read. */
function unsupported(contentName: string, advice = `${readableFormatNames} can.`): ExtractError {
  return new ExtractError('UNSUPPORTED_TYPE', `The file is ${contentName}, which cannot be read. ${advice}`);
}
