import { basename } from 'node:path/posix';
import type { Archive } from '../../archive.ts';
import type { DocumentBytes, ExtractedDocument } from '../../document.ts';
import type { DocumentWriter } from '../../document-writer.ts';
import { damaged } from '../../error.ts';
import { chartsIn, findPart, loadRelations, type PartRelation, packageTitle } from '../../package-parts.ts';
import { BodyReader } from './body.ts';
import { readNotes } from './notes.ts';
import { readNumbering } from './numbering.ts';
import { readStyles, type Styles } from './styles.ts';

const maxPages = 100_000;

export type ReadPart = (document: DocumentBytes, textMaxChars: number) => Promise<ExtractedDocument>;

/**
 * A Word document: headings by their styles, lists and headings with their numbers, tables, text boxes, included documents; footnotes, endnotes and
 * comments below the paragraph that they belong to; heads and feet of pages at the end. Deleted and hidden text and contents lists are left out;
 * macros and embedded files are not looked at. Pages are those that Word counted when it saved the document.
 */
export async function readDocx(archive: Archive, writer: DocumentWriter, readPart: ReadPart): Promise<void> {
  archive.what = 'The Word document';
  const main = findPart(await loadRelations(archive, ''), 'officeDocument') ?? 'word/document.xml';
  const relations = await loadRelations(archive, main);
  const part = (type: string) => findPart(relations, type) ?? '';
  const styles = await readStyles(archive, part('styles'));
  const notes = (name: string, element: 'footnote' | 'endnote' | 'comment') =>
    readNotes(archive, part(name), element, styles, writer.textMaxChars);
  const body = new BodyReader(writer, {
    styles,
    numbering: await readNumbering(archive, part('numbering')),
    chunks: await readChunks(archive, relations, writer, readPart),
    footnotes: await notes('footnotes', 'footnote'),
    endnotes: await notes('endnotes', 'endnote'),
    comments: await notes('comments', 'comment'),
    relations,
  });
  if (!(await archive.xml(main, body))) throw damaged(archive.what);
  body.finish();
  for (const line of await pageMargins(archive, relations, styles, writer)) writer.block('paragraph', line);
  writer.omit('CHARTS', chartsIn(archive));
  writer.pageCount = body.page > 1 && body.page < maxPages ? body.page : null;
  writer.title = body.title ?? (await packageTitle(archive)) ?? body.firstHeading;
}

/** The documents that a Word document includes as alternative format chunks. One that cannot be read counts as left out. */
async function readChunks(
  archive: Archive,
  relations: ReadonlyMap<string, PartRelation>,
  writer: DocumentWriter,
  readPart: ReadPart,
): Promise<ReadonlyMap<string, ExtractedDocument>> {
  const chunks = new Map<string, ExtractedDocument>();
  for (const [id, { type, target, isExternal }] of relations) {
    if (type !== 'aFChunk' || isExternal) continue;
    const bytes = await archive.read(target);
    const chunk =
      bytes === undefined
        ? undefined
        : await readPart({ bytes, filename: basename(target), mimeType: '' }, writer.textMaxChars).catch(() => undefined);
    if (chunk === undefined) writer.omit('ATTACHMENTS');
    else chunks.set(id, chunk);
  }
  return chunks;
}

/** The heads and feet of pages, each text once: a name or a number may stand nowhere else. */
async function pageMargins(
  archive: Archive,
  relations: ReadonlyMap<string, PartRelation>,
  styles: Styles,
  writer: DocumentWriter,
): Promise<ReadonlySet<string>> {
  const lines = new Set<string>();
  for (const { type, target, isExternal } of relations.values()) {
    if ((type !== 'header' && type !== 'footer') || isExternal) continue;
    const [element, name] = type === 'header' ? (['hdr', 'Page header'] as const) : (['ftr', 'Page footer'] as const);
    for (const { text } of (await readNotes(archive, target, element, styles, writer.textMaxChars)).values()) {
      if (/\p{L}{2}/u.test(text)) lines.add(`${name}: ${text}`);
    }
  }
  return lines;
}
