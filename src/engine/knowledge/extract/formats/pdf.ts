import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import initialize, { LiteParse } from '@llamaindex/liteparse-wasm';
import type { DocumentWriter } from '../document-writer.ts';
import { damaged, ExtractError, encrypted } from '../error.ts';
import { markdownBlocks } from '../markdown-blocks.ts';
import { firstHeading } from './markdown.ts';

/** Pages parsed at once: limits the parser's memory. */
const pagesPerBatch = 25;
let isInitialized = false;

/**
 * PDF to Markdown, page by page, columns and tables in reading order.
 *
 * @throws ExtractError ENCRYPTED, CORRUPT, or NO_TEXT for pages that are only images.
 */
export async function readPdf(bytes: Uint8Array, writer: DocumentWriter): Promise<void> {
  let pagesWithoutText = 0;
  for await (const { pageNum, markdown } of pagesOf(bytes, writer)) {
    if (!/[\p{L}\p{N}]/u.test(markdown.replace(/^```\w*$/gm, ''))) {
      pagesWithoutText += 1;
      continue;
    }
    writer.title ??= firstHeading(markdown);
    writer.text(markdown, markdownBlocks, pageNum);
  }
  writer.omit('PAGES_WITHOUT_TEXT', pagesWithoutText, writer.pageCount);
  if (writer.length === 0) {
    throw new ExtractError(
      'NO_TEXT',
      'The PDF has no text layer: its pages are pictures. Run text recognition (OCR) on it and add it again.',
    );
  }
}

async function* pagesOf(bytes: Uint8Array, writer: DocumentWriter) {
  if (!isInitialized) {
    const wasm = createRequire(import.meta.url).resolve('@llamaindex/liteparse-wasm/liteparse_wasm_bg.wasm');
    await initialize({ module_or_path: readFileSync(wasm) });
    isInitialized = true;
  }
  const parser = new LiteParse({
    ocrEnabled: false,
    outputFormat: 'markdown',
    imageMode: 'off',
    quiet: true,
    // Without it the first rows of a table that goes on over several pages are taken for a header and left out.
    keepHeadersFooters: true,
  });
  try {
    const session = await parser.openBatchSession(bytes, pagesPerBatch);
    writer.pageCount = session.totalPages;
    for (let batch = await session.nextBatch(); batch !== undefined; batch = await session.nextBatch()) yield* batch.result.pages;
    session.free();
    parser.free();
  } catch (error) {
    if (error instanceof RangeError) throw error;
    throw /password|encrypt/i.test(String(error)) ? encrypted('The PDF') : damaged('The PDF');
  }
}
