import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PDFDocument, type PDFFont, type PDFPage, StandardFonts } from 'pdf-lib';
import { afterAll, beforeAll } from 'vitest';
import {
  createExtractor,
  type DocumentSource,
  type ExtractedDocument,
  type ExtractLimits,
} from '../../../src/engine/knowledge/extract/extract.ts';

export const extractLimits: ExtractLimits = { timeoutMs: 20_000, memoryMaxBytes: 300 * 1024 * 1024, textMaxChars: 5_000_000 };

export interface DocumentFolder {
  readonly path: string;
  put(filename: string, content: string | Uint8Array, mimeType?: string): Promise<DocumentSource>;
  remove(): Promise<void>;
}

/** A folder for the documents of one test file. */
export async function documentFolder(): Promise<DocumentFolder> {
  const path = await mkdtemp(join(tmpdir(), 'parley-documents-'));
  let count = 0;
  return {
    path,
    async put(filename, content, mimeType = '') {
      count += 1;
      const file = join(path, `${count}.bin`);
      await writeFile(file, content);
      return { path: file, filename, mimeType };
    },
    remove: () => rm(path, { recursive: true, force: true }),
  };
}

export interface DocumentReader {
  extract(
    filename: string,
    content: string | Uint8Array,
    mimeType?: string,
    limits?: Partial<ExtractLimits>,
  ): Promise<ExtractedDocument>;
}

/** Reads documents as the service does, for the tests of one file: `const { extract } = documentReader()` at its top. */
export function documentReader(): DocumentReader {
  const extractor = createExtractor();
  let folder: DocumentFolder;
  beforeAll(async () => {
    folder = await documentFolder();
  });
  afterAll(async () => {
    await extractor.close();
    await folder.remove();
  });
  return {
    async extract(filename, content, mimeType, limits = {}) {
      const source = await folder.put(filename, content, mimeType);
      return extractor.extract(source, { ...extractLimits, ...limits }, AbortSignal.timeout(60_000));
    },
  };
}

export interface PdfPage {
  readonly heading?: string;
  /** The text of each column, from left to right. */
  readonly columns: readonly string[];
}

/** A PDF like that of a word processor: lines of text, in one or more columns. */
export async function makePdf(pages: readonly PdfPage[]): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  const font = await document.embedFont(StandardFonts.Helvetica);
  for (const { heading, columns } of pages) {
    const page = document.addPage([595, 842]);
    if (heading !== undefined) page.drawText(heading, { x: 60, y: 780, size: 20, font });
    const width = 475 / columns.length;
    for (const [index, text] of columns.entries()) drawColumn(page, font, text, 60 + index * width, width - 30);
  }
  return document.save();
}

function drawColumn(page: PDFPage, font: PDFFont, text: string, x: number, width: number): void {
  const size = 11;
  let y = 730;
  let line = '';
  const draw = () => {
    page.drawText(line, { x, y, size, font });
    y -= 15;
    line = '';
  };
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && font.widthOfTextAtSize(longer, size) > width) {
      draw();
      line = word;
    } else line = longer;
  }
  if (line !== '') draw();
}
