import { oneLine } from '../../../../../lib/text/text.ts';
import type { Archive } from '../../archive.ts';
import { tooMuchText } from '../../document-writer.ts';
import { attribute } from '../../xml.ts';
import { ShownText } from './shown-text.ts';
import type { Styles } from './styles.ts';

/** Footnotes, endnotes or comments; the text of a page's head or foot. */
export interface Note {
  /** Empty for notes. */
  readonly author: string;
  readonly text: string;
}

/** The notes of a part by id. @param element  the name of the element of one note. */
export async function readNotes(
  archive: Archive,
  part: string,
  element: 'footnote' | 'endnote' | 'comment' | 'hdr' | 'ftr',
  styles: Styles,
  textMaxChars: number,
): Promise<ReadonlyMap<string, Note>> {
  const notes = new Map<string, Note>();
  const noteText = new ShownText(styles);
  let open: { readonly id: string; readonly author: string } | undefined;
  let text = '';
  let isText = false;
  let chars = 0;
  await archive.xml(part, {
    open(name, attributes) {
      if (!noteText.open(name, attributes)) return;
      // The lines above notes are notes of a type of their own.
      if (name === element && attribute(attributes, 'type') === undefined) {
        open = { id: attribute(attributes, 'id') ?? '', author: attribute(attributes, 'author') ?? '' };
        text = '';
      } else if (name === 'p' || name === 'br' || name === 'tab' || name === 'ptab') text += ' ';
      isText = name === 't' && noteText.isShown;
    },
    close(name) {
      if (!noteText.close(name)) return;
      isText = false;
      if (name !== element || open === undefined) return;
      notes.set(open.id, { author: oneLine(open.author), text: oneLine(text) });
      open = undefined;
    },
    text(piece) {
      if (!isText || open === undefined) return;
      chars += piece.length;
      if (chars > textMaxChars) throw tooMuchText(textMaxChars);
      text += piece;
    },
  });
  return notes;
}
