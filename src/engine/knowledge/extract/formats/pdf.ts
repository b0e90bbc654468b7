import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import initialize, { LiteParse } from '@llamaindex/liteparse-wasm';
import type { DocumentWriter } from '../document-writer.ts';
import { damaged, ExtractError, encrypted } from '../error.ts';
import { markdownBlocks, plainBlocks } from '../markdown-blocks.ts';
import { firstHeading } from './markdown.ts';

/** Pages parsed at once: limits the parser's memory, and is enough to recognize repeated page headers. */
const pagesPerBatch = 25;
let isInitialized = false;

/**
 * PDF to Markdown, page by page, columns and tables in reading order. If the first parser cannot open a file, a more tolerant one
 * extracts plain lines.
 *
 * @throws ExtractError ENCRYPTED, CORRUPT, or NO_TEXT for pages that are only images.
 */
export async function readPdf(bytes: Uint8Array, writer: DocumentWriter): Promise<void> {
  const pages = await readPages(bytes).catch(async (error: unknown) => {
    if (/password|encrypt/i.test(String(error))) throw encrypted('The PDF');
    return await readPagesForgivingly(bytes);
  });
  writer.pageCount = pages.count;
  for await (const { page, text } of pages.texts) {
    if (!/[\p{L}\p{N}]/u.test(text.replace(/^```\w*$/gm, ''))) continue;
    writer.title ??= pages.isMarkdown ? firstHeading(text) : null;
    writer.text(text, pages.isMarkdown ? markdownBlocks : plainBlocks, page);
  }
  if (writer.length === 0) {
    throw new ExtractError(
      'NO_TEXT',
      'The PDF has no text layer: its pages are pictures. Run text recognition (OCR) on it and add it again.',
    );
  }
}

interface Pages {
  readonly count: number;
  readonly isMarkdown: boolean;
  readonly texts: AsyncIterable<PageText> | Iterable<PageText>;
}
interface PageText {
  readonly page: number;
  readonly text: string;
}

/** Reads the first batch at once, so that a file that this parser cannot read fails before anything was written. */
async function readPages(bytes: Uint8Array): Promise<Pages> {
  if (!isInitialized) {
    const wasm = createRequire(import.meta.url).resolve('@llamaindex/liteparse-wasm/liteparse_wasm_bg.wasm');
    await initialize({ module_or_path: readFileSync(wasm) });
    isInitialized = true;
  }
  const parser = new LiteParse({ ocrEnabled: false, outputFormat: 'markdown', imageMode: 'off', quiet: true });
  const session = await parser.openBatchSession(bytes, pagesPerBatch);
  const first = await session.nextBatch();
  async function* texts(): AsyncGenerator<PageText> {
    for (let batch = first; batch !== undefined; batch = await session.nextBatch()) {
      for (const { pageNum, markdown } of batch.result.pages) yield { page: pageNum, text: markdown };
    }
    session.free();
    parser.free();
  }
  return { count: session.totalPages, isMarkdown: true, texts: texts() };
}

async function readPagesForgivingly(bytes: Uint8Array): Promise<Pages> {
  const { extractText, getDocumentProxy } = await import('unpdf');
  try {
    const { totalPages, text } = await extractText(await getDocumentProxy(Uint8Array.from(bytes)), { mergePages: false });
    return { count: totalPages, isMarkdown: false, texts: text.map((content, index) => ({ page: index + 1, text: content })) };
  } catch (error) {
    if (error instanceof Error && error.name === 'PasswordException') throw encrypted('The PDF');
    throw damaged('The PDF');
  }
}
