import { PDFDocument, StandardFonts } from 'pdf-lib';
import { describe, expect, it } from 'vitest';
import { documentReader } from '../../support/knowledge/documents.ts';
import { docx, ods, pptx, pptxShape, wordParagraph, xlsx } from '../../support/knowledge/office.ts';
import { zip } from '../../support/knowledge/zip.ts';

/** What a document says by form alone: a search for words must not read `106` where people see 10⁶. */
const { extract } = documentReader();
const textOf = async (name: string, content: string | Uint8Array) => (await extract(name, content)).text;
const run = (text: string, properties = '') => `<w:r><w:rPr>${properties}</w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`;
const raised = '<w:vertAlign w:val="superscript"/>';
const lowered = '<w:vertAlign w:val="subscript"/>';
const slideRun = (text: string, properties = '') => `<a:r><a:rPr ${properties}/><a:t>${text}</a:t></a:r>`;

/** A page of lines of pieces, each with its size and how far it is raised. */
async function pdf(lines: readonly (readonly (readonly [text: string, size: number, rise: number])[])[]): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  const font = await document.embedFont(StandardFonts.Helvetica);
  const page = document.addPage([595, 842]);
  for (const [index, pieces] of lines.entries()) {
    let x = 60;
    for (const [text, size, rise] of pieces) {
      page.drawText(text, { x, y: 780 - index * 20 + rise, size, font });
      x += font.widthOfTextAtSize(text, size);
    }
  }
  return document.save();
}

describe('raised and lowered figures', () => {
  it.each([
    ['10<sup>6</sup> grains', '10^6 grains'],
    ['10<sup>-3</sup> m', '10^-3 m'],
    ['2<sup>n</sup>', '2^n'],
    ['1,250<sup>1</sup> crowns', '1,250^1 crowns'],
    ['the harbour<sup>3</sup>', 'the harbour^3'],
    ['<b>5</b> km<sup>2</sup>', '**5** km2'],
    ['H<sub>2</sub>O', 'H2O'],
    ['110<sub>2</sub>', '110_2'],
    ['log<sub>10</sub>5', 'log10 5'],
    ['3<sup>1</sup>/<sub>2</sub> miles', '3 1/2 miles'],
    ['the 1<sup>st</sup>', 'the 1st'],
    ['n<sup>o</sup> 5', 'no 5'],
    ['word<sup><a href="#n1">1</a></sup>', 'word[1]'],
    ['word<a href="#n1"><sup>1</sup></a>', 'word[1]'],
    ['word<a role="doc-noteref" href="x.html#n">12</a>', 'word[12]'],
    ['word<sup><a href="#n">[1]</a></sup>', 'word[1]'],
  ])('of HTML: %s', async (html, expected) => {
    expect(await textOf('a.html', `<p>${html}</p>`)).toBe(expected);
  });
  it('of Word, also in several runs', async () => {
    const body =
      `<w:p>${run('About 10')}${run('1', raised)}${run('2', raised)}${run(' grains, H')}${run('2', lowered)}${run('O, 5 m')}${run('2', raised)}${run(', 3')}${run('1', raised)}${run('/')}${run('2', lowered)}</w:p>` +
      `<w:p>${run('old ', '<w:strike/>')}${run('price', '<w:dstrike/>')}${run(' new price')}</w:p>`;
    expect(await textOf('a.docx', docx(body))).toBe('About 10^12 grains, H2O, 5 m2, 3 1/2\n\n~old price~ new price');
  });
  it('of slides', async () => {
    const shape = `<p:sp><p:txBody><a:p>${slideRun('10')}${slideRun('6', 'baseline="30000"')}${slideRun(' grains, H')}${slideRun('2', 'baseline="-25000"')}${slideRun('O')}</a:p></p:txBody></p:sp>`;
    expect(await textOf('a.pptx', pptx([{ shapes: shape }]))).toContain('10^6 grains, H2O');
  });
  it('of workbooks, in shared texts and in cells', async () => {
    const runs = (first: string, form: string, second: string) =>
      `<r><t>${first}</t></r><r><rPr><vertAlign val="${form}"/></rPr><t>${second}</t></r>`;
    const rows =
      '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>' +
      `<row r="2"><c r="A2" t="s"><v>2</v></c><c r="B2" t="inlineStr"><is>${runs('1,250', 'superscript', '1')}</is></c></row>`;
    const strings = ['<t>Grain</t>', '<t>Price</t>', runs('10', 'superscript', '6')];
    expect(await textOf('a.xlsx', xlsx([{ name: 'S', rows }], strings))).toBe('# S\n\n- Grain: 10^6; Price: 1,250^1');
  });
  it('of HTML by style', async () => {
    const html =
      '<p>10<span style="font-size:.6em; vertical-align: super">6</span> of 110<span style="vertical-align:sub">2</span></p>';
    expect(await textOf('a.html', html)).toBe('10^6 of 110_2');
  });
  it('of PDF', async () => {
    const text = await textOf(
      'a.pdf',
      await pdf([
        [
          ['About 10', 11, 0],
          ['6', 7, 4],
          [' grains lie at 106 metres.', 11, 0],
        ],
        [
          ['It costs 1,250', 11, 0],
          ['1', 7, 4],
          [' crowns, H', 11, 0],
          ['2', 7, -2],
          ['O is free, 5 km', 11, 0],
          ['2', 7, 4],
          [' too.', 11, 0],
        ],
        [['Everything else is as always.', 11, 0]],
      ]),
    );
    expect(text).toContain('About 10^6 grains lie at 106 metres.');
    expect(text).toContain('It costs 1,250^1 crowns, H2O is free, 5 km2 too.');
  });
});

describe('words that are struck out', () => {
  it('of HTML by style, also as a whole paragraph', async () => {
    const html =
      '<p>Was <span style="text-decoration:line-through">50</span> now 40</p><p style="text-decoration-line: line-through">The pool opens.</p>';
    expect(await textOf('a.html', html)).toBe('Was ~50~ now 40\n\n~The pool opens.~');
  });
  it('of slides', async () => {
    const shape = `<p:sp><p:txBody><a:p>${slideRun('Was ')}${slideRun('50 ', 'strike="sngStrike"')}${slideRun('crowns', 'strike="sngStrike"')}${slideRun(' now 40', 'strike="noStrike"')}</a:p></p:txBody></p:sp>`;
    expect(await textOf('a.pptx', pptx([{ shapes: shape }]))).toContain('Was ~50 crowns~ now 40');
  });
  it('of workbooks, in a text and by the format of a cell', async () => {
    const cell = (address: string, text: string, more = '') => `<c r="${address}" ${more} t="inlineStr"><is>${text}</is></c>`;
    const struckRun = '<r><rPr><strike/></rPr><t>Tue</t></r><r><t> Wed</t></r>';
    const rows =
      `<row r="1">${cell('A1', '<t>Tour</t>')}${cell('B1', '<t>Price</t>')}${cell('C1', '<t>Day</t>')}</row>` +
      `<row r="2">${cell('A2', '<t>North</t>', 's="1"')}<c r="B2" s="1"><v>50</v></c>${cell('C2', struckRun)}</row>`;
    const main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
    const styles = `<styleSheet ${main}><fonts><font/><font><strike/></font></fonts><cellStyleXfs><xf fontId="1"/></cellStyleXfs><cellXfs><xf fontId="0"/><xf fontId="1"/></cellXfs></styleSheet>`;
    expect(await textOf('a.xlsx', xlsx([{ name: 'S', rows }], [], { 'xl/styles.xml': styles }))).toBe(
      '# S\n\n- Tour: ~North~; Price: ~50~; Day: ~Tue~ Wed',
    );
  });
});

describe('formulas', () => {
  it('of HTML are their source, else one line', async () => {
    const source =
      '<math><semantics><mrow><mi>E</mi></mrow><annotation encoding="application/x-tex">E=mc^2</annotation></semantics></math>';
    const plain =
      '<math><mn>3</mn><mfrac><mn>1</mn><mn>2</mn></mfrac></math>, <math><msqrt><mi>n</mi></msqrt></math>, <math><mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mi>c</mi></mfrac></math>';
    expect(await textOf('a.html', `<p>${source}; ${plain}</p>`)).toBe('E=mc^2; 3 1/2, √n, (a+b)/c');
  });
  it('of Word and of slides are one line', async () => {
    const t = (text: string) => `<m:r><m:t>${text}</m:t></m:r>`;
    const formula = `<m:oMath>${t('E=m')}<m:sSup><m:e>${t('c')}</m:e><m:sup>${t('2')}</m:sup></m:sSup>${t('+')}<m:f><m:num>${t('a+b')}</m:num><m:den>${t('2')}</m:den></m:f>${t('+')}<m:rad><m:deg/><m:e>${t('n')}</m:e></m:rad></m:oMath>`;
    const line = 'E=mc^2+(a+b)/2+√n';
    expect(await textOf('a.docx', docx(`<w:p>${run('Here: ')}${formula}${run('.')}</w:p>`))).toBe(`Here: ${line}.`);
    const shape = `<p:sp><p:txBody><a:p>${formula}</a:p></p:txBody></p:sp>`;
    expect(await textOf('a.pptx', pptx([{ shapes: shape }]))).toContain(line);
  });
});

describe('numbers of lists', () => {
  it.each([
    ['<ol start="5"><li>a</li><li value="9">b</li><li>c</li></ol>', '5.  a\n9.  b\n10.  c'],
    ['<ol type="a"><li>x<ol type="i"><li>y</li></ol></li><li>z</li></ol>', 'a.  x\n    i.  y\nb.  z'],
    ['<ol reversed><li>x</li><li>y</li></ol>', '2.  x\n1.  y'],
  ])('of HTML: %s', async (html, expected) => {
    expect((await textOf('a.html', html)).replace(/\n\n/g, '\n')).toBe(expected);
  });
  it('of slides', async () => {
    const line = (text: string, properties: string) => `<a:p><a:pPr>${properties}</a:pPr>${slideRun(text)}</a:p>`;
    const number = (type: string, start = '') => `<a:buAutoNum type="${type}"${start}/>`;
    const lines =
      line('First', number('arabicPeriod', ' startAt="3"')) +
      line('Second', number('arabicPeriod', ' startAt="3"')) +
      line('Plain', '') +
      line('Again', number('alphaLcParenBoth'));
    const text = await textOf('a.pptx', pptx([{ shapes: `<p:sp><p:txBody>${lines}</p:txBody></p:sp>` }]));
    expect(text).toContain('3. First\n4. Second\n- Plain\n(a) Again');
  });
});

describe('tables', () => {
  it('of HTML keep their rows where a cell holds a table', async () => {
    const html =
      '<table><tr><th>Plan<th>Limits<th>Price<tr><td>Basic<td><table><tr><td>Users<td>5</table><td>9<tr><td>Pro<td><ul><li>50 users</ul><td>99</table>';
    expect(await textOf('a.html', html)).toBe(
      '| Plan | Limits | Price |\n| --- | --- | --- |\n| Basic | Users 5 | 9 |\n| Pro | 50 users | 99 |',
    );
  });
  it('of HTML are those that elements have by their role', async () => {
    const row = (cells: readonly string[], role: string) =>
      `<div role="row">${cells.map((cell) => `<span role="${role}">${cell}</span>`).join('')}</div>`;
    const html = `<div role="table"><div role="rowgroup">${row(['Boat', 'Berth'], 'columnheader')}</div>${row(['Kestrel', '7'], 'cell')}</div>`;
    expect(await textOf('a.html', html)).toBe('| Boat | Berth |\n| --- | --- |\n| Kestrel | 7 |');
  });
  it('of Word keep a row that begins in a later column', async () => {
    const cell = (text: string) => `<w:tc>${wordParagraph(text)}</w:tc>`;
    const rows = `<w:tr>${cell('Pier')}${cell('Boat')}</w:tr><w:tr><w:trPr><w:gridBefore w:val="1"/></w:trPr>${cell('Kestrel')}</w:tr><w:tr>${cell('North')}${cell('Ruff')}</w:tr>`;
    expect(await textOf('a.docx', docx(`<w:tbl>${rows}</w:tbl>`))).toBe(
      '| Pier | Boat |\n| --- | --- |\n|  | Kestrel |\n| North | Ruff |',
    );
  });
  it('of slides have a merged cell in each of its rows', async () => {
    const cell = (text: string, attributes = '') =>
      `<a:tc ${attributes}><a:txBody><a:p>${text === '' ? '' : slideRun(text)}</a:p></a:txBody></a:tc>`;
    const table = `<p:graphicFrame><a:graphic><a:tbl><a:tblPr firstRow="1"/><a:tr>${cell('Pier')}${cell('Boat')}</a:tr><a:tr>${cell('North', 'rowSpan="2"')}${cell('Kestrel')}</a:tr><a:tr>${cell('', 'vMerge="1"')}${cell('Ruff')}</a:tr></a:tbl></a:graphic></p:graphicFrame>`;
    expect(await textOf('a.pptx', pptx([{ shapes: table }]))).toContain('| North | Kestrel |\n| North | Ruff |');
  });
});

describe('forms', () => {
  it('of HTML have the values that are seen', async () => {
    const html =
      '<p>Name: <input value="Zoë"> <input type="hidden" value="token"> <input type="password" value="secret"> <input type="checkbox" value="yes"></p>';
    const text = await textOf('a.html', html);
    expect(text).toContain('Name: Zoë');
    expect(text).not.toMatch(/token|secret|yes/);
  });
  it('of HTML have what is ticked and chosen', async () => {
    const html =
      '<p><input type="radio" name="s"> Small <input type="radio" name="s" checked> Large</p><p><label><input type="checkbox" checked> Insured</label></p>';
    expect((await textOf('a.html', html)).replace(/ +/g, ' ').trim()).toBe('Small [x] Large\n\n[x] Insured');
  });
  it('of Word have the choice of a list and of a box', async () => {
    const field = (data: string) =>
      `<w:r><w:fldChar w:fldCharType="begin"><w:ffData>${data}</w:ffData></w:fldChar></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>`;
    const list = '<w:ddList><w:result w:val="1"/><w:listEntry w:val="Monday"/><w:listEntry w:val="Thursday"/></w:ddList>';
    const body = `<w:p>${run('Closed on ')}${field(list)}</w:p><w:p>${field('<w:checkBox><w:default w:val="0"/><w:checked/></w:checkBox>')}${run(' insured')}</w:p><w:p>${field('<w:checkBox><w:default w:val="0"/></w:checkBox>')}${run(' abroad')}</w:p>`;
    expect(await textOf('a.docx', docx(body))).toBe('Closed on Thursday\n\n☒ insured\n\n☐ abroad');
  });
});

describe('what readers do not see', () => {
  it('is no row or column that a workbook hides, but one that a filter or a closed group hides', async () => {
    const cell = (text: string) => `<c t="str"><v>${text}</v></c>`;
    const row = (attributes: string, ...texts: readonly string[]) => `<row ${attributes}>${texts.map(cell).join('')}</row>`;
    const rows = (attributes: string) =>
      row('r="1"', 'Name', 'Berth', 'Note') + row('r="2"', 'Ann', '7', 'x') + row(`r="3" ${attributes}`, 'Bob', '8', 'y');
    const sheet = (attributes: string, more: { readonly before?: string; readonly behind?: string } = {}) =>
      extract('a.xlsx', xlsx([{ name: 'S', rows: rows(attributes), ...more }]));
    const hidden = await sheet('hidden="1"', { before: '<cols><col min="3" max="3" width="9" hidden="1"/></cols>' });
    expect(hidden.text).toBe('# S\n\n- Name: Ann; Berth: 7');
    expect(hidden.omissions).toEqual([{ kind: 'HIDDEN_PARTS', count: 2, total: null }]);
    const filtered = await sheet('hidden="1"', { behind: '<autoFilter ref="A1:C3"><filterColumn colId="0"/></autoFilter>' });
    expect(filtered.text).toContain('Name: Bob');
    expect((await sheet('hidden="1" outlineLevel="1"')).text).toContain('Name: Bob');
  });
  it('is no row or column that an OpenDocument table hides, also without styles', async () => {
    const cell = (text: string) => `<table:table-cell><text:p>${text}</text:p></table:table-cell>`;
    const row = (attributes: string, ...texts: readonly string[]) =>
      `<table:table-row ${attributes}>${texts.map(cell).join('')}</table:table-row>`;
    const table = `<table:table table:name="S"><table:table-column/><table:table-column table:visibility="collapse"/>${row('', 'Name', 'Note', 'Berth')}${row('', 'Ann', 'x', '7')}${row('table:visibility="collapse"', 'Bob', 'y', '8')}${row('table:visibility="filter"', 'Cid', 'z', '9')}</table:table>`;
    const document = await extract('a.ods', ods(table));
    expect(document.text).toBe('# S\n\n- Name: Ann; Berth: 7\n- Name: Cid; Berth: 9');
    expect(document.omissions).toEqual([{ kind: 'HIDDEN_PARTS', count: 2, total: null }]);
    const bare = zip({
      mimetype: { content: 'application/vnd.oasis.opendocument.spreadsheet', isStored: true },
      'content.xml': `<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet>${table}</office:spreadsheet></office:body></office:document-content>`,
      'META-INF/manifest.xml': '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>',
    });
    expect(await textOf('a.ods', bare)).toContain('Name: Ann');
  });
  it('is no hidden shape of a slide; a picture has its words', async () => {
    const shape = (attributes: string, text: string) =>
      pptxShape([text]).replace('<p:sp>', `<p:sp><p:nvSpPr><p:cNvPr id="2" name="s" ${attributes}/></p:nvSpPr>`);
    const picture = '<p:pic><p:nvPicPr><p:cNvPr id="3" name="p" descr="A boat at the pier"/></p:nvPicPr></p:pic>';
    const group = `<p:grpSp><p:nvGrpSpPr><p:cNvPr id="4" name="g" hidden="1"/></p:nvGrpSpPr>${shape('', 'In a hidden group')}</p:grpSp>`;
    const document = await extract(
      'a.pptx',
      pptx([{ shapes: shape('', 'Seen') + shape('hidden="1"', 'Unseen') + picture + group }]),
    );
    expect(document.text).toBe('# Slide 1\n\nSeen\n\nA boat at the pier');
    expect(document.omissions).toEqual([{ kind: 'HIDDEN_PARTS', count: 2, total: null }]);
  });
  it('is no end of a paragraph that is deleted', async () => {
    const body = `<w:p><w:pPr><w:rPr><w:del w:id="1" w:author="a"/></w:rPr></w:pPr>${run('The gate is ')}</w:p>${wordParagraph('green.')}`;
    expect(await textOf('a.docx', docx(body))).toBe('The gate is green.');
  });
});

describe('CSV without names of its columns', () => {
  it.each([
    ['days', '2024-01-01,5,Oslo\n2024-01-02,6,Kiel\n', '- column 1: 2024-01-01; column 2: 5; column 3: Oslo'],
    ['addresses', 'Ann,ann@example.com\nBob,bob@example.com\n', '- column 1: Ann; column 2: ann@example.com'],
    ['decimals', 'Ann;1,50\nBob;2,75\n', '- column 1: Ann; column 2: 1,50'],
    ['names that are days', 'Name;2024-01-01\nAnn;1\n', '- Name: Ann; 2024-01-01: 1'],
    ['names that are years', 'Country,2019,2020\nA,1,2\n', '- Country: A; 2019: 1; 2020: 2'],
  ])('is told by %s', async (_what, csv, line) => {
    expect((await textOf('a.csv', csv)).split('\n')[0]).toBe(line);
  });
});

it('a notebook is its text, its code, and what the code printed', async () => {
  const notebook = {
    nbformat: 4,
    nbformat_minor: 5,
    metadata: { language_info: { name: 'python' } },
    cells: [
      { cell_type: 'markdown', source: ['# Tides\n', 'Words.'] },
      {
        cell_type: 'code',
        source: ['x = 1\n', 'print(x)'],
        outputs: [
          { output_type: 'stream', text: ['1\n'] },
          { output_type: 'execute_result', data: { 'text/plain': '42', 'text/html': '<b>42</b>' } },
          { output_type: 'display_data', data: { 'image/png': 'iVBORw0KGgo=', 'text/plain': '<Figure>' } },
        ],
      },
      { cell_type: 'raw', source: 'As it is.' },
      null,
    ],
  };
  expect(await textOf('tides.ipynb', JSON.stringify(notebook))).toBe(
    '# Tides\nWords.\n\n```python\nx = 1\nprint(x)\n```\n\n```\n1\n```\n\n```\n42\n```\n\nAs it is.',
  );
});
