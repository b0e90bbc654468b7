import { parseHTML } from 'linkedom';
import { oneLine } from '../../../../../lib/text/text.ts';
import { decodeText } from '../../charset.ts';
import type { DocumentWriter } from '../../document-writer.ts';
import { markdownBlocks, plainBlocks } from '../../markdown-blocks.ts';
import { toMarkdown } from './html-markdown.ts';
import { removeMenus } from './html-menus.ts';
import { readWords } from './html-text.ts';
import { type HtmlDocument, openShadowRoots, removeUnseen } from './html-visible.ts';
import { writeOut } from './html-written-out.ts';

const depthMax = 250;
/** Constants of the DOM's NodeFilter. */
const showElements = 1;
const showText = 4;
/** Types of nodes. */
const elementNode = 1;
const textNode = 3;

/** What was read of a page, chapter or mail. */
export interface HtmlText {
  readonly text: string;
  /** False: plain text, because its elements are nested too deep. */
  readonly isMarkdown: boolean;
  /** Parts with words that it hides from its readers. */
  readonly hiddenParts: number;
}

/** HTML to Markdown: what its readers see, without menus; else the whole body. */
export function readHtml(bytes: Uint8Array, writer: DocumentWriter): void {
  const document = parse(decodeText(bytes, declaredCharset(bytes)));
  // A drawing in the page may have a title of its own.
  const title = readWords(document.querySelector('title:not(svg title)'));
  writeHtml(extractText(document, removeMenus), writer);
  writer.title = title || readWords(document.querySelector('h1,h2'));
}

/** A chapter or mail: its whole body as Markdown. */
export function textOfBody(html: string): HtmlText {
  return extractText(parse(html));
}

export function writeHtml({ text, isMarkdown, hiddenParts }: HtmlText, writer: DocumentWriter): void {
  writer.text(text, isMarkdown ? markdownBlocks : plainBlocks);
  writer.omit('HIDDEN_PARTS', hiddenParts);
}

function parse(given: string): HtmlDocument {
  const html = given.replaceAll('\0', '');
  if (!isWholePage(html)) return parseHTML(`<!doctype html><html><head></head><body>${html}</body></html>`).document;
  const { document } = parseHTML(html);
  gatherBody(document);
  return document;
}

/** Moves what stands before and behind the body into it, as browsers do: footers that mail servers append, and pages joined into one file. */
function gatherBody(document: HtmlDocument): void {
  const body = document.querySelector('body');
  if (body === null) return;
  const before: Node[] = [];
  const behind: Node[] = [];
  let strays = before;
  for (const top of [...document.childNodes]) {
    const nodes: readonly Node[] = top.nodeName === 'HTML' && top.contains(body) ? Array.from(top.childNodes) : [top];
    for (const node of nodes) {
      if (node === body) strays = behind;
      else strays.push(...contentOf(node));
    }
  }
  body.prepend(...before);
  body.append(...behind);
}

/** What a reader may see of a node; of another page, the content of its body. @param depth  pages within pages are taken as they are. */
function contentOf(node: Node, depth = 0): readonly Node[] {
  if (node.nodeName === 'HEAD') return [];
  if ((node.nodeName === 'HTML' || node.nodeName === 'BODY') && depth < 2)
    return Array.from(node.childNodes).flatMap((child) => contentOf(child, depth + 1));
  return node.nodeType === elementNode || node.nodeType === textNode ? [node] : [];
}

/** Changes the document; call it last. */
function extractText(
  document: HtmlDocument,
  shorten: (document: HtmlDocument, body: Element) => void = () => undefined,
): HtmlText {
  openShadowRoots(document);
  if (isTooDeep(document)) return { text: bareText(document), isMarkdown: false, hiddenParts: 0 };
  const hiddenParts = removeUnseen(document);
  writeOut(document);
  const body = document.querySelector('body') ?? document.documentElement;
  shorten(document, body);
  return { text: toMarkdown(body), isMarkdown: true, hiddenParts };
}

/** Whether elements are nested deeper than any written page: the libraries take quadratic time for it. */
function isTooDeep(document: HtmlDocument): boolean {
  const walker = document.createTreeWalker(document, showElements);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    let depth = 0;
    for (let above = node.parentNode; above !== null && depth <= depthMax; above = above.parentNode) depth += 1;
    if (depth > depthMax) return true;
  }
  return false;
}

/** The text of all elements, without structure. */
function bareText(document: HtmlDocument): string {
  const parts: string[] = [];
  const walker = document.createTreeWalker(document, showText);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    if (!/^(?:script|style|noscript|template|title)$/i.test(node.parentNode?.nodeName ?? ''))
      parts.push(oneLine(node.textContent ?? ''));
  }
  return parts.filter((part) => part !== '').join('\n');
}

function isWholePage(html: string): boolean {
  return /<body[\s>]/i.test(html) && /<html[\s>]/i.test(html);
}

/** From `<meta charset>` or `<meta http-equiv>`, which must be near the start. */
function declaredCharset(bytes: Uint8Array): string | undefined {
  const top = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 4096)).toString('latin1');
  return /<meta[^>]{0,200}charset\s*=\s*["']?\s*([\w.:-]{2,40})/i.exec(top)?.[1];
}
