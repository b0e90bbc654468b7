export interface RawPdf {
  /** Further members of the catalog, the page and its resources. */
  readonly catalog?: string;
  readonly page?: string;
  readonly resources?: string;
  /** The operators of the page; `/F1` is Helvetica. */
  readonly content: string;
  /** Objects from number 6 on. */
  readonly objects?: readonly string[];
  /** The signs that codes of `/F1` stand for, where they are other ones: `count` codes from `from` on are the characters from `to` on. */
  readonly toUnicode?: { readonly from: number; readonly to: number; readonly count: number };
}

/** A PDF of one page, written by hand: for what a library that makes PDFs does not write. */
export function rawPdf({ catalog = '', page = '', resources = '', content, objects = [], toUnicode }: RawPdf): Uint8Array {
  const map = toUnicode === undefined ? [] : [stream(characterMap(toUnicode))];
  const all = [
    `<< /Type /Catalog /Pages 2 0 R ${catalog} >>`,
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> ${resources} >> ${page} >>`,
    stream(content),
    `<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding ${map.length === 0 ? '' : `/ToUnicode ${6 + objects.length} 0 R`} >>`,
    ...objects,
    ...map,
  ];
  let text = '%PDF-1.7\n';
  const offsets = all.map((object, index) => {
    const offset = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(offset).padStart(10, '0')} 00000 n \n`;
  });
  const table = `xref\n0 ${all.length + 1}\n0000000000 65535 f \n${offsets.join('')}`;
  return Buffer.from(
    `${text}${table}trailer\n<< /Size ${all.length + 1} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`,
    'latin1',
  );
}

function stream(content: string): string {
  return `<< /Length ${content.length} >>\nstream\n${content}\nendstream`;
}

function characterMap({ from, to, count }: { readonly from: number; readonly to: number; readonly count: number }): string {
  const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0');
  return [
    '/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /Test def /CMapType 2 def',
    '1 begincodespacerange <00> <ff> endcodespacerange',
    `1 beginbfrange <${hex(from, 2)}> <${hex(from + count - 1, 2)}> <${hex(to, 4)}> endbfrange`,
    '1 beginbfchar <20> <0020> endbfchar endcmap CMapName currentdict /CMap defineresource pop end end',
  ].join('\n');
}
