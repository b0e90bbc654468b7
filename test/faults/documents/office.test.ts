import { createRequire } from 'node:module';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ExtractedDocument, ExtractLimits } from '../../../src/engine/knowledge/extract/extract.ts';
import { expectCleanResult } from '../../support/knowledge/clean-result.ts';
import { compound } from '../../support/knowledge/compound.ts';
import { documentReader } from '../../support/knowledge/documents.ts';
import { docx, epub, ods, pptx, pptxShape, relationsXml, wordParagraph, xlsx } from '../../support/knowledge/office.ts';
import { type ZipPart, zip } from '../../support/knowledge/zip.ts';
import { propertyRuns } from '../../support/property/sample.ts';

const spreadsheets = createRequire(import.meta.url)('@e965/xlsx') as typeof import('@e965/xlsx');
const reader = documentReader();
const extract = (filename: string, content: string | Uint8Array, limits: Partial<ExtractLimits> = {}) =>
  reader.extract(filename, content, undefined, limits);

const types = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>';
/** A Word document with this main part, and other parts. */
function rawDocx(main: string | ZipPart, others: Parameters<typeof zip>[0] = {}): Buffer {
  return zip({ '[Content_Types].xml': types, 'word/document.xml': main, ...others });
}
const body = (xml: string) => `<w:document xmlns:w="w"><w:body>${xml}</w:body></w:document>`;
const words = body(wordParagraph('Readable words.'));

function xls(rows: readonly (readonly unknown[])[]): Buffer {
  const book = spreadsheets.utils.book_new();
  spreadsheets.utils.book_append_sheet(book, spreadsheets.utils.aoa_to_sheet(rows as unknown[][]), 'Sheet');
  return spreadsheets.write(book, { type: 'buffer', bookType: 'biff8' });
}

/** A workbook of Excel 97 whose stream says after its first record that the rest is encrypted. */
function lockedXls(): Buffer {
  const stream = Buffer.from(
    spreadsheets.CFB.find(spreadsheets.CFB.read(xls([['secret', 1]]), { type: 'buffer' }), '/Workbook')?.content ?? [],
  );
  const first = 4 + stream.readUInt16LE(2);
  const filePass = Buffer.from(`2f003600010001000100${'5a'.repeat(48)}`, 'hex');
  return compound({ Workbook: Buffer.concat([stream.subarray(0, first), filePass, stream.subarray(first), Buffer.alloc(4096)]) });
}

describe('files that give no text say why', () => {
  const picture = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
  it.each<[string, string, () => Uint8Array, string, RegExp]>([
    ['a part that expands a thousand times', 'a.docx', () => rawDocx(' '.repeat(40_000_000)), 'CORRUPT', /200 times its size/],
    ['a part that is larger than it says', 'a.docx', () => rawDocx({ content: words, statedSize: 10 }), 'CORRUPT', /damaged/],
    [
      'a sheet that expands a thousand times',
      'a.xlsx',
      () => xlsx([{ name: 'A', rows: ' '.repeat(40_000_000) }]),
      'CORRUPT',
      /200 times its size/,
    ],
    [
      'a sheet that is larger than it says',
      'a.xlsx',
      () => xlsx([{ name: 'A', rows: '' }], [], { 'xl/worksheets/sheet1.xml': { content: ' '.repeat(1_000), statedSize: 10 } }),
      'CORRUPT',
      /damaged/,
    ],
    [
      'an archive of too many entries',
      'a.docx',
      () =>
        rawDocx(
          words,
          Object.fromEntries(
            Array.from({ length: 20_001 }, (_, index) => [`word/media/${index}`, { content: '', isStored: true }]),
          ),
        ),
      'CORRUPT',
      /20,000 entries/,
    ],
    [
      'names that lead out of the archive',
      'a.docx',
      () => rawDocx(words, { '../../etc/passwd': 'x' }),
      'CORRUPT',
      /lead out of it/,
    ],
    ['absolute names', 'a.epub', () => rawDocx(words, { '/etc/passwd': 'x' }), 'CORRUPT', /lead out of it/],
    ['XML nested a million levels deep', 'a.docx', () => rawDocx('<a>'.repeat(1_000_000)), 'CORRUPT', /500 levels/],
    ['a document cut short', 'a.docx', () => docx(wordParagraph('words')).subarray(0, 700), 'CORRUPT', /damaged or cut short/],
    [
      'an archive without a document',
      'a.docx',
      () => zip({ '[Content_Types].xml': types }),
      'UNSUPPORTED_TYPE',
      /Office document of an unknown kind/,
    ],
    ['an archive of files', 'a.docx', () => zip({ 'a.txt': 'words' }), 'UNSUPPORTED_TYPE', /ZIP archive.*Add the files in it\./],
    [
      'an encrypted entry',
      'a.docx',
      () => rawDocx({ content: words, isEncrypted: true }),
      'ENCRYPTED',
      /protected by a password/,
    ],
    [
      'an encrypted Office document',
      'a.xlsx',
      () => compound({ EncryptionInfo: Buffer.alloc(200, 1), EncryptedPackage: Buffer.alloc(9000, 2) }),
      'ENCRYPTED',
      /protected by a password/,
    ],
    ['an encrypted XLS', 'a.xls', lockedXls, 'ENCRYPTED', /protected by a password/],
    [
      'an encrypted ODS',
      'a.ods',
      () => ods('', '<manifest:file-entry manifest:full-path="content.xml"><manifest:encryption-data/></manifest:file-entry>'),
      'ENCRYPTED',
      /protected by a password/,
    ],
    [
      'a book that may not be copied',
      'a.epub',
      () =>
        epub({ 'a.xhtml': 'x' }, '', {
          'META-INF/encryption.xml':
            '<encryption><EncryptedData><EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/></EncryptedData></encryption>',
        }),
      'ENCRYPTED',
      /against copying/,
    ],
    [
      'a compound file with a broken header',
      'a.doc',
      () => Buffer.concat([compound({ WordDocument: Buffer.alloc(9000) }).subarray(0, 40), Buffer.alloc(2000)]),
      'CORRUPT',
      /damaged/,
    ],
    [
      'an old Word document',
      'a.doc',
      () => compound({ WordDocument: Buffer.alloc(9000), '1Table': Buffer.alloc(9000) }),
      'UNSUPPORTED_TYPE',
      /Word 97 to 2003 \(\.doc\).*Save it as \.docx/,
    ],
    [
      'an old presentation',
      'a.ppt',
      () => compound({ 'PowerPoint Document': Buffer.alloc(9000) }),
      'UNSUPPORTED_TYPE',
      /Save it as \.pptx/,
    ],
    [
      'an Outlook message',
      'a.msg',
      () => compound({ '__properties_version1.0': Buffer.alloc(9000) }),
      'UNSUPPORTED_TYPE',
      /Save it as \.eml/,
    ],
    [
      'a document of pictures',
      'a.docx',
      () => rawDocx(body('<w:p><w:r><w:drawing/></w:r></w:p>'), { 'word/media/a.png': picture }),
      'NO_TEXT',
      /text in pictures is not read/,
    ],
    ['slides of pictures', 'a.pptx', () => pptx([{ shapes: '<p:pic/>' }]), 'NO_TEXT', /text in pictures is not read/],
    [
      'a workbook without values',
      'a.xlsx',
      () => xlsx([{ name: 'Empty', rows: '<row r="1"><c r="A1" s="1"/></row>' }]),
      'NO_TEXT',
      /no text/,
    ],
    [
      'an archive of another office',
      'a.odt',
      () => zip({ mimetype: { content: 'application/vnd.oasis.opendocument.text', isStored: true } }),
      'UNSUPPORTED_TYPE',
      /Save it as DOCX/,
    ],
  ])('%s', async (_name, filename, content, code, message) => {
    const failure = await extract(filename, content()).catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: 'ExtractError', isRetryable: false, code, message: expect.stringMatching(message) });
    expect((failure as Error).message).toMatch(/^The .*\.$/);
  });
});

describe('files that look odd are read', () => {
  const lines = (document: ExtractedDocument) => document.text.split('\n').filter((line) => line !== '');
  it('entities that expand a billion times, or name a file, stay as they are', async () => {
    const bomb = Array.from(
      { length: 10 },
      (_, level) => `<!ENTITY l${level} "${level === 0 ? 'ha' : `&l${level - 1};`.repeat(10)}">`,
    );
    const { text } = await extract(
      'a.docx',
      rawDocx(
        `<?xml version="1.0"?><!DOCTYPE x [${bomb.join('')}<!ENTITY file SYSTEM "file:///etc/passwd">]>${body(wordParagraph('Words &l9; &file;'))}`,
      ),
    );
    expect(text).toBe('Words &l9; &file;');
  });
  it('archives and macros inside a document are not opened', async () => {
    const inner = zip({ 'bomb.bin': Buffer.alloc(30_000_000) });
    const { text, mimeType } = await extract(
      'a.docm',
      rawDocx(words, { 'word/embeddings/a.zip': inner, 'word/vbaProject.bin': 'Sub AutoOpen() macro words' }),
    );
    expect(text).toBe('Readable words.');
    expect(mimeType).toMatch(/wordprocessingml/);
  });
  it('millions of empty cells add nothing', async () => {
    const rows = `<row r="1"><c t="str"><v>first</v></c></row><row>${'<c/>'.repeat(3_100_000)}</row><row><c t="str"><v>last</v></c></row>`;
    expect(lines(await extract('a.xlsx', xlsx([{ name: 'Big', rows }])))).toEqual(['# Big', 'first', 'last']);
  });
  it('a row repeated a billion times is written once', async () => {
    const row = (text: string) =>
      `<table:table-row table:number-rows-repeated="1000000000"><table:table-cell table:number-columns-repeated="1000000000"><text:p>${text}</text:p></table:table-cell></table:table-row>`;
    expect(lines(await extract('a.ods', ods(`<table:table table:name="T">${row('again')}${row('')}</table:table>`)))).toEqual([
      '# T',
      'again',
    ]);
  });
  it('relations that lead outside name nothing', async () => {
    const document = await extract(
      'a.xlsx',
      xlsx([{ name: 'A', rows: '<row><c r="ZZZZ99999999" t="str"><v>words</v></c></row>' }], [], {
        'xl/_rels/workbook.xml.rels': relationsXml([
          ['worksheet', 'worksheets/sheet1.xml'],
          ['sharedStrings', '../../../../etc/passwd'],
        ]),
      }),
    );
    expect(lines(document)).toEqual(['# A', 'words']);
  });
});

describe('a document that takes too much', () => {
  const slow = () => xlsx([{ name: 'Big', rows: `<row>${'<c/>'.repeat(2_900_000)}</row>` }]);
  it('time is stopped, and the next one is read', async () => {
    await expect(extract('a.xlsx', slow(), { timeoutMs: 300 })).rejects.toMatchObject({ code: 'TIMEOUT', isRetryable: false });
    expect((await extract('a.docx', rawDocx(words))).text).toBe('Readable words.');
  });
  it('memory is stopped, and the next one is read', async () => {
    const bytes = xls(
      Array.from({ length: 10_000 }, (_, row) => Array.from({ length: 6 }, (_cell, column) => `cell ${row} ${column}`)),
    );
    const memoryMaxBytes = 48 * 1024 * 1024;
    await expect(extract('a.xls', bytes, { memoryMaxBytes })).rejects.toMatchObject({ code: 'MEMORY', isRetryable: false });
    expect((await extract('a.docx', rawDocx(words))).text).toBe('Readable words.');
  });
  it('text is refused', async () => {
    const textMaxChars = 1_000;
    const long = 'many words '.repeat(200);
    const table = `<w:tbl><w:tr><w:tc>${wordParagraph(long)}</w:tc></w:tr></w:tbl>`;
    const documents: readonly (readonly [string, string | Uint8Array])[] = [
      ['a.docx', docx(wordParagraph(long))],
      ['b.docx', docx(table)],
      ['a.xlsx', xlsx([{ name: 'A', rows: `<row><c t="str"><v>${long}</v></c></row>` }])],
      ['a.xls', xls(Array.from({ length: 20 }, () => [long]))],
      [
        'a.ods',
        ods(
          `<table:table><table:table-row><table:table-cell><text:p>${long}</text:p></table:table-cell></table:table-row></table:table>`,
        ),
      ],
      ['a.pptx', pptx([{ shapes: pptxShape([long]) }])],
      ['a.epub', epub({ 'a.xhtml': `<p>${long}</p>` }, '')],
      ['a.eml', `Subject: long\n\n${long}`],
    ];
    for (const [filename, content] of documents) {
      const failure = await extract(filename, content, { textMaxChars }).catch((error: unknown) => error);
      expect([filename, failure]).toEqual([filename, expect.objectContaining({ code: 'TOO_LARGE' })]);
    }
  });
});

it('whatever is changed in a document: clean text with fitting blocks, or a failure with a reason', async () => {
  const originals: readonly (readonly [string, Buffer])[] = [
    ['a.docx', docx(wordParagraph('Heading', 'berschrift1') + wordParagraph('Some words.'))],
    [
      'a.xlsx',
      xlsx(
        [{ name: 'A', rows: '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" s="1"><v>46387</v></c></row>' }],
        ['<t>shared</t>'],
      ),
    ],
    [
      'a.xls',
      xls([
        ['part', 'price'],
        ['chains', 60.5],
      ]),
    ],
    ['a.pptx', pptx([{ shapes: pptxShape(['Title'], 'title') + pptxShape(['one', 'two']), notes: 'notes' }])],
    [
      'a.ods',
      ods(
        '<table:table table:name="A"><table:table-row><table:table-cell><text:p>cell</text:p></table:table-cell></table:table-row></table:table>',
      ),
    ],
    ['a.epub', epub({ 'a.xhtml': '<h1>Chapter</h1><p>Words.</p>' }, '<li><a href="text/a.xhtml">One</a></li>')],
    [
      'a.eml',
      Buffer.from(
        'Subject: =?utf-8?B?w7w=?=\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: text/html\r\n\r\n<p>Words\r\n--x\r\nContent-Disposition: attachment; filename=a.md\r\nContent-Transfer-Encoding: base64\r\n\r\nIyBBCg==\r\n--x--',
      ),
    ],
  ];
  const changed = fc.constantFrom(...originals).chain(([filename, bytes]) =>
    fc.record({
      filename: fc.constant(filename),
      bytes: fc
        .tuple(fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { maxLength: 8 }), fc.option(fc.nat(bytes.length)))
        .map(([changes, length]) => {
          const copy = Buffer.from(bytes);
          for (const [at, byte] of changes) copy[at] = byte;
          return length === null ? copy : copy.subarray(0, length);
        }),
    }),
  );
  // A failure ends the reader process, and most changed documents fail: each case starts a process.
  await fc.assert(
    fc.asyncProperty(changed, async ({ filename, bytes }) => {
      expectCleanResult(await extract(filename, bytes).catch((error: unknown) => error));
    }),
    { numRuns: propertyRuns(60) },
  );
});
