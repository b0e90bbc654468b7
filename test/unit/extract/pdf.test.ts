import { degrees, PDFDocument, StandardFonts } from 'pdf-lib';
import { describe, expect, it } from 'vitest';
import type { ExtractedDocument } from '../../../src/engine/knowledge/extract/extract.ts';
import { documentReader, makePdf } from '../../support/knowledge/documents.ts';
import { rawPdf } from '../../support/knowledge/raw-pdf.ts';

const { extract } = documentReader();

describe('PDF', () => {
  it('keeps its pages and headings', async () => {
    const pdf = await makePdf([
      {
        heading: 'Warranty terms',
        columns: ['Frames carry a warranty of ten years. Batteries carry one of two years or six hundred charging cycles.'],
      },
      {
        heading: 'Making a claim',
        columns: ['Bring the receipt to the workshop. Claims are decided within five working days of the visit.'],
      },
    ]);
    const document = await extract('warranty.pdf', pdf);
    expect(document).toMatchObject({ title: 'Warranty terms', mimeType: 'application/pdf', pageCount: 2 });
    expect(document.blocks.map(({ kind, page }) => [kind, page])).toEqual([
      ['heading', 1],
      ['paragraph', 1],
      ['heading', 2],
      ['paragraph', 2],
    ]);
    expect(document.text).toContain('Batteries carry one of two years or six hundred charging cycles.');
  });
  it('reads two columns one after the other', async () => {
    const left =
      'The left column begins here and tells about the moon. It pulls the sea towards itself every day. Tides rise twice a day in most harbours.';
    const right =
      'The right column is about the wind. Wind moves only the surface of the water. Storms can lift it by several metres near the coast.';
    const { text } = await extract(
      'tides.pdf',
      await makePdf([{ heading: 'Tides', columns: [`${left} ${left}`, `${right} ${right}`] }]),
    );
    const words = text.replace(/\s+/g, ' ');
    expect(words).toContain(`${left} ${left}`);
    expect(words).toContain(`${right} ${right}`);
  });
  it('keeps every row of a table that goes on over several pages', async () => {
    const document = await PDFDocument.create();
    const rows = Array.from({ length: 90 }, (_, n) => [`N${n}`, `item ${n}`, `shelf ${n % 5}`]);
    for (let first = 0; first < rows.length; first += 30) {
      const page = document.addPage([595, 842]);
      for (const [index, row] of rows.slice(first, first + 30).entries())
        for (const [column, cell] of row.entries()) page.drawText(cell, { x: 50 + column * 120, y: 780 - index * 20, size: 11 });
    }
    const { text } = await extract('stock.pdf', await document.save());
    for (const row of rows) expect(text).toContain(`| ${row.join(' | ')} |`);
  });
  it('without a text layer says so', async () => {
    const document = await PDFDocument.create();
    document.addPage([300, 300]).drawRectangle({ x: 10, y: 10, width: 200, height: 200 });
    await expect(extract('scan.pdf', await document.save())).rejects.toMatchObject({
      code: 'NO_TEXT',
      message: expect.stringMatching(/OCR/),
    });
  });
  it('is known by its content, whatever its name and declared type', async () => {
    const pdf = await makePdf([{ columns: ['A page of text that was sent under another name.'] }]);
    expect(await extract('notes.txt', pdf, 'text/plain')).toMatchObject({ mimeType: 'application/pdf', pageCount: 1 });
  });

  it.each([90, 180, 270])('reads a page that is shown turned by %d degrees', async (turned) => {
    const pdf = rawPdf({
      page: `/Rotate ${turned}`,
      content: sentences('The reading room opens at nine.', 'Lockers are emptied on Friday.'),
    });
    expect(words(await extract('turned.pdf', pdf))).toBe('The reading room opens at nine. Lockers are emptied on Friday.');
  });
  it('reads sideways text beside upright text, a table too, once', async () => {
    const document = await PDFDocument.create();
    const font = await document.embedFont(StandardFonts.Helvetica);
    const page = document.addPage([595, 842]);
    for (const place of Array.from({ length: 30 }).keys())
      page.drawText(`Line ${place} of the report on the mooring fees of the harbour.`, {
        x: 60,
        y: 780 - place * 14,
        size: 11,
        font,
      });
    const rows = ['Quay Depth Length', 'North 4.25 120', 'South 5.50 340'];
    for (const [line, row] of rows.entries())
      for (const [column, cell] of row.split(' ').entries())
        page.drawText(cell, { x: 500 + line * 20, y: 120 + column * 90, size: 11, font, rotate: degrees(90) });
    const { text } = await extract('fees.pdf', await document.save());
    for (const row of rows) expect(text).toContain(row.replaceAll(' ', ' | '));
    expect(text.match(/Depth/g)).toHaveLength(1);
    expect(text.match(/Line 7 of/g)).toHaveLength(1);
  });
  it('reads a stamp across the page', async () => {
    const document = await PDFDocument.create();
    const font = await document.embedFont(StandardFonts.Helvetica);
    const page = document.addPage([595, 842]);
    page.drawText('A plain page.', { x: 60, y: 780, size: 11, font });
    page.drawText('CONFIDENTIAL', { x: 120, y: 300, size: 50, font, rotate: degrees(45) });
    expect((await extract('stamped.pdf', await document.save())).text).toContain('CONFIDENTIAL');
  });
  it('has signs of the page as they stand there', async () => {
    const { text } = await extract('names.pdf', rawPdf({ content: sentences('Set retry_after_ms to 5*60 in C:\\\\data.') }));
    expect(text).toBe('Set retry_after_ms to 5*60 in C:\\data.');
  });
  it.each([
    ['a layer that is off', '/OC /L1 BDC', '<< /OFF [6 0 R] >>', '/Type /OCG /Name (Draft)'],
    [
      'a layer that is on below one that is off',
      '/OC /L1 BDC',
      '<< /OFF [6 0 R] >>',
      '/Type /OCG /Name (Draft)',
      '/Span << /MCID 0 >> BDC',
    ],
    ['all layers off by default', '/OC /L1 BDC', '<< /BaseState /OFF >>', '/Type /OCG /Name (Draft)'],
    ['a membership of layers that are off', '/OC /L1 BDC', '<< /OFF [7 0 R] >>', '/Type /OCMD /OCGs [7 0 R]'],
  ])('leaves out the text of %s', async (_case, begin, state, group, inner = '') => {
    const pdf = rawPdf({
      catalog: `/OCProperties << /OCGs [${group.includes('OCMD') ? '7 0 R' : '6 0 R'}] /D ${state} >>`,
      resources: '/Properties << /L1 6 0 R >>',
      content: `${sentences('The granary is green.')} ${begin} ${inner} BT /F1 12 Tf 70 740 Td (Draft: it is) Tj ( purple.) Tj ET ${inner === '' ? '' : 'EMC'} EMC BT /F1 12 Tf 70 700 Td (Its roof is red.) Tj ET`,
      objects: [`<< ${group} >>`, '<< /Type /OCG /Name (Other) >>'],
    });
    const document = await extract('layers.pdf', pdf);
    expect(words(document)).toBe('The granary is green. Its roof is red.');
    expect(document.omissions).toEqual([{ kind: 'HIDDEN_PARTS', count: 1, total: null }]);
  });
  it('keeps the text of a layer that is on', async () => {
    const pdf = rawPdf({
      catalog: '/OCProperties << /OCGs [6 0 R 7 0 R] /D << /OFF [7 0 R] >> >>',
      resources: '/Properties << /L1 6 0 R >>',
      content: `${sentences('The granary is green.')} /OC /L1 BDC BT /F1 12 Tf 70 740 Td (Its door is blue.) Tj ET EMC`,
      objects: ['<< /Type /OCG /Name (Doors) >>', '<< /Type /OCG /Name (Other) >>'],
    });
    expect(words(await extract('layers.pdf', pdf))).toBe('The granary is green. Its door is blue.');
  });
  it('leaves out what a hidden layer draws from an object of its own', async () => {
    const drawn = 'BT /F1 12 Tf 70 720 Td (Not for the public.) Tj ET';
    const pdf = rawPdf({
      catalog: '/OCProperties << /OCGs [6 0 R] /D << /OFF [6 0 R] >> >>',
      resources: '/XObject << /X1 7 0 R >>',
      content: `${sentences('The granary is green.')} /X1 Do`,
      objects: [
        '<< /Type /OCG /Name (Draft) >>',
        `<< /Type /XObject /Subtype /Form /BBox [0 0 595 842] /OC 6 0 R /Resources << /Font << /F1 5 0 R >> >> /Length ${drawn.length} >>\nstream\n${drawn}\nendstream`,
      ],
    });
    expect(words(await extract('drawn.pdf', pdf))).toBe('The granary is green.');
  });
  it('reads values of fields, text boxes and notes that a viewer shows', async () => {
    const widget = (more: string) =>
      `<< /Type /Annot /Subtype /Widget /Rect [150 700 350 720] /F 4 /P 3 0 R /DA (/F1 12 Tf 0 g) ${more} >>`;
    const pdf = rawPdf({
      catalog: '/AcroForm << /Fields [6 0 R 7 0 R 8 0 R 9 0 R] /DA (/F1 12 Tf 0 g) /NeedAppearances true >>',
      page: '/Annots [6 0 R 7 0 R 8 0 R 9 0 R 10 0 R 11 0 R 12 0 R]',
      content: sentences('Application for a mooring'),
      objects: [
        widget('/FT /Tx /T (town) /TU (Home town) /V (Obersteinbach)'),
        widget('/FT /Ch /Ff 131072 /T (boat) /Opt [(Yacht) (Dinghy)] /V (Dinghy)'),
        widget('/FT /Btn /T (insured) /V /Yes /AS /Yes /AP << /N << /Yes 5 0 R /Off 5 0 R >> >>'),
        widget('/FT /Tx /Ff 8192 /T (pin) /V (4711)'),
        '<< /Type /Annot /Subtype /FreeText /Rect [70 500 300 520] /F 4 /DA (/F1 12 Tf 0 g) /Contents (Berth seven is reserved.) >>',
        '<< /Type /Annot /Subtype /Text /Rect [70 400 90 420] /F 4 /Contents (Ask the harbour master first.) >>',
        '<< /Type /Annot /Subtype /FreeText /Rect [70 500 300 520] /F 2 /DA (/F1 12 Tf 0 g) /Contents (Hidden remark) >>',
      ],
    });
    expect((await extract('form.pdf', pdf)).text.split('\n\n')).toEqual([
      'Application for a mooring',
      'Berth seven is reserved.',
      'Ask the harbour master first.',
      'Home town: Obersteinbach',
      'boat: Dinghy',
      'insured: Yes',
    ]);
  });
  it('reads lines from right to left in the order of their words', async () => {
    // The codes A to Z stand for Hebrew letters, drawn from left to right as a page shows them: the last word of the line first.
    const shown = (line: string) =>
      [...line]
        .reverse()
        .map((sign) => (sign === ' ' ? ' ' : String.fromCharCode(sign.charCodeAt(0) - 0x5d0 + 65)))
        .join('');
    const pdf = rawPdf({
      content: sentences(shown('שלום עולם זהו מסמך'), shown('ספריית העיר נפתחת')),
      toUnicode: { from: 65, to: 0x5d0, count: 27 },
    });
    const { text } = await extract('hebrew.pdf', pdf);
    expect(text).toContain('שלום עולם זהו מסמך');
    expect(text).toContain('ספריית העיר נפתחת');
  });
  it('has the note of a page without text and nothing else', async () => {
    const pdf = rawPdf({
      content: sentences(' ', ' '),
      page: '/Annots [6 0 R]',
      objects: ['<< /Type /Annot /Subtype /FreeText /Rect [70 500 300 520] /F 4 /DA (/F1 12 Tf 0 g) /Contents (Berth seven.) >>'],
    });
    expect((await extract('note.pdf', pdf)).text).toBe('Berth seven.');
  });
  it('has letters of formulas in their place, and emoji', async () => {
    // The capital letters are U+1D434 on, which the map writes in two units of UTF-16.
    const formula = rawPdf({
      content: sentences('the voltage V must be lower than R.', 'it is measured each day.', 'V, R', 'the end.'),
      toUnicode: { from: 65, to: 0xd835_dc34, count: 26 },
    });
    expect((await extract('formula.pdf', formula)).text).toBe(
      'the voltage V must be lower than R. it is measured each day.\n\n, the end.\n\nV, R',
    );
    const emoji = rawPdf({ content: sentences('well done A'), toUnicode: { from: 65, to: 0xd83d_de00, count: 1 } });
    expect((await extract('emoji.pdf', emoji)).text).toBe('well done 😀');
  });
});

function words({ text }: ExtractedDocument): string {
  return text.replace(/\s+/g, ' ');
}

/** Content of a page: one line each. */
function sentences(...lines: readonly string[]): string {
  return lines.map((line, place) => `BT /F1 12 Tf 1 0 0 1 70 ${760 - place * 16} Tm (${line}) Tj ET`).join(' ');
}
