import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import type { ExtractedDocument } from '../../../src/engine/knowledge/extract/extract.ts';
import { chunkDocument } from '../../../src/engine/knowledge/index/chunk.ts';
import { documentReader } from '../../support/knowledge/documents.ts';
import { docx, ods, pptx, pptxShape, wordParagraph, xlsx } from '../../support/knowledge/office.ts';

const spreadsheets = createRequire(import.meta.url)('@e965/xlsx') as typeof import('@e965/xlsx');
const { extract } = documentReader();

function blocksOf({ text, blocks }: ExtractedDocument) {
  return blocks.map(({ kind, charStart, charEnd }) => [kind, text.slice(charStart, charEnd)]);
}

function headingPaths(document: ExtractedDocument) {
  return [...chunkDocument(document)].map(({ headingPath }) => headingPath);
}

const run = (text: string, properties = '') => `<w:r><w:rPr>${properties}</w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`;

describe('DOCX', () => {
  const cell = (text: string, properties = '') => `<w:tc><w:tcPr>${properties}</w:tcPr>${wordParagraph(text)}</w:tc>`;
  it('has headings by style in any language, lists, and tables with their head', async () => {
    const list = (text: string, level: number) =>
      `<w:p><w:pPr><w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="1"/></w:numPr></w:pPr>${run(text)}</w:p>`;
    const document = await extract(
      'haus.docx',
      docx(
        wordParagraph('Die Hausordnung', 'Titel') +
          wordParagraph('Inhalt 3', 'Verzeichnis1') +
          wordParagraph('Müll &amp; Wäsche', 'berschrift1') +
          wordParagraph(`Für alle.${' Auch für Gäste.'.repeat(20)}`) +
          wordParagraph('Größere Stücke', 'Eigene2') +
          list('Öfen', 0) +
          list('mit Rohr', 1) +
          `<w:tbl><w:tr>${cell('Tag')}${cell('Tonne')}${cell('Ort')}</w:tr><w:tr>${cell('Montag', '<w:vMerge w:val="restart"/>')}${cell('Papier', '<w:gridSpan w:val="2"/>')}</w:tr><w:tr>${cell('', '<w:vMerge/>')}${cell('Glas')}${cell('Hof')}</w:tr></w:tbl>`,
      ),
    );
    expect(document).toMatchObject({
      title: 'Die Hausordnung',
      mimeType: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
      pageCount: null,
    });
    expect(blocksOf(document)).toEqual([
      ['heading', '# Die Hausordnung'],
      ['heading', '# Müll & Wäsche'],
      ['paragraph', `Für alle.${' Auch für Gäste.'.repeat(20)}`],
      ['heading', '## Größere Stücke'],
      ['list', '- Öfen\n  - mit Rohr'],
      ['table', '| Tag | Tonne | Ort |\n| --- | --- | --- |\n| Montag | Papier |  |\n| Montag | Glas | Hof |'],
    ]);
    expect(headingPaths(document).at(-1)).toBe('Müll & Wäsche > Größere Stücke');
  });
  it('keeps footnotes and comments with their paragraph, and links', async () => {
    const { text } = await extract(
      'a.docx',
      docx(
        `<w:p>${run('Deposits are kept')}<w:r><w:footnoteReference w:id="2"/></w:r>${run('.')}<w:r><w:commentReference w:id="0"/></w:r></w:p><w:p>${run('See ')}<w:hyperlink r:id="rId2">${run('the terms')}</w:hyperlink>${run('.')}</w:p>`,
        {
          footnotes: `<w:footnote w:type="separator" w:id="0">${wordParagraph('line')}</w:footnote><w:footnote w:id="2">${wordParagraph('Three months of rent.')}</w:footnote>`,
          comments: `<w:comment w:id="0" w:author="Ann Lee">${wordParagraph('Is this still true?')}</w:comment>`,
        },
      ),
    );
    expect(text).toBe(
      'Deposits are kept[^1].\n\n[^1]: Three months of rent.\n\nComment by Ann Lee: Is this still true?\n\nSee [the terms](https://example.com/terms).',
    );
  });
  it('leaves out deleted, moved, hidden and doubled text, and keeps inserted text and text boxes', async () => {
    const { text } = await extract(
      'a.docx',
      docx(
        `<w:p>${run('one')}<w:del><w:r><w:delText> deleted</w:delText></w:r></w:del><w:ins>${run(' two')}</w:ins><w:moveFrom>${run(' moved')}</w:moveFrom>${run(' hidden', '<w:vanish/>')}${run(' three')}<w:r><mc:AlternateContent><mc:Choice><w:txbxContent>${wordParagraph('In a box')}</w:txbxContent></mc:Choice><mc:Fallback><w:txbxContent>${wordParagraph('In a box')}</w:txbxContent></mc:Fallback></mc:AlternateContent></w:r></w:p>`,
      ),
    );
    expect(text).toBe('In a box\n\none two three');
  });
  it('has the pages that Word counted', async () => {
    const document = await extract(
      'a.docx',
      docx(
        `${wordParagraph('First.')}<w:p><w:r><w:lastRenderedPageBreak/><w:t>Second.</w:t></w:r></w:p>${wordParagraph('Third.')}`,
      ),
    );
    expect(document.pageCount).toBe(2);
    expect(document.blocks.map(({ page }) => page)).toEqual([1, 1, 2]);
  });
});

/** The same workbook in every format the library writes. */
function workbook() {
  const book = spreadsheets.utils.book_new();
  const stock = spreadsheets.utils.aoa_to_sheet([
    ['Stock of the workshop'],
    [],
    ['part', 'price', 'share', 'since'],
    ['Bremsklötze für vorn', 12.5, 0.125, 46387],
    ['chains', 1234567, 1, 46388.5],
  ]);
  for (const [address, z] of Object.entries({
    B4: '#,##0.00 "€"',
    B5: '#,##0.00 "€"',
    C4: '0.0%',
    C5: '0%',
    D4: 'dd.mm.yyyy',
    D5: 'm/d/yy',
  })) {
    const cell = stock[address];
    if (cell !== undefined) cell.z = z;
  }
  spreadsheets.utils.book_append_sheet(book, stock, 'Stock');
  const people = spreadsheets.utils.aoa_to_sheet([
    ['name', 'is here'],
    ['Zoë', true],
  ]);
  spreadsheets.utils.cell_add_comment(people.A2 ?? { t: 'z' }, 'Back on Monday', 'Ann');
  spreadsheets.utils.book_append_sheet(book, people, 'People');
  return book;
}

describe('spreadsheets', () => {
  it.each([
    ['xlsx', 'xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
    ['xls', 'biff8', 'application/vnd.ms-excel'],
  ] as const)(
    '%s: each row names its columns, numbers and dates are as shown, each sheet is a heading',
    async (extension, bookType, mimeType) => {
      const bytes: Buffer = spreadsheets.write(workbook(), { type: 'buffer', bookType });
      const document = await extract(`stock.${extension}`, bytes);
      expect(document.mimeType).toBe(mimeType);
      expect(document.text.replace('(comment: Ann:\nBack', '(comment: Back')).toBe(
        [
          '# Stock',
          'Stock of the workshop',
          '- part: Bremsklötze für vorn; price: 12.50 €; share: 12.5%; since: 31.12.2026\n- part: chains; price: 1,234,567.00 €; share: 100%; since: 2027-01-01',
          '# People',
          '- name: Zoë (comment: Back on Monday); is here: TRUE',
        ].join('\n\n'),
      );
      expect(headingPaths(document)).toEqual(['Stock', 'People']);
    },
  );
  it('xlsx: merged cells have their value in each row, and two rows of a head are one', async () => {
    const rows = [
      ['Berth', '2025', null, '2026', null],
      [null, 'Q1', 'Q2', 'Q1', 'Q2'],
      ['North', 10, 20, 30, 40],
      [null, 50, 60, 70, 80],
      ['South', 1, 2, 'closed', null],
    ];
    const sheet = spreadsheets.utils.aoa_to_sheet(rows);
    sheet['!merges'] = ['A1:A2', 'B1:C1', 'D1:E1', 'A3:A4', 'D5:E5'].map((range) => spreadsheets.utils.decode_range(range));
    const book = spreadsheets.utils.book_new();
    spreadsheets.utils.book_append_sheet(book, sheet, 'Fees');
    const { text } = await extract('fees.xlsx', spreadsheets.write(book, { type: 'buffer', bookType: 'xlsx' }));
    expect(text.split(/\n+/)).toEqual([
      '# Fees',
      '- Berth: North; 2025 Q1: 10; 2025 Q2: 20; 2026 Q1: 30; 2026 Q2: 40',
      '- Berth: North; 2025 Q1: 50; 2025 Q2: 60; 2026 Q1: 70; 2026 Q2: 80',
      '- Berth: South; 2025 Q1: 1; 2025 Q2: 2; 2026 Q1: closed',
    ]);
  });
  it('xlsx: long numbers have all their digits, and formulas without a result are counted', async () => {
    const document = await extract(
      'articles.xlsx',
      xlsx([
        {
          name: 'Articles',
          rows: '<row r="1"><c r="A1" t="str"><v>Article</v></c><c r="B1" t="str"><v>Price</v></c></row><row r="2"><c r="A2"><v>4006381333931</v></c><c r="B2"><f>1+1</f></c></row><row r="3"><c r="A3"><v>0.5</v></c><c r="B3"><f>2+2</f><v>4</v></c></row>',
        },
      ]),
    );
    expect(document.text).toContain('- Article: 4006381333931');
    expect(document.text).toContain('- Article: 0.5; Price: 4');
    expect(document.omissions).toEqual([{ kind: 'FORMULAS', count: 1, total: null }]);
  });
  it('xlsx: text boxes stand below their sheet', async () => {
    const officeTypes = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
    const { text } = await extract(
      'boxes.xlsx',
      xlsx([{ name: 'Plan', rows: '<row r="1"><c r="A1"><v>7</v></c></row>' }], [], {
        'xl/worksheets/_rels/sheet1.xml.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="${officeTypes}/drawing" Target="../drawings/drawing1.xml"/></Relationships>`,
        'xl/drawings/drawing1.xml':
          '<xdr:wsDr xmlns:xdr="x" xmlns:a="a"><xdr:sp><xdr:txBody><a:p><a:r><a:t>Paint the</a:t></a:r><a:r><a:t> gate</a:t></a:r></a:p><a:p><a:r><a:t>before May.</a:t></a:r></a:p></xdr:txBody></xdr:sp></xdr:wsDr>',
      }),
    );
    expect(text.split('\n\n')).toEqual(['# Plan', '7', 'Paint the gate\nbefore May.']);
  });
  it.each(['xlsx', 'biff8'] as const)('%s: numbers have the unit that their format gives them', async (bookType) => {
    const cells = [
      [12, 'General" kg"', '12 kg'],
      [1.5, 'General \\k\\m', '1.5 km'],
      [-3, 'General" kg"', '-3 kg'],
      [-3, 'General" kg";-General" kg"', '-3 kg'],
      [-3, 'General" in";General" out"', '3 out'],
      [3, '"about "General" kg";-General', 'about 3 kg'],
      [0, 'General" kg";-General" kg";"none"', 'none'],
      [4, 'General;-General', '4'],
      [8, '0" General"', '8 General'],
    ] as const;
    const [numbers, expected] = [[...cells.map(([number]) => number)], cells.map(([, , text]) => text)];
    const sheet = spreadsheets.utils.aoa_to_sheet([cells.map((_cell, column) => `c${column}`), numbers]);
    for (const [column, [, format]] of cells.entries()) {
      const cell = sheet[spreadsheets.utils.encode_cell({ r: 1, c: column })];
      if (cell !== undefined) cell.z = format;
    }
    const book = spreadsheets.utils.book_new();
    spreadsheets.utils.book_append_sheet(book, sheet, 'Goods');
    const { text } = await extract(
      `goods.${bookType === 'xlsx' ? 'xlsx' : 'xls'}`,
      spreadsheets.write(book, { type: 'buffer', bookType }),
    );
    expect(text).toContain(expected.map((value, column) => `c${column}: ${value}`).join('; '));
  });

  it('xlsx: shared and rich text, hidden sheets, comments, results of formulas', async () => {
    const { text } = await extract(
      'a.xlsx',
      xlsx(
        [
          {
            name: 'Grüße',
            rows: '<row r="2"><c r="B2" t="s"><v>0</v></c><c r="C2" t="s"><v>1</v></c></row><row r="3"><c r="B3" s="1"><v>46387</v></c><c r="C3" s="2"><f>1/8</f><v>0.125</v></c><c r="AB3" t="str"><f>A1</f><v>shown</v></c></row>',
            comments: '<comment ref="B3"><text><r><t>checked </t></r><r><t>twice</t></r></text></comment>',
          },
          { name: 'Secret', rows: '<row r="1"><c r="A1" t="inlineStr"><is><t>hidden words</t></is></c></row>', isHidden: true },
        ],
        ['<r><t>Da</t></r><r><t>tum</t></r><rPh><t>reading</t></rPh>', '<t>Anteil_x000D_&lt;%&gt;</t>'],
      ),
    );
    expect(text).toBe('# Grüße\n\n- Datum: 31.12.2026 (comment: checked twice); Anteil <%>: 12.50%; column AB: shown');
  });
  it('a table below another has its own head, columns without a head have letters', async () => {
    const rows = [['part', 'count'], ['chains', 3], [], ['Opening hours'], ['day', 'hours'], ['Monday', 8], [], ['Tuesday', 9]];
    const book = spreadsheets.utils.book_new();
    spreadsheets.utils.book_append_sheet(book, spreadsheets.utils.aoa_to_sheet(rows), 'A');
    spreadsheets.utils.book_append_sheet(book, spreadsheets.utils.aoa_to_sheet([[1, 'two']]), 'B');
    const { text } = await extract('a.xlsx', spreadsheets.write(book, { type: 'buffer', bookType: 'xlsx' }));
    expect(text).toBe(
      '# A\n\n- part: chains; count: 3\n\nOpening hours\n\n- day: Monday; hours: 8\n- day: Tuesday; hours: 9\n\n# B\n\n- column A: 1; column B: two',
    );
  });
  it('names columns without values below the rows of their table', async () => {
    const rows = [
      ['part', 'colour', 'count', 'Remarks'],
      ['chains', '', 3, ''],
      ['ropes', '', 4, ''],
      [],
      ['day', 'hours', 'guest'],
      ['Monday', 8],
    ];
    const book = spreadsheets.utils.book_new();
    spreadsheets.utils.book_append_sheet(book, spreadsheets.utils.aoa_to_sheet(rows), 'A');
    const { text } = await extract('a.xlsx', spreadsheets.write(book, { type: 'buffer', bookType: 'xlsx' }));
    expect(text).toBe(
      '# A\n\n- part: chains; count: 3\n- part: ropes; count: 4\n- colour: Remarks:\n\n- day: Monday; hours: 8\n- guest:',
    );
  });
  it('ods: values as shown, repeated cells, comments, no hidden sheets', async () => {
    const cell = (text: string, attributes = '') => `<table:table-cell ${attributes}><text:p>${text}</text:p></table:table-cell>`;
    const document = await extract(
      'a.ods',
      ods(
        `<table:table table:name="Preise"><table:table-row>${cell('Teil')}${cell('Preis')}${cell('Menge', 'table:number-columns-repeated="2"')}</table:table-row><table:table-row>${cell('Kette<text:s/>lang')}<table:table-cell office:value-type="currency" office:value="12.5"><office:annotation><text:p>alt</text:p></office:annotation><text:p>12,50 €</text:p></table:table-cell>${cell('7', 'office:value-type="float" table:number-columns-repeated="2"')}</table:table-row><table:table-row table:number-rows-repeated="1048000"><table:table-cell table:number-columns-repeated="16384"/></table:table-row></table:table><table:table table:name="Weg" table:style-name="ta2"><table:table-row>${cell('hidden words')}</table:table-row></table:table>`,
      ),
    );
    expect(document.mimeType).toBe('application/vnd.oasis.opendocument.spreadsheet');
    expect(document.text).toBe('# Preise\n\n- Teil: Kette lang; Preis: 12,50 € (comment: alt); Menge: 7; Menge: 7');
  });
  it('ods of the library is read', async () => {
    const { text } = await extract('a.ods', spreadsheets.write(workbook(), { type: 'buffer', bookType: 'ods' }));
    expect(text).toContain('- part: chains; price: ');
    expect(text).toContain('# People\n\n- name: Zoë');
  });
});

describe('PPTX', () => {
  it('has a heading and a page for each slide, tables, speaker notes and comments', async () => {
    const document = await extract(
      'talk.pptx',
      pptx([
        {
          shapes: pptxShape(['Gezeiten'], 'ctrTitle') + pptxShape(['Eine Einführung'], 'subTitle'),
          notes: 'Begrüßung nicht vergessen.',
        },
        { shapes: pptxShape(['Draft words'], 'title'), isHidden: true },
        {
          shapes: `${pptxShape(['Causes'], 'title')}${pptxShape(['The moon', 'The sun'], 'body')}${pptxShape(['3'], 'sldNum')}<p:graphicFrame><a:graphic><a:tbl><a:tr><a:tc><a:txBody><a:p><a:r><a:t>Body</a:t></a:r></a:p></a:txBody></a:tc><a:tc><a:txBody><a:p><a:r><a:t>Share</a:t></a:r></a:p></a:txBody></a:tc></a:tr><a:tr><a:tc><a:txBody><a:p><a:r><a:t>Moon</a:t></a:r></a:p></a:txBody></a:tc><a:tc><a:txBody><a:p><a:r><a:t>69 %</a:t></a:r></a:p></a:txBody></a:tc></a:tr></a:tbl></a:graphic></p:graphicFrame>`,
          comment: 'Check the share',
        },
        { shapes: '<p:pic/>' },
        { shapes: pptxShape(['No title here'], 'body') },
      ]),
    );
    expect(document).toMatchObject({
      title: 'Gezeiten',
      mimeType: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
      pageCount: 5,
    });
    expect(blocksOf(document)).toEqual([
      ['heading', '# Gezeiten'],
      ['paragraph', 'Eine Einführung'],
      ['paragraph', 'Speaker notes: Begrüßung nicht vergessen.'],
      ['heading', '# Causes'],
      ['list', '- The moon\n- The sun'],
      ['table', '| Body | Share |\n| --- | --- |\n| Moon | 69 % |'],
      ['paragraph', 'Comment: Check the share'],
      ['heading', '# Slide 5'],
      ['paragraph', 'No title here'],
    ]);
    expect(document.blocks.map(({ page }) => page)).toEqual([1, 1, 1, 3, 3, 3, 3, 5, 5]);
  });
});

describe('the end of an archive', () => {
  const bytes = Buffer.from(docx(wordParagraph('words')));
  const missingComment = Buffer.from(bytes);
  missingComment.writeUInt16LE(1, bytes.length - 2);
  it.each([
    ['with bytes behind it', Buffer.concat([bytes, Buffer.from('\r\n')])],
    ['with a comment that is not there', missingComment],
    ['with a comment', Buffer.concat([missingComment, Buffer.from('!')])],
  ])('is read %s', async (_what, content) => {
    expect((await extract('a.docx', content)).text).toBe('words');
  });
});

describe('the bytes decide', () => {
  it.each([
    [
      'a workbook called .docx',
      'a.docx',
      () => xlsx([{ name: 'S', rows: '<row><c t="str"><v>words</v></c></row>' }]),
      /spreadsheetml/,
    ],
    ['a document called .xlsx', 'a.xlsx', () => docx(wordParagraph('words')), /wordprocessingml/],
    ['a document called .txt', 'a.txt', () => docx(wordParagraph('words')), /wordprocessingml/],
    [
      'an old workbook called .doc',
      'a.doc',
      () => spreadsheets.write(workbook(), { type: 'buffer', bookType: 'biff8' }) as Buffer,
      /ms-excel/,
    ],
    ['text called .docx', 'a.docx', () => 'words', /text\/plain/],
    ['a web page called .xls', 'a.xls', () => '<html><body><p>words</p></body></html>', /text\/html/],
  ])('%s', async (_case, filename, content, mimeType) => {
    const document = await extract(filename, content(), 'application/octet-stream');
    expect(document.mimeType).toMatch(mimeType);
    expect(document.text).toMatch(/words|Zoë/);
  });
});
