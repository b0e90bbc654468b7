import type { DocumentWriter } from '../document-writer.ts';
import { plainBlocks } from '../markdown-blocks.ts';

export function readText(text: string, writer: DocumentWriter): void {
  writer.firstLine = 1;
  writer.text(text.replace(/^\ufeff/, ''), plainBlocks);
}
