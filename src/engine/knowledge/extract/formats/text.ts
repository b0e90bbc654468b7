import type { DocumentWriter } from '../document-writer.ts';
import { plainBlocks } from '../markdown-blocks.ts';

export function readText(text: string, writer: DocumentWriter): void {
  writer.text(text.replace(/^\ufeff/, ''), plainBlocks);
}
