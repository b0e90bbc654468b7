import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanText, DocumentWriter } from '../../../src/engine/knowledge/extract/document-writer.ts';
import type { ExtractedDocument } from '../../../src/engine/knowledge/extract/extract.ts';
import { markdownBlocks } from '../../../src/engine/knowledge/extract/markdown-blocks.ts';
import { type Chunk, chunkDocument, defaultChunkLimits } from '../../../src/engine/knowledge/index/chunk.ts';
import { estimateTokens } from '../../../src/engine/models/tokens.ts';
import { cpuMs } from '../../support/processes/clock.ts';

function markdown(text: string, title: string | null = null): ExtractedDocument {
  return pages([text], title, null);
}

function pages(texts: readonly string[], title: string | null = null, firstPage: number | null = 1): ExtractedDocument {
  const writer = new DocumentWriter(10_000_000);
  for (const [index, text] of texts.entries()) writer.text(text, markdownBlocks, firstPage === null ? null : firstPage + index);
  writer.title = title;
  if (firstPage !== null) writer.pageCount = texts.length;
  return writer.finish('text/markdown');
}

function sentences(count: number, subject = 'tide'): string {
  return Array.from(
    { length: count },
    (_, index) => `The ${subject} number ${index} rises slowly towards the harbour wall.`,
  ).join(' ');
}

const shape = ({ headingPath, text }: Chunk) => [headingPath, text];

describe('passages', () => {
  it('begin at headings, and know the headings above them but the title', () => {
    const document = markdown(
      '# Guide\n\nIntro.\n\n## Repairs\n\n### Booking\n\nBook early.\n\n### Collecting\n\nCome soon.\n\n## Loans\n\nWe lend.',
      'Guide',
    );
    expect([...chunkDocument(document)].map(shape)).toEqual([
      ['', '# Guide\n\nIntro.\n\n## Repairs\n\n### Booking\n\nBook early.'],
      ['Repairs > Collecting', '### Collecting\n\nCome soon.'],
      ['Loans', '## Loans\n\nWe lend.'],
    ]);
  });
  it('join paragraphs up to the target and repeat one sentence where they go on', () => {
    const document = markdown(Array.from({ length: 12 }, (_, index) => sentences(8, `tide${index}`)).join('\n\n'));
    const chunks = [...chunkDocument(document)];
    expect(chunks.length).toBeGreaterThan(2);
    for (const [index, chunk] of chunks.entries()) {
      expect(chunk.tokenCount).toBeLessThanOrEqual(defaultChunkLimits.maxTokens);
      const previous = chunks[index - 1];
      if (previous === undefined) continue;
      const repeated = document.text.slice(chunk.charStart, previous.charEnd);
      expect(repeated).toMatch(/^The tide\d+ number 7 rises slowly towards the harbour wall\.$/);
    }
  });
  it('cut a table between rows, repeat none, and keep its head in the path', () => {
    const rows = Array.from({ length: 120 }, (_, index) => `| part ${index} | ${index} | ${index} days |`);
    const document = markdown(`## Stock\n\n| part | stock | delivery |\n| --- | --- | --- |\n${rows.join('\n')}`);
    const [first, ...others] = [...chunkDocument(document)];
    expect(first?.headingPath).toBe('Stock');
    for (const chunk of others) {
      expect(chunk.headingPath).toBe('Stock > | part | stock | delivery |');
      expect(chunk.text).toMatch(/^\| part \d+ .*days \|$/s);
    }
    expect([first, ...others].flatMap((chunk) => chunk?.text.match(/part \d+/g) ?? [])).toHaveLength(120);
  });
  it('know their page and end with it', () => {
    const document = pages(['# One\n\nFirst page.', 'Second page, without a heading.', '# Three\n\nThird page.']);
    expect([...chunkDocument(document)].map(({ page, headingPath }) => [page, headingPath])).toEqual([
      [1, 'One'],
      [2, 'One'],
      [3, 'Three'],
    ]);
  });
  it('repeat the beginning of a sentence that a page cuts', () => {
    const document = pages(['All is well. Batteries carry a warranty of', 'two years or six hundred cycles.']);
    expect([...chunkDocument(document)].map(({ text }) => text)).toEqual([
      'All is well. Batteries carry a warranty of',
      'Batteries carry a warranty of\n\ntwo years or six hundred cycles.',
    ]);
  });
  it('cut what has no boundaries without splitting a character', () => {
    for (const text of ['😀'.repeat(3_000), 'x'.repeat(20_000), '車間周二至周六營業'.repeat(500), 'a '.repeat(5_000)]) {
      const chunks = [...chunkDocument(markdown(text))];
      expect(chunks.length).toBeGreaterThan(1);
      for (const chunk of chunks) {
        expect(chunk.text.isWellFormed()).toBe(true);
        expect(chunk.tokenCount).toBeLessThanOrEqual(defaultChunkLimits.maxTokens);
      }
    }
  });
  it('with equal text have equal hashes', () => {
    const [first, second, third] = [...chunkDocument(markdown('# A\n\nSame.\n\n# A\n\nSame.\n\n# A\n\nOther.'))];
    expect(first?.contentHash).toBe(second?.contentHash);
    expect(third?.contentHash).not.toBe(first?.contentHash);
  });
  it('come one at a time: the first costs as little in a long document as in a short one', () => {
    const document = markdown(`${sentences(60)}\n\n`.repeat(1_000));
    chunkDocument(document).next();
    const rounds = [1, 2, 3].map(() => cpuMs(() => expect(chunkDocument(document).next().done).toBe(false)));
    expect(Math.min(...rounds)).toBeLessThan(20);
  });
});

describe('for every document', () => {
  const word = fc.oneof(
    fc.constantFrom(
      'tide',
      'harbour',
      'Dr.',
      'ends.',
      'why?',
      '"So!"',
      '3.14',
      '車間。',
      'größer',
      '😀',
      '#',
      '|',
      '`code`',
      'a_b',
    ),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }),
  );
  const prose = fc.array(word, { minLength: 1, maxLength: 400 }).map((words) => words.join(' '));
  const part = fc.oneof(
    prose,
    fc.tuple(fc.integer({ min: 1, max: 6 }), word).map(([level, text]) => `${'#'.repeat(level)} ${text}`),
    fc
      .array(prose, { maxLength: 40 })
      .map((rows) => `| a | b |\n| - | - |\n${rows.map((row) => `| ${row.slice(0, 60)} | 1 |`).join('\n')}`),
    fc.array(prose, { maxLength: 20 }).map((items) => items.map((item) => `- ${item}`).join('\n')),
    prose.map((code) => `\`\`\`\n${code.replaceAll(' ', '\n')}\n\`\`\``),
    fc.integer({ min: 1, max: 9_000 }).map((length) => 'x'.repeat(length)),
  );
  const document = fc
    .array(
      fc.array(part, { minLength: 1, maxLength: 12 }).map((parts) => parts.join('\n\n')),
      { minLength: 1, maxLength: 4 },
    )
    // A blank text is not a document.
    .filter((texts) => cleanText(texts.join('')).trim() !== '');

  it('passages are slices of the text, in order, never too large, and together the whole of it', () => {
    fc.assert(
      fc.property(document, fc.boolean(), (texts, hasPages) => {
        const extracted = pages(texts, null, hasPages ? 1 : null);
        let covered = 0;
        let ordinal = 0;
        for (const chunk of chunkDocument(extracted)) {
          expect(chunk.ordinal).toBe(ordinal++);
          expect(chunk.text).toBe(extracted.text.slice(chunk.charStart, chunk.charEnd));
          expect(chunk.text.trim()).not.toBe('');
          expect(chunk.text.isWellFormed()).toBe(true);
          expect(chunk.tokenCount).toBeLessThanOrEqual(defaultChunkLimits.maxTokens);
          expect(estimateTokens(chunk.text)).toBeLessThanOrEqual(defaultChunkLimits.maxTokens);
          expect(chunk.page === null).toBe(!hasPages);
          expect(extracted.text.slice(covered, Math.max(covered, chunk.charStart)).trim()).toBe('');
          expect(chunk.charEnd).toBeGreaterThan(covered);
          covered = chunk.charEnd;
        }
        expect(extracted.text.slice(covered).trim()).toBe('');
      }),
      { numRuns: 150 },
    );
  });
});
