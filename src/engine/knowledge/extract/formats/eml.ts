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
  } else writer.text(mail.text ?? '', plainBlocks);
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
