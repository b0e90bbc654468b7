import { getDocument, type PDFDocumentProxy, type PDFPageProxy, PDFWorker, TextLayer } from 'pdfjs-dist';
import { passageRanges } from './marks.ts';

export interface OpeningPdf {
  readonly promise: Promise<PDFDocumentProxy>;
  /** Ends it and its worker. */
  readonly leave: () => void;
}

/** Opens a PDF in a worker of its own. It fetches nothing itself, and runs nothing that is in the file. */
export function openPdf(bytes: ArrayBuffer): OpeningPdf {
  const port = new Worker(new URL('pdfjs-dist/build/pdf.worker.mjs', import.meta.url), { type: 'module' });
  const worker = PDFWorker.create({ port });
  // The bytes go to the worker: the caller keeps its own.
  const task = getDocument({ data: new Uint8Array(bytes.slice(0)), worker, useWasm: false, enableXfa: false });
  const leave = async () => {
    await task.destroy().catch(() => undefined);
    worker.destroy();
    port.terminate();
  };
  return { promise: task.promise, leave: () => void leave() };
}

/** Draws a page at a width in CSS pixels. @returns a function that stops it. */
export function drawPage(page: PDFPageProxy, canvas: HTMLCanvasElement, width: number): () => void {
  const scale = width / page.getViewport({ scale: 1 }).width;
  const viewport = page.getViewport({ scale: scale * Math.min(devicePixelRatio, 2) });
  canvas.width = Math.floor(viewport.width);
  canvas.height = Math.floor(viewport.height);
  const task = page.render({ canvas, viewport });
  // A page that is left before it is drawn.
  task.promise.catch(() => undefined);
  return () => task.cancel();
}

/** Lays the text of a page over it, so that it can be selected and read aloud, and marks what belongs to a passage. What was laid before goes when the new text is complete. @returns the first mark; undefined also for a page that is left. */
export async function layText(
  page: PDFPageProxy,
  place: HTMLElement,
  width: number,
  words: string | undefined,
  isLeft: () => boolean,
): Promise<HTMLElement | undefined> {
  const scale = width / page.getViewport({ scale: 1 }).width;
  const container = document.createElement('div');
  const layer = new TextLayer({
    textContentSource: await page.getTextContent(),
    container,
    viewport: page.getViewport({ scale }),
  });
  await layer.render();
  if (isLeft()) return undefined;
  place.style.setProperty('--total-scale-factor', String(scale));
  const first = words === undefined ? undefined : markWords(layer, words);
  place.replaceChildren(...container.childNodes);
  return first;
}

/** @returns the first mark. */
function markWords(layer: TextLayer, words: string): HTMLElement | undefined {
  const { textDivs, textContentItemsStr } = layer;
  let first: HTMLElement | undefined;
  for (const { index, start, end } of passageRanges(textContentItemsStr, words).toReversed()) {
    const node = textDivs[index]?.firstChild;
    if (!(node instanceof Text)) continue;
    const range = document.createRange();
    range.setStart(node, start);
    range.setEnd(node, Math.min(end, node.length));
    const mark = document.createElement('mark');
    range.surroundContents(mark);
    first = mark;
  }
  return first;
}
