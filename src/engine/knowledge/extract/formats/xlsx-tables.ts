import { oneLine } from '../../../../lib/text.ts';
import type { Archive } from '../archive.ts';
import { tooMuchText } from '../document-writer.ts';
import { relationsOf } from '../package-parts.ts';

/** The number format of each cell style: a number of a built-in format, or a format's own code. */
export type CellStyles = readonly (number | string)[];

export async function readStyles(archive: Archive, part: string): Promise<CellStyles> {
  const own = new Map<number, string>();
  const styles: number[] = [];
  let isCellStyles = false;
  await archive.xml(part, {
    open(name, attributes) {
      if (name === 'numFmt') own.set(Number(attributes.numFmtId), attributes.formatCode ?? '');
      else if (name === 'cellXfs') isCellStyles = true;
      else if (name === 'xf' && isCellStyles) styles.push(Number(attributes.numFmtId) || 0);
    },
    close(name) {
      if (name === 'cellXfs') isCellStyles = false;
    },
  });
  return styles.map((id) => own.get(id) ?? id);
}

/** The texts that cells refer to by number. Readings beside Japanese text are left out. */
export async function readStrings(archive: Archive, part: string, textMaxChars: number): Promise<readonly string[]> {
  const strings: string[] = [];
  let chars = 0;
  let text = '';
  let isText = false;
  let isReading = false;
  await archive.xml(part, {
    open(name) {
      if (name === 'si') text = '';
      else if (name === 'rPh') isReading = true;
      isText = name === 't' && !isReading;
    },
    close(name) {
      isText = false;
      if (name === 'rPh') isReading = false;
      else if (name === 'si') strings.push(unescaped(text));
    },
    text(piece) {
      if (!isText) return;
      chars += piece.length;
      if (chars > textMaxChars) throw tooMuchText(textMaxChars);
      text += piece;
    },
  });
  return strings;
}

/** Comments of a sheet by the reference of their cell. Threads replace the copies of them that are kept for older programs. */
export async function readComments(archive: Archive, sheet: string, textMaxChars: number): Promise<ReadonlyMap<string, string>> {
  const comments = new Map<string, string>();
  const relations = [...(await relationsOf(archive, sheet)).values()];
  for (const type of ['comments', 'threadedComment']) {
    for (const { target } of relations.filter((relation) => relation.type === type && !relation.isExternal)) {
      for (const [reference, text] of await readCommentPart(archive, target, textMaxChars)) comments.set(reference, text);
    }
  }
  return comments;
}

async function readCommentPart(archive: Archive, part: string, textMaxChars: number): Promise<ReadonlyMap<string, string>> {
  const comments = new Map<string, string>();
  let reference = '';
  let text = '';
  let isText = false;
  let chars = 0;
  await archive.xml(part, {
    open(name, attributes) {
      if (name === 'comment' || name === 'threadedComment') {
        reference = attributes.ref ?? '';
        text = '';
      }
      isText = name === 't' || (name === 'text' && part.includes('threaded'));
    },
    close(name) {
      isText = false;
      if ((name === 'comment' || name === 'threadedComment') && text.trim() !== '') {
        const before = comments.get(reference);
        comments.set(reference, before === undefined ? oneLine(text) : `${before} / ${oneLine(text)}`);
      }
    },
    text(piece) {
      if (!isText) return;
      chars += piece.length;
      if (chars > textMaxChars) throw tooMuchText(textMaxChars);
      text += piece;
    },
  });
  return comments;
}

/** Text with control characters as they are escaped in workbooks: `_x000D_`. */
export function unescaped(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replace(/_x([0-9A-Fa-f]{4})_/g, (_escape, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}
