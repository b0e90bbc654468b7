import type { DocumentBytes, ExtractedDocument } from './document.ts';
import { DocumentWriter, tooMuchText } from './document-writer.ts';
import { ExtractError } from './error.ts';
import { type DocumentType, sniff } from './sniff.ts';

/** Most bytes of a UTF-16 code unit in any charset: a longer document exceeds the limit for certain. */
const bytesPerCharMax = 4;
/** Documents inside documents: attachments of mails, and what a Word document includes. */
const depthMax = 3;

/**
 * Extracts the text of one document. Call it only in the reader process: the document may be hostile. The first document of a
 * format loads the libraries of that format.
 *
 * @param depth  the number of documents around this one: attachments of mails are documents.
 * @throws ExtractError for every document that gives no text.
 */
export async function readDocument(document: DocumentBytes, textMaxChars: number, depth = 0): Promise<ExtractedDocument> {
  const type = await sniff(document);
  const writer = new DocumentWriter(textMaxChars);
  await writeDocument(document.bytes, type, writer, depth);
  return writer.finish(type.mimeType);
}

async function writeDocument(bytes: Uint8Array, type: DocumentType, writer: DocumentWriter, depth: number): Promise<void> {
  if ('text' in type && bytes.byteLength > writer.textMaxChars * bytesPerCharMax) throw tooMuchText(writer.textMaxChars);
  const readPart = (part: DocumentBytes, textMaxChars: number) => {
    if (depth < depthMax) return readDocument(part, textMaxChars, depth + 1);
    throw new ExtractError('UNSUPPORTED_TYPE', `The file is inside more than ${depthMax} other documents.`);
  };
  switch (type.format) {
    case 'pdf':
      return (await import('./formats/pdf/pdf.ts')).readPdf(bytes, writer);
    case 'html':
      return (await import('./formats/html/html.ts')).readHtml(bytes, writer);
    case 'csv':
      return (await import('./formats/csv.ts')).readCsv(type.text, writer);
    case 'json':
      return (await import('./formats/json.ts')).readJson(type.text, writer);
    case 'markdown':
      return (await import('./formats/markdown.ts')).readMarkdown(type.text, writer);
    case 'text':
      return (await import('./formats/text/text.ts')).readText(type.text, writer);
    case 'feed':
      return (await import('./formats/text/feed.ts')).readFeed(type.text, writer);
    case 'docx':
      return (await import('./formats/docx/docx.ts')).readDocx(type.archive, writer, readPart);
    case 'xlsx':
      return (await import('./formats/workbook/workbook.ts')).readXlsx(type.archive, writer);
    case 'xls':
      return (await import('./formats/workbook/workbook.ts')).readXls(bytes, writer);
    case 'ods':
      return (await import('./formats/workbook/workbook.ts')).readOds(type.archive, writer);
    case 'pptx':
      return (await import('./formats/pptx.ts')).readPptx(type.archive, writer);
    case 'epub':
      return (await import('./formats/epub.ts')).readEpub(type.archive, writer);
    case 'eml':
      return (await import('./formats/eml.ts')).readEml(bytes, writer, readPart);
  }
}
