import { createRequire } from 'node:module';

const { CFB } = createRequire(import.meta.url)('@e965/xlsx') as typeof import('@e965/xlsx');

/** A compound file with these streams. */
export function compound(streams: Readonly<Record<string, Uint8Array>>): Buffer {
  const file = CFB.utils.cfb_new();
  for (const [name, content] of Object.entries(streams)) CFB.utils.cfb_add(file, `/${name}`, content);
  return Buffer.from(CFB.write(file, { type: 'array' }) as Uint8Array);
}

export interface Word97Paragraph {
  /** Cells of a table end with `\x07`; other paragraphs get their end. */
  readonly text: string;
  /** Style number: 1 to 9 are headings. */
  readonly style?: number;
}

export interface Word97 {
  readonly paragraphs: readonly Word97Paragraph[];
  readonly footnotes?: string;
  readonly comments?: string;
  readonly isEncrypted?: boolean;
}

const textStart = 1024;
const sprmTableRowEnd = 0x2417;

/** A document as Word 97 saved it: the text in UTF-16, a table with its place, and a page with the styles of up to 20 paragraphs. */
export function doc({ paragraphs, footnotes = '', comments = '', isEncrypted = false }: Word97): Buffer {
  const ends: { readonly end: number; readonly style: number; readonly isRowEnd: boolean }[] = [];
  let body = '';
  for (const { text, style = 0 } of paragraphs) {
    const isRow = text.endsWith('\x07');
    body += isRow ? text : `${text}\r`;
    ends.push({ end: textStart + body.length * 2, style, isRowEnd: false });
    if (!isRow) continue;
    body += '\x07';
    ends.push({ end: textStart + body.length * 2, style: 0, isRowEnd: true });
  }
  const parts = [body, footnotes === '' ? '' : `${footnotes}\r`, comments === '' ? '' : `${comments}\r`];
  const text = parts.join('');
  const pageNumber = Math.ceil((textStart + text.length * 2) / 512);
  const stream = Buffer.alloc((pageNumber + 1) * 512);
  stream.write(text, textStart, 'utf16le');
  stylesPage(ends).copy(stream, pageNumber * 512);

  const pieces = Buffer.alloc(5 + 8 + 8);
  pieces.writeUInt8(2, 0);
  pieces.writeUInt32LE(16, 1);
  pieces.writeUInt32LE(text.length, 9);
  pieces.writeUInt32LE(textStart, 15);
  const styles = Buffer.alloc(12);
  styles.writeUInt32LE(textStart, 0);
  styles.writeUInt32LE(textStart + text.length * 2, 4);
  styles.writeUInt32LE(pageNumber, 8);

  stream.writeUInt16LE(0xa5ec, 0);
  stream.writeUInt16LE(0x0200 | (isEncrypted ? 0x0100 : 0), 10);
  const numbers: readonly (readonly [offset: number, value: number])[] = [
    [0x4c, parts[0]?.length ?? 0],
    [0x50, parts[1]?.length ?? 0],
    [0x5c, parts[2]?.length ?? 0],
    // No character properties.
    [0xfe, 4],
    [0x102, pieces.length],
    [0x106, styles.length],
    [0x1a2, 0],
  ];
  for (const [offset, value] of numbers) stream.writeUInt32LE(value, offset);
  const table = Buffer.concat([pieces, styles]);
  // Small streams are kept elsewhere in the file; a real one is larger.
  return compound({
    WordDocument: Buffer.concat([stream, Buffer.alloc(8192)]),
    '1Table': Buffer.concat([table, Buffer.alloc(8192)]),
  });
}

/** Where each paragraph ends, and from the end of the page backwards the style of each. */
function stylesPage(paragraphs: readonly { readonly end: number; readonly style: number; readonly isRowEnd: boolean }[]): Buffer {
  const page = Buffer.alloc(512);
  page.writeUInt8(paragraphs.length, 511);
  page.writeUInt32LE(textStart, 0);
  let at = 510;
  for (const [index, { end, style, isRowEnd }] of paragraphs.entries()) {
    page.writeUInt32LE(end, (index + 1) * 4);
    at -= 6;
    page.writeUInt8(isRowEnd ? 3 : 2, at);
    page.writeUInt16LE(style, at + 1);
    if (isRowEnd) {
      page.writeUInt16LE(sprmTableRowEnd, at + 3);
      page.writeUInt8(1, at + 5);
    }
    page.writeUInt8(at / 2, (paragraphs.length + 1) * 4 + index * 13);
  }
  return page;
}
