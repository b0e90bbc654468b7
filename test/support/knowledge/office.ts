import { zip } from './zip.ts';

type Parts = Readonly<Record<string, Parameters<typeof zip>[0][string]>>;
/** Relations of a part: type and target, with `rId1`, `rId2`, … as ids. */
type Relations = readonly (readonly [type: string, target: string, mode?: 'External'])[];

const officeTypes = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const word = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
const drawing = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"';
const slideShow = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"';
const sheet = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
const ids = `xmlns:r="${officeTypes}"`;
const contentTypes =
  '<?xml version="1.0" encoding="UTF-8"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>';
const sheetTypes = contentTypes.replace(
  '</Types>',
  ['sharedStrings', 'styles']
    .map(
      (part) =>
        `<Override PartName="/xl/${part}.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.${part}+xml"/>`,
    )
    .join('')
    .concat('</Types>'),
);

export function relationsXml(relations: Relations): string {
  const entries = relations.map(
    ([type, target, mode], index) =>
      `<Relationship Id="rId${index + 1}" Type="${officeTypes}/${type}" Target="${target}"${mode === undefined ? '' : ` TargetMode="${mode}"`}/>`,
  );
  return `<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${entries.join('')}</Relationships>`;
}

function officePackage(main: string, parts: Parts): Buffer {
  return zip({ '[Content_Types].xml': contentTypes, '_rels/.rels': relationsXml([['officeDocument', main]]), ...parts });
}

export const wordStyles = `<w:styles ${word}>
  <w:style w:styleId="Titel"><w:name w:val="Title"/></w:style>
  <w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>
  <w:style w:styleId="Eigene2"><w:name w:val="Kapitel"/><w:basedOn w:val="berschrift1"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>
  <w:style w:styleId="Verzeichnis1"><w:name w:val="toc 1"/></w:style></w:styles>`;

/** A paragraph with a style. */
export function wordParagraph(text: string, style?: string): string {
  const properties = style === undefined ? '' : `<w:pPr><w:pStyle w:val="${style}"/></w:pPr>`;
  return `<w:p>${properties}<w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`;
}

export interface WordParts {
  /** Notes and comments, inside their root element. */
  readonly footnotes?: string;
  readonly comments?: string;
  /** Further styles, definitions of lists, and the head of pages, inside their root element. */
  readonly styles?: string;
  readonly numbering?: string;
  readonly header?: string;
  /** Documents that the body includes, by their names in `word/`; the first one has the relation `chunk1`. */
  readonly chunks?: Readonly<Record<string, string>>;
}

const wordRoots = { footnotes: 'footnotes', comments: 'comments', numbering: 'numbering', header: 'hdr' } as const;

/** A Word document with this body. */
export function docx(body: string, { styles = '', chunks = {}, ...parts }: WordParts = {}): Buffer {
  const given = Object.entries(parts) as readonly (readonly [keyof typeof wordRoots, string])[];
  const relations = relationsXml([
    ['styles', 'styles.xml'],
    ['hyperlink', 'https://example.com/terms', 'External'],
    ...given.map(([name]) => [name, `${name}.xml`] as const),
  ]);
  const chunkRelations = Object.keys(chunks).map(
    (name, index) => `<Relationship Id="chunk${index + 1}" Type="${officeTypes}/aFChunk" Target="${name}"/>`,
  );
  return officePackage('word/document.xml', {
    'word/document.xml': `<?xml version="1.0" encoding="UTF-8" standalone="yes"?><w:document ${word} ${ids} xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><w:body>${body}</w:body></w:document>`,
    'word/_rels/document.xml.rels': relations.replace('</Relationships>', `${chunkRelations.join('')}</Relationships>`),
    'word/styles.xml': wordStyles.replace('</w:styles>', `${styles}</w:styles>`),
    ...Object.fromEntries(
      given.map(([name, inner]) => [`word/${name}.xml`, `<w:${wordRoots[name]} ${word}>${inner}</w:${wordRoots[name]}>`]),
    ),
    ...Object.fromEntries(Object.entries(chunks).map(([name, content]) => [`word/${name}`, content])),
  });
}

export interface XlsxSheet {
  /** What stands before and behind the rows. */
  readonly before?: string;
  readonly behind?: string;
  readonly name: string;
  /** Inside `sheetData`. */
  readonly rows: string;
  readonly isHidden?: boolean;
  /** Inside `commentList`. */
  readonly comments?: string;
}

/** A workbook. Style 1 shows dates as 31.12.2026, 2 percents, 3 the short date of the country. */
export function xlsx(sheets: readonly XlsxSheet[], strings: readonly string[] = [], extra: Parts = {}): Buffer {
  const parts: Record<string, Parts[string]> = {};
  for (const [index, { rows, comments, before = '', behind = '' }] of sheets.entries()) {
    parts[`xl/worksheets/sheet${index + 1}.xml`] =
      `<worksheet ${sheet}>${before}<sheetData>${rows}</sheetData>${behind}</worksheet>`;
    if (comments === undefined) continue;
    parts[`xl/worksheets/_rels/sheet${index + 1}.xml.rels`] = relationsXml([['comments', `../comments${index + 1}.xml`]]);
    parts[`xl/comments${index + 1}.xml`] = `<comments ${sheet}><commentList>${comments}</commentList></comments>`;
  }
  const entries = sheets.map(
    ({ name, isHidden }, index) =>
      `<sheet name="${name}" sheetId="${index + 1}" r:id="rId${index + 1}"${isHidden === true ? ' state="hidden"' : ''}/>`,
  );
  return officePackage('xl/workbook.xml', {
    '[Content_Types].xml': sheetTypes,
    'xl/workbook.xml': `<workbook ${sheet} ${ids}><sheets>${entries.join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relationsXml([
      ...sheets.map((_sheet, index) => ['worksheet', `worksheets/sheet${index + 1}.xml`] as const),
      ['sharedStrings', 'sharedStrings.xml'],
      ['styles', 'styles.xml'],
    ]),
    'xl/sharedStrings.xml': `<sst ${sheet}>${strings.map((text) => `<si>${text}</si>`).join('')}</sst>`,
    'xl/styles.xml': `<styleSheet ${sheet}><numFmts><numFmt numFmtId="164" formatCode="dd\\.mm\\.yyyy"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="10"/><xf numFmtId="14"/></cellXfs></styleSheet>`,
    ...parts,
    ...extra,
  });
}

export interface PptxSlide {
  /** Inside `spTree`. */
  readonly shapes: string;
  readonly notes?: string;
  readonly isHidden?: boolean;
  readonly comment?: string;
}

/** A shape with lines of text. @param role  of its placeholder. */
export function pptxShape(lines: readonly string[], role?: string): string {
  const placeholder = role === undefined ? '' : `<p:nvSpPr><p:nvPr><p:ph type="${role}"/></p:nvPr></p:nvSpPr>`;
  const paragraphs = lines.map((line) => `<a:p><a:r><a:t>${line}</a:t></a:r></a:p>`).join('');
  return `<p:sp>${placeholder}<p:txBody>${paragraphs}</p:txBody></p:sp>`;
}

export function pptx(slides: readonly PptxSlide[]): Buffer {
  const parts: Record<string, Parts[string]> = {};
  for (const [index, { shapes, notes, isHidden, comment }] of slides.entries()) {
    const number = index + 1;
    const root = `${drawing} ${slideShow} ${ids}`;
    parts[`ppt/slides/slide${number}.xml`] =
      `<p:sld ${root}${isHidden === true ? ' show="0"' : ''}><p:cSld><p:spTree>${shapes}</p:spTree></p:cSld></p:sld>`;
    parts[`ppt/slides/_rels/slide${number}.xml.rels`] = relationsXml([
      ...(notes === undefined ? [] : [['notesSlide', `../notesSlides/notesSlide${number}.xml`] as const]),
      ...(comment === undefined ? [] : [['comments', `../comments/comment${number}.xml`] as const]),
    ]);
    if (notes !== undefined)
      parts[`ppt/notesSlides/notesSlide${number}.xml`] =
        `<p:notes ${root}><p:cSld><p:spTree>${pptxShape([String(number)], 'sldNum')}${pptxShape([notes], 'body')}</p:spTree></p:cSld></p:notes>`;
    if (comment !== undefined)
      parts[`ppt/comments/comment${number}.xml`] =
        `<p:cmLst ${root}><p:cm authorId="0" idx="1"><p:text>${comment}</p:text></p:cm></p:cmLst>`;
  }
  return officePackage('ppt/presentation.xml', {
    'ppt/presentation.xml': `<p:presentation ${slideShow} ${ids}><p:sldIdLst>${slides.map((_slide, index) => `<p:sldId id="${256 + index}" r:id="rId${index + 1}"/>`).join('')}</p:sldIdLst></p:presentation>`,
    'ppt/_rels/presentation.xml.rels': relationsXml(
      slides.map((_slide, index) => ['slide', `slides/slide${index + 1}.xml`] as const),
    ),
    ...parts,
  });
}

/** A spreadsheet of OpenDocument. @param tables  inside `office:spreadsheet`. @param manifest  inside the manifest. */
export function ods(tables: string, manifest = ''): Buffer {
  const names =
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"';
  return zip({
    mimetype: { content: 'application/vnd.oasis.opendocument.spreadsheet', isStored: true },
    'content.xml': `<?xml version="1.0" encoding="UTF-8"?><office:document-content ${names}><office:automatic-styles><style:style style:name="ta2" style:family="table"><style:table-properties table:display="false"/></style:style></office:automatic-styles><office:body><office:spreadsheet>${tables}</office:spreadsheet></office:body></office:document-content>`,
    'styles.xml': `<office:document-styles ${names}/>`,
    'META-INF/manifest.xml': `<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">${manifest}</manifest:manifest>`,
  });
}

/** A book. @param chapters  the body of each page, by its file name. @param extra  other parts. */
export function epub(chapters: Readonly<Record<string, string>>, contents: string, extra: Parts = {}): Buffer {
  const files = Object.keys(chapters);
  return zip({
    mimetype: { content: 'application/epub+zip', isStored: true },
    'META-INF/container.xml':
      '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>',
    'OEBPS/book.opf': `<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Das Gezeitenbuch</dc:title></metadata><manifest><item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>${files.map((file, index) => `<item id="c${index}" href="text/${file}" media-type="application/xhtml+xml"/>`).join('')}</manifest><spine><itemref idref="nav"/>${files.map((_file, index) => `<itemref idref="c${index}"/>`).join('')}</spine></package>`,
    'OEBPS/nav.xhtml': `<html xmlns="http://www.w3.org/1999/xhtml"><body><nav><ol>${contents}</ol></nav></body></html>`,
    ...Object.fromEntries(
      Object.entries(chapters).map(([file, body]) => [
        `OEBPS/text/${file}`,
        `<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><head><title/><script src="x.js"/></head><body>${body}</body></html>`,
      ]),
    ),
    ...extra,
  });
}
