import type { Archive } from '../../archive.ts';
import { loadRelations } from '../../package-parts.ts';
import { sheetParts } from './sheet-parts.ts';

/** The texts of text boxes and shapes by the name of their sheet, which the library does not read. */
export async function drawnTexts(archive: Archive): Promise<ReadonlyMap<string, readonly string[]>> {
  const texts = new Map<string, readonly string[]>();
  if (!archive.names.some((name) => /drawing\d{0,9}\.xml$/i.test(name))) return texts;
  for (const { name, part } of await sheetParts(archive)) {
    const foundTexts: string[] = [];
    for (const { type, target, isExternal } of (await loadRelations(archive, part)).values()) {
      if (type === 'drawing' && !isExternal) foundTexts.push(...(await loadTexts(archive, target)));
    }
    texts.set(name, foundTexts);
  }
  return texts;
}

/** One text for each shape of a drawing. */
async function loadTexts(archive: Archive, part: string): Promise<readonly string[]> {
  const texts: string[] = [];
  let text: string | undefined;
  let isText = false;
  await archive.xml(part, {
    open(name) {
      if (name === 'txBody') text = '';
      else if ((name === 'p' || name === 'br') && text !== undefined && text !== '') text += '\n';
      isText = name === 't';
    },
    close(name) {
      isText = false;
      if (name !== 'txBody') return;
      if (text !== undefined && text.trim() !== '') texts.push(text);
      text = undefined;
    },
    text(piece) {
      if (isText && text !== undefined) text += piece;
    },
  });
  return texts;
}
