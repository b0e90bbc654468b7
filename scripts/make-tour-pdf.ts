import { writeFileSync } from 'node:fs';
import { PDFDocument, StandardFonts } from 'pdf-lib';

/** Writes docs/tour/warranty.pdf, the PDF of the README's quick tour. Run again after a change to its text. */
const pages = [
  [
    'Tern Bicycles: warranty terms',
    '',
    'Frames carry a warranty of ten years from the date of purchase.',
    'Batteries of electric bicycles carry a warranty of two years or 600 full',
    'charging cycles, whichever comes first.',
    'Tyres, chains and brake pads are wear parts and carry no warranty.',
  ],
  [
    'Making a claim',
    '',
    'Bring the bicycle and the receipt to the workshop.',
    'Claims are decided within five working days.',
    'When a claim is accepted, the customer pays neither parts nor labour.',
    'The warranty passes on to the next owner if the sale is reported to us within a month.',
  ],
];

const document = await PDFDocument.create();
document.setTitle('Tern Bicycles: warranty terms');
document.setCreationDate(new Date('2026-01-01T00:00:00Z'));
document.setModificationDate(new Date('2026-01-01T00:00:00Z'));
const font = await document.embedFont(StandardFonts.Helvetica);
for (const lines of pages) {
  const page = document.addPage([595, 842]);
  for (const [index, line] of lines.entries()) {
    page.drawText(line, { x: 72, y: 760 - index * 22, size: index === 0 ? 18 : 12, font });
  }
}
writeFileSync('docs/tour/warranty.pdf', await document.save({ useObjectStreams: false }));
