import { describe, expect, it } from 'vitest';
import { documentReader } from '../../support/knowledge/documents.ts';
import { docx, type WordParts, wordParagraph } from '../../support/knowledge/office.ts';

const reader = documentReader();
const extract = (body: string, parts: WordParts = {}) => reader.extract('a.docx', docx(body, parts));

const run = (text: string, properties = '') => `<w:r><w:rPr>${properties}</w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`;
const paragraph = (content: string, properties = '') => `<w:p><w:pPr>${properties}</w:pPr>${content}</w:p>`;
const style = (id: string, more: string, type = 'character') =>
  `<w:style w:type="${type}" w:styleId="${id}"><w:name w:val="${id}"/>${more}</w:style>`;
const hiding = '<w:rPr><w:vanish/></w:rPr>';

describe('hidden text of Word', () => {
  const styles =
    style('Secret', hiding) +
    style('Deeper', '<w:basedOn w:val="Secret"/>') +
    style('Aloud', '<w:basedOn w:val="Secret"/><w:rPr><w:vanish w:val="0"/></w:rPr>') +
    style('Draft', hiding, 'paragraph');
  it.each([
    ['by itself', paragraph(`${run('Seen. ')}${run('Hidden.', '<w:vanish/>')}`)],
    ['by a style of characters', paragraph(`${run('Seen. ')}${run('Hidden.', '<w:rStyle w:val="Secret"/>')}`)],
    ['by a style that is based on one', paragraph(`${run('Seen. ')}${run('Hidden.', '<w:rStyle w:val="Deeper"/>')}`)],
    ['by the style of its paragraph', paragraph(run('Seen.')) + paragraph(run('Hidden.'), '<w:pStyle w:val="Draft"/>')],
    [
      'behind a text box of its paragraph',
      paragraph(
        `${run('Seen.')}<w:r><w:rPr><w:vanish/></w:rPr><w:pict>${paragraph(run('Seen, too.'))}</w:pict><w:t>Hidden.</w:t></w:r>`,
      ),
    ],
    [
      'by its row',
      `${paragraph(run('Seen.'))}<w:tbl><w:tr><w:tc>${wordParagraph('Seen')}</w:tc></w:tr><w:tr><w:trPr><w:hidden/></w:trPr><w:tc>${wordParagraph('Hidden.')}</w:tc></w:tr></w:tbl>`,
    ],
  ])('is left out when hidden %s, and counted', async (_how, body) => {
    const document = await extract(body, { styles });
    expect(document.text).toContain('Seen');
    expect(document.text).not.toContain('Hidden');
    expect(document.omissions).toEqual([{ kind: 'HIDDEN_PARTS', count: 1, total: null }]);
  });
  it('is left out of notes, with what was deleted', async () => {
    const { text } = await extract(paragraph(`${run('Seen.')}<w:r><w:footnoteReference w:id="2"/></w:r>`), {
      styles,
      footnotes: `<w:footnote w:id="2">${paragraph(`${run('Said. ')}${run('Hidden.', '<w:rStyle w:val="Secret"/>')}<w:del>${run('Deleted.')}</w:del>`)}</w:footnote>`,
    });
    expect(text).toBe('Seen.[^1]\n\n[^1]: Said.');
  });
  it.each([
    ['a style that shows it again', '<w:rStyle w:val="Aloud"/>', ''],
    ['formatting of its own', '<w:rStyle w:val="Secret"/><w:vanish w:val="0"/>', ''],
    ['a hiding style within a hiding style, which switch', '<w:rStyle w:val="Secret"/>', '<w:pStyle w:val="Draft"/>'],
  ])('is shown by %s', async (_how, ofRun, ofParagraph) => {
    expect((await extract(paragraph(run('Seen.', ofRun), ofParagraph), { styles })).text).toBe('Seen.');
  });
});

describe('numbers of Word', () => {
  const level = (at: number, format: string, text: string, more = '') =>
    `<w:lvl w:ilvl="${at}"><w:start w:val="1"/><w:numFmt w:val="${format}"/>${more}<w:lvlText w:val="${text}"/></w:lvl>`;
  const numbering =
    `<w:abstractNum w:abstractNumId="0">${level(0, 'decimal', '%1.', '<w:pStyle w:val="berschrift1"/>')}${level(1, 'decimal', '%1.%2', '<w:pStyle w:val="Kapitel2"/>')}${level(2, 'lowerLetter', '(%3)')}</w:abstractNum>` +
    `<w:abstractNum w:abstractNumId="1">${level(0, 'upperRoman', 'Art. %1')}${level(1, 'bullet', '·')}</w:abstractNum>` +
    '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>' +
    '<w:num w:numId="3"><w:abstractNumId w:val="1"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="4"/></w:lvlOverride></w:num>';
  const styles =
    `<w:style w:type="paragraph" w:styleId="Kapitel2"><w:name w:val="heading 2"/><w:pPr><w:numPr><w:ilvl w:val="1"/><w:numId w:val="1"/></w:numPr></w:pPr></w:style>` +
    style('Punkt', '<w:pPr><w:numPr><w:numId w:val="2"/></w:numPr></w:pPr>', 'paragraph');
  const item = (text: string, listId: number, at = 0) =>
    paragraph(run(text), `<w:numPr><w:ilvl w:val="${at}"/><w:numId w:val="${listId}"/></w:numPr>`);

  it('stand before headings and paragraphs of lists, counted as Word does', async () => {
    const { text } = await extract(
      item('Scope', 1) +
        wordParagraph('Berths', 'Kapitel2') +
        wordParagraph('Fees', 'Kapitel2') +
        item('for boats', 1, 2) +
        item('for ships', 1, 2) +
        item('Duties', 1) +
        wordParagraph('Owners', 'Kapitel2') +
        wordParagraph('Each owner pays.', 'Punkt') +
        item('a remark', 2, 1) +
        item('No owner sails.', 2) +
        item('Anew.', 3) +
        item('And on.', 3),
      { styles, numbering },
    );
    expect(text.split(/\n+/)).toEqual(
      [
        '1. Scope',
        '## 1.1 Berths',
        '## 1.2 Fees',
        '    (a) for boats',
        '    (b) for ships',
        '2. Duties',
        '## 2.1 Owners',
        'Art. I Each owner pays.',
        '  - a remark',
        'Art. II No owner sails.',
        'Art. IV Anew.',
        'Art. V And on.',
      ].map((line, place) => (place === 3 ? line.trim() : line)),
    );
  });
  it('stand in cells that hold nothing else', async () => {
    const row = (words: string) =>
      `<w:tr><w:tc>${item('', 2)}</w:tc><w:tc>${item('', 2, 1)}</w:tc><w:tc>${wordParagraph(words)}</w:tc></w:tr>`;
    const { text } = await extract(
      `<w:tbl>${row('Stores are dry.')}${row('Lamps are lit.')}</w:tbl>${item('', 2)}${item('Done.', 2)}`,
      {
        styles,
        numbering,
      },
    );
    expect(text).toBe('| Art. I |  | Stores are dry. |\n| --- | --- | --- |\n| Art. II |  | Lamps are lit. |\n\nArt. IV Done.');
  });
  it('are no part of a paragraph that its list leaves out', async () => {
    const { text } = await extract(paragraph(run('Plain.'), '<w:pStyle w:val="Punkt"/><w:numPr><w:numId w:val="0"/></w:numPr>'), {
      styles,
      numbering,
    });
    expect(text).toBe('Plain.');
  });
});

describe('what Word shows', () => {
  it('has a drop cap at its word, signs of fonts, and words apart at a positional tab', async () => {
    const { text } = await extract(
      paragraph(run('O'), '<w:framePr w:dropCap="drop" w:lines="3"/>') +
        paragraph(run('nce the sea was calm.')) +
        paragraph(
          `${run('Angle ')}<w:r><w:sym w:font="Symbol" w:char="F061"/></w:r>${run(' is right ')}<w:r><w:sym w:font="Wingdings" w:char="F0FC"/></w:r>`,
        ) +
        paragraph(`${run('Left')}<w:r><w:ptab w:relativeTo="margin" w:alignment="right" w:leader="none"/></w:r>${run('Right')}`),
    );
    expect(text.split('\n\n')).toEqual(['Once the sea was calm.', 'Angle α is right ✓', 'Left\tRight']);
  });
  it('has documents that it includes, in their place, and counts one that cannot be read', async () => {
    const chunk = (number: number) => `<w:altChunk r:id="chunk${number}"/>`;
    const document = await extract(wordParagraph('Before.') + chunk(1) + chunk(2) + chunk(3) + wordParagraph('After.'), {
      chunks: {
        'a.html': '<html><body><h2>Tank</h2><p>It burned whale oil.</p></body></html>',
        'b.txt': 'A plain remark of the keeper.',
        'c.bin': '\0\x01\x02\x03',
      },
    });
    expect(document.text.split('\n\n')).toEqual([
      'Before.',
      '## Tank',
      'It burned whale oil.',
      'A plain remark of the keeper.',
      'After.',
    ]);
    expect(document.omissions).toEqual([{ kind: 'ATTACHMENTS', count: 1, total: null }]);
  });
  it('has the text of page heads once, and no numbers of pages', async () => {
    const header = paragraph(`${run('File 4711 of the harbour office')}${run('<w:vanish/>')}`);
    expect((await extract(wordParagraph('Body.'), { header })).text).toContain('Page header: File 4711 of the harbour office');
    expect((await extract(wordParagraph('Body.'), { header: paragraph(run('3')) })).text).toBe('Body.');
  });
});
