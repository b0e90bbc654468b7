import { isObject, type JsonObject } from '../../../../lib/json/json.ts';
import type { DocumentWriter } from '../document-writer.ts';
import { markdownBlocks } from '../markdown-blocks.ts';
import { fencedCode } from './fenced-code.ts';

/** Whether JSON is a notebook of Jupyter, of version 4 of its format. */
export function isNotebook(value: unknown): value is JsonObject & { readonly cells: readonly unknown[] } {
  return isObject(value) && Number.isInteger(value.nbformat) && Array.isArray(value.cells);
}

/** A notebook as its readers see it: text, code, and what the code printed. Pictures are left out. */
export function readNotebook(
  { cells, metadata }: JsonObject & { readonly cells: readonly unknown[] },
  writer: DocumentWriter,
): void {
  const info = isObject(metadata) && isObject(metadata.language_info) ? metadata.language_info.name : undefined;
  const language = typeof info === 'string' && /^[\w+#.-]{1,40}$/.test(info) ? info : '';
  for (const cell of cells.filter(isObject)) {
    const source = textOf(cell.source);
    if (cell.cell_type === 'code') {
      writer.text(codeText(source, language), markdownBlocks);
      for (const output of Array.isArray(cell.outputs) ? cell.outputs.filter(isObject) : []) writeOutput(output, writer);
    } else if (cell.cell_type === 'markdown') writer.text(source, markdownBlocks);
    else writer.block('paragraph', source);
  }
}

function writeOutput(output: JsonObject, writer: DocumentWriter): void {
  const data = isObject(output.data) ? output.data : {};
  const text = textOf(output.text ?? data['text/markdown'] ?? data['text/plain']);
  // A picture says no more than that it is one.
  if (!Object.keys(data).some((type) => type.startsWith('image/'))) writer.text(codeText(text, ''), markdownBlocks);
}

/** Text stands as one string or as a list of lines with their ends. */
function textOf(value: unknown): string {
  const lines: readonly unknown[] = Array.isArray(value) ? value : [value];
  return lines.filter((line) => typeof line === 'string').join('');
}

function codeText(code: string, language: string): string {
  return code.trim() === '' ? '' : fencedCode(code.trimEnd(), language);
}
