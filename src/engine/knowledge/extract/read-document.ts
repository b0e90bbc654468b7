import type { DocumentBytes, ExtractedDocument } from './document.ts';
import { DocumentWriter, tooMuchText } from './document-writer.ts';
import { sniff } from './sniff.ts';

/** Most bytes of a UTF-16 code unit in any charset: a longer document exceeds the limit for certain. */
const bytesPerCharMax = 4;

/**
 * Extracts the text of one document. Call it only in the reader process: the document may be hostile. The first document of a
 * format loads the libraries of that format.
 *
 * @throws ExtractError for every document that gives no text.
 */
export async function readDocument(document: DocumentBytes, textMaxChars: number): Promise<ExtractedDocument> {
  const { bytes } = document;
  const type = await sniff(document);
  const writer = new DocumentWriter(textMaxChars);
  if (type.format !== 'pdf' && type.format !== 'html' && bytes.byteLength > textMaxChars * bytesPerCharMax)
    throw tooMuchText(textMaxChars);
  switch (type.format) {
    case 'pdf':
      await (await import('./formats/pdf.ts')).readPdf(bytes, writer);
      break;
    case 'html':
      (await import('./formats/html.ts')).readHtml(bytes, writer);
      break;
    case 'csv':
      (await import('./formats/csv.ts')).readCsv(type.text, writer);
      break;
    case 'json':
      (await import('./formats/json.ts')).readJson(type.text, writer);
      break;
    case 'markdown':
      (await import('./formats/markdown.ts')).readMarkdown(type.text, writer);
      break;
    case 'text':
      (await import('./formats/text.ts')).readText(type.text, writer);
      break;
  }
  return writer.finish(type.mimeType);
}
