const levels = 9;
const callsPerLevel = 12;

/** A PDF of a few kilobytes whose page draws a form that draws further forms, nested so deeply that reading it to the end never finishes in practice. */
export function nestedFormsPdf(): Uint8Array {
  const objects: string[] = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << /XObject << /F 6 0 R >> /Font << /T 5 0 R >> >> >>',
    streamOf('', 'q /F Do Q'),
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ];
  for (let level = 0; level < levels; level += 1) {
    const isLast = level === levels - 1;
    const resources = isLast ? '/Font << /T 5 0 R >>' : `/XObject << /F ${objects.length + 2} 0 R >>`;
    const content = isLast ? 'BT /T 12 Tf 10 10 Td (again) Tj ET' : 'q /F Do Q '.repeat(callsPerLevel);
    objects.push(streamOf(`/Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources << ${resources} >>`, content));
  }
  let text = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const offset = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const start = text.length;
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}trailer\n<< /Root 1 0 R /Size ${objects.length + 1} >>\nstartxref\n${start}\n%%EOF`;
  return Buffer.from(text, 'latin1');
}

function streamOf(members: string, content: string): string {
  return `<< ${members} /Length ${content.length} >>\nstream\n${content}\nendstream`;
}
