import type { Archive } from '../archive.ts';
import type { DocumentWriter } from '../document-writer.ts';
import { damaged } from '../error.ts';
import { chartsIn, packageTitle, partOf, relationsOf } from '../package-parts.ts';
import { BodyReader } from './docx-body.ts';
import { readNotes } from './docx-notes.ts';
import { readStyles } from './docx-styles.ts';

const maxPages = 100_000;

/**
 * A Word document: headings by their styles, lists, tables, text boxes; footnotes, endnotes and comments below the paragraph that they
 * belong to. Deleted and hidden text, contents lists, headers and footers are left out; macros and embedded files are not looked at.
 * Pages are those that Word counted when it saved the document.
 */
export async function readDocx(archive: Archive, writer: DocumentWriter): Promise<void> {
  archive.what = 'The Word document';
  const main = partOf(await relationsOf(archive, ''), 'officeDocument') ?? 'word/document.xml';
  const relations = await relationsOf(archive, main);
  const part = (type: string) => partOf(relations, type) ?? '';
  const body = new BodyReader(writer, {
    styles: await readStyles(archive, part('styles')),
    footnotes: await readNotes(archive, part('footnotes'), 'footnote', writer.textMaxChars),
    endnotes: await readNotes(archive, part('endnotes'), 'endnote', writer.textMaxChars),
    comments: await readNotes(archive, part('comments'), 'comment', writer.textMaxChars),
    relations,
  });
  if (!(await archive.xml(main, body))) throw damaged(archive.what);
  body.finish();
  writer.omit('CHARTS', chartsIn(archive));
  writer.pageCount = body.page > 1 && body.page < maxPages ? body.page : null;
  writer.title = body.title ?? (await packageTitle(archive)) ?? body.firstHeading;
}
