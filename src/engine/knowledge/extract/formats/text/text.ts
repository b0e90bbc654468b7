import type { DocumentWriter } from '../../document-writer.ts';
import { plainBlocks } from '../../markdown-blocks.ts';
import { isContentLines, readContentLines } from './content-lines.ts';
import { isSubtitles, readSubtitles } from './subtitles.ts';

export function readText(given: string, writer: DocumentWriter): void {
  const text = given.replace(/^\ufeff/, '');
  // Their lines are not those of the file, so they have no numbers.
  if (isContentLines(text)) writer.text(readContentLines(text), plainBlocks);
  else if (isSubtitles(text)) writer.text(readSubtitles(text), plainBlocks);
  // Also of subtitles that say nothing.
  if (writer.length > 0) return;
  writer.firstLine = 1;
  writer.text(text, plainBlocks);
}
