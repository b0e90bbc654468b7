import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expectCleanResult } from '../../support/knowledge/clean-result.ts';
import { documentReader, makePdf } from '../../support/knowledge/documents.ts';
import { propertyRuns } from '../../support/property/sample.ts';

const { extract } = documentReader();

describe('files that give no text say why', () => {
  const png = Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex');
  const loop =
    '%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 100000 >>\nendobj\ntrailer\n<< /Root 1 0 R /Size 3 >>\n%%EOF';
  it.each<[string, string, string | Uint8Array, readonly string[]]>([
    ['an empty file', 'a.md', '', ['NO_TEXT']],
    ['a blank file', 'a.txt', ' \n\t\n ', ['NO_TEXT']],
    ['a picture that is called Markdown', 'a.md', png, ['UNSUPPORTED_TYPE']],
    [
      'an archive that is called text',
      'a.txt',
      Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.alloc(500)]),
      ['UNSUPPORTED_TYPE'],
    ],
    ['bytes of no known kind', 'a.pdf', Buffer.alloc(5000, '\x00\x01\x02\x03'), ['UNSUPPORTED_TYPE']],
    ['a PDF of nothing but its first line', 'a.pdf', '%PDF-1.7\nnothing more', ['CORRUPT', 'NO_TEXT']],
    ['a PDF whose pages contain each other', 'a.pdf', loop, ['CORRUPT', 'NO_TEXT']],
    ['JSON nested a million levels deep', 'a.json', '['.repeat(1e6) + ']'.repeat(1e6), ['CORRUPT']],
    ['JSON objects nested too deep', 'a.json', `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`, ['CORRUPT']],
    ['a line of a hundred million characters', 'a.txt', Buffer.alloc(100_000_000, 'word '), ['TOO_LARGE']],
    ['more text than the limit', 'a.md', 'word '.repeat(1_100_000), ['TOO_LARGE']],
    ['a file larger than can be read', 'a.html', Buffer.alloc(160 * 1024 * 1024, ' '), ['TOO_LARGE']],
  ])('%s', async (_name, filename, content, codes) => {
    const failure = await extract(filename, content).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({ name: 'ExtractError', isRetryable: false, code: expect.toBeOneOf([...codes]) });
    expect((failure as Error).message).toMatch(/^The .*\.$/);
  });
  it('a PDF with a password', async () => {
    const plain = Buffer.from(await makePdf([{ columns: ['Secret words in here.'] }])).toString('latin1');
    const encrypt = `<< /Filter /Standard /V 2 /R 3 /Length 128 /P -44 /O <${'00'.repeat(32)}> /U <${'11'.repeat(32)}> >>`;
    const end = plain.lastIndexOf('startxref');
    const table = Number(/startxref\s+(\d+)/.exec(plain.slice(end))?.[1]);
    // The cross-reference stream's dictionary is the trailer.
    const locked = `${plain.slice(0, table)}${plain.slice(table).replace('/Root', `/Encrypt ${encrypt} /ID [<${'22'.repeat(16)}> <${'22'.repeat(16)}>] /Root`)}`;
    await expect(extract('locked.pdf', Buffer.from(locked, 'latin1'))).rejects.toMatchObject({ code: 'ENCRYPTED' });
  });
});

describe('files that look odd are read', () => {
  it.each<[string, string, string | Uint8Array, RegExp]>([
    ['HTML nested two thousand levels deep', 'a.html', `<body>${'<div>'.repeat(2_000)}deep words`, /deep words/],
    ['tables nested a thousand levels deep', 'a.html', `${'<table><tr><td>'.repeat(1_000)}deep words`, /deep words/],
    ['text that begins like a bitmap', 'a.txt', 'BMW is a car.', /^BMW is a car\.$/],
    ['one word of three million characters', 'a.txt', 'x'.repeat(3_000_000), /^x{3000000}$/],
    ['three million stars', 'a.md', '*'.repeat(3_000_000), /^\*+$/],
    ['a table rule of ten thousand columns', 'a.md', `a|b\n${'|-'.repeat(10_000)}x\n`, /^a\|b/],
    ['code that never ends', 'a.md', '```\nlet a;\n\n# still code', /still code$/],
    ['lines of nothing but blanks', 'a.txt', `${`${' '.repeat(9_000)}\n`.repeat(300)}x`, /x$/],
  ])('%s', async (_name, filename, content, expected) => {
    expect((await extract(filename, content)).text).toMatch(expected);
  });
});

it('whatever the bytes: clean text with fitting blocks, or a failure with a reason', async () => {
  const pdf = await makePdf([{ heading: 'Tides', columns: ['The moon pulls the sea towards itself every day.'] }]);
  const content = fc.oneof(
    fc.uint8Array({ maxLength: 3_000 }),
    fc.string({ unit: 'binary', maxLength: 2_000 }).map((text) => Buffer.from(text, 'utf16le')),
    fc
      .array(
        fc.constantFrom(
          '<p>',
          '<table>',
          '</td>',
          '# ',
          '```',
          '|',
          '---',
          '\n',
          '"',
          ',',
          '{',
          '[',
          'a',
          'ß',
          '\0',
          '\ufeff',
          '<!--',
        ),
        { maxLength: 300 },
      )
      .map((parts) => Buffer.from(parts.join(''))),
    fc.nat(pdf.length).map((length) => pdf.slice(0, length)),
    fc
      .tuple(fc.nat(pdf.length - 1), fc.nat(255))
      .map(([at, byte]) => Uint8Array.from(pdf, (old, index) => (index === at ? byte : old))),
  );
  const name = fc.constantFrom('a.md', 'a.txt', 'a.html', 'a.csv', 'a.json', 'a.pdf', 'a', 'a.bin');
  await fc.assert(
    fc.asyncProperty(name, content, async (filename, bytes) => {
      expectCleanResult(await extract(filename, bytes).catch((error: unknown) => error));
    }),
    { numRuns: propertyRuns(40) },
  );
});
