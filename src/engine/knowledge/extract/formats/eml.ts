import PostalMime, { type Address, type Attachment, type Email } from 'postal-mime';
import { oneLine } from '../../../../lib/text/text.ts';
import type { DocumentBytes, ExtractedDocument } from '../document.ts';
import type { DocumentWriter } from '../document-writer.ts';
import { damaged, ExtractError } from '../error.ts';
import { plainBlocks } from '../markdown-blocks.ts';
import { textOfBody, writeHtml } from './html/html.ts';

/** Attachments of one mail that are read. */
const attachmentsMax = 100;
const addressesMax = 50;

/** Reads a document inside a document. */
export type ReadPart = (document: DocumentBytes, textMaxChars: number) => Promise<ExtractedDocument>;

/**
 * A mail: subject, people, date, the body, then the attachments that can be read, each below a heading with its name. Of an attachment
 * that cannot be read, its name and the reason are kept.
 */
export async function readEml(bytes: Uint8Array, writer: DocumentWriter, readPart: ReadPart): Promise<void> {
  const mail = await parse(bytes);
  const subject = oneLine(mail.subject ?? '');
  writer.heading(1, subject);
  writer.block('paragraph', headLines(mail));
  if (mail.html !== undefined && mail.html.trim() !== '') {
    writeHtml(textOfBody(mail.html), writer);
  } else writer.text((await readFlowed(bytes)) ?? mail.text ?? '', plainBlocks);
  // Pictures inside the body are not documents.
  const attachments = mail.attachments.filter(
    ({ related: isRelated, mimeType }) => isRelated !== true || !mimeType.startsWith('image/'),
  );
  for (const attachment of attachments.slice(0, attachmentsMax)) await readAttachment(attachment, writer, readPart);
  writer.omit('ATTACHMENTS', attachments.length - attachmentsMax);
  if (attachments.length > attachmentsMax)
    writer.block('paragraph', `Note: the mail has ${attachments.length} attachments; only ${attachmentsMax} were read.`);
  writer.title = subject;
}

async function parse(bytes: Uint8Array): Promise<Email> {
  try {
    return await PostalMime.parse(bytes, { forceRfc822Attachments: true, maxNestingDepth: 50 });
  } catch (error) {
    if (error instanceof RangeError) throw error;
    throw damaged('The mail');
  }
}

const contentType = /^content-type:[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*/gim;

/**
 * The text of a mail whose lines flow (RFC 3676). The library joins lines whatever their depth of quotation, so the parts get another format for it, and
 * the lines are joined here. Undefined where no part says that its lines flow.
 */
async function readFlowed(bytes: Uint8Array): Promise<string | undefined> {
  const raw = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  let isFlowed = false;
  let dropsSpace = false;
  const renamed = raw.replace(contentType, (header) =>
    header.replace(/\bformat="?flowed\b/i, (format) => {
      isFlowed = true;
      dropsSpace ||= /\bdelsp="?yes\b/i.test(header);
      return `${format}-here`;
    }),
  );
  return isFlowed ? joinFlowed((await parse(Buffer.from(renamed, 'latin1'))).text ?? '', dropsSpace) : undefined;
}

/** Joins lines of one depth of quotation that end in a space. `-- `, above a signature, stands alone. */
function joinFlowed(text: string, dropsSpace: boolean): string {
  const paragraphs: { readonly depth: number; readonly pieces: string[] }[] = [];
  let goesOn = false;
  for (const line of text.split(/\r?\n/)) {
    const { depth, rest } = readQuotation(line);
    const isSignature = rest === '-- ';
    const last = paragraphs.at(-1);
    const piece = dropsSpace && rest.endsWith(' ') && !isSignature ? rest.slice(0, -1) : rest;
    if (goesOn && !isSignature && last?.depth === depth) last.pieces.push(piece);
    else paragraphs.push({ depth, pieces: [piece] });
    goesOn = rest.endsWith(' ') && !isSignature;
  }
  return paragraphs.map(({ depth, pieces }) => `${depth === 0 ? '' : `${'>'.repeat(depth)} `}${pieces.join('')}`).join('\n');
}

/** A line begins with a `>` for each depth, then with a space where it would begin with one, or with `From `. Some mail programs write `> > `. */
function readQuotation(line: string): { readonly depth: number; readonly rest: string } {
  let depth = 0;
  let at = 0;
  for (; line[at] === '>'; at += line[at + 1] === ' ' && line[at + 2] === '>' ? 2 : 1) depth += 1;
  return { depth, rest: line.slice(line[at] === ' ' ? at + 1 : at) };
}

function headLines({ from, to, cc, headers }: Email): string {
  const date = headers.find(({ key }) => key === 'date')?.value;
  return [
    ['From', from === undefined ? '' : people([from])],
    ['To', people(to)],
    ['Cc', people(cc)],
    ['Date', oneLine(date ?? '')],
  ]
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}

function people(addresses: readonly Address[] = []): string {
  const shownPeople = addresses.slice(0, addressesMax).map((entry) => {
    if (entry.group !== undefined) return oneLine(`${entry.name}: ${people(entry.group)}`);
    return entry.name === '' ? entry.address : `${oneLine(entry.name)} <${entry.address}>`;
  });
  if (addresses.length > addressesMax) shownPeople.push(`and ${addresses.length - addressesMax} more`);
  return shownPeople.join(', ');
}

async function readAttachment(attachment: Attachment, writer: DocumentWriter, readPart: ReadPart): Promise<void> {
  const { content, mimeType } = attachment;
  const filename = oneLine(attachment.filename ?? '');
  writer.heading(2, filename === '' ? 'Attachment' : `Attachment: ${filename}`);
  const bytes = typeof content === 'string' ? Buffer.from(content) : new Uint8Array(content);
  try {
    writer.part(await readPart({ bytes, filename, mimeType }, writer.textMaxChars - writer.length), 2);
  } catch (error) {
    writer.omit('ATTACHMENTS');
    if (!(error instanceof ExtractError))
      writer.block('paragraph', 'Not read. The file is damaged, or is not what its name says.');
    else writer.block('paragraph', `Not read. ${error.message}`);
  }
}
