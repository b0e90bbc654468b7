import type { DocumentBytes, ExtractedDocument } from './document.ts';
import { DocumentWriter, tooMuchText } from './document-writer.ts';
import { sniff } from './sniff.ts';

/** No charset spends more bytes on a UTF-16 code unit: more bytes than that cannot be within the limit. */
const bytesPerCharMax = 4;

/**
 * Takes the text out of one document. Runs in the reader process: what it is given may be hostile, so nothing else may call it.
 * Each format's libraries are loaded when the first document of that format comes.
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
