import type { Archive } from '../archive.ts';
import type { DocumentWriter } from '../document-writer.ts';
import { damaged } from '../error.ts';
import { packageTitle, partOf, relationsOf } from '../package-parts.ts';
import { attribute, relationId } from '../xml.ts';
import { SheetWriter } from './sheet-writer.ts';
import { SheetReader } from './xlsx-sheet.ts';
import { type CellStyles, readComments, readStrings, readStyles } from './xlsx-tables.ts';

interface Workbook {
  readonly sheets: { readonly name: string; readonly relation: string; readonly isHidden: boolean }[];
  isDate1904: boolean;
}

/**
 * An Excel workbook, sheet by sheet: values as they are shown (results of formulas, not formulas), and comments. Hidden sheets,
 * charts, pictures and macros are left out. The XML is read as a stream, so memory does not grow with the sheet.
 */
export async function readXlsx(archive: Archive, writer: DocumentWriter): Promise<void> {
  archive.what = 'The Excel workbook';
  const main = partOf(await relationsOf(archive, ''), 'officeDocument') ?? 'xl/workbook.xml';
  const workbook = await readWorkbook(archive, main);
  const relations = await relationsOf(archive, main);
  const strings = await readStrings(archive, partOf(relations, 'sharedStrings') ?? '', writer.textMaxChars);
  const styles: CellStyles = await readStyles(archive, partOf(relations, 'styles') ?? '');
  const sheets = new SheetWriter(writer);
  for (const { name, relation, isHidden } of workbook.sheets) {
    const target = relations.get(relation);
    if (isHidden || target?.type !== 'worksheet') continue;
    sheets.begin(name);
    const comments = await readComments(archive, target.target, writer.textMaxChars);
    const reader = new SheetReader(sheets, { strings, styles, comments, isDate1904: workbook.isDate1904 });
    await archive.xml(target.target, reader);
    if (reader.isDone) {
      sheets.cut();
      break;
    }
    sheets.end();
  }
  writer.title = await packageTitle(archive);
}

async function readWorkbook(archive: Archive, part: string): Promise<Workbook> {
  const workbook: Workbook = { sheets: [], isDate1904: false };
  const isThere = await archive.xml(part, {
    open(name, attributes) {
      if (name === 'workbookPr') workbook.isDate1904 = /^(?:1|true)$/.test(attribute(attributes, 'date1904') ?? '');
      if (name !== 'sheet') return;
      const isHidden = /hidden/i.test(attributes.state ?? '');
      workbook.sheets.push({ name: attributes.name ?? '', relation: relationId(attributes) ?? '', isHidden });
    },
  });
  if (!isThere) throw damaged(archive.what);
  return workbook;
}
