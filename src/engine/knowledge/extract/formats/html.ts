import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import { oneLine } from '../../../../lib/text.ts';
import { decodeText } from '../charset.ts';
import type { DocumentWriter } from '../document-writer.ts';
import { markdownBlocks, plainBlocks } from '../markdown-blocks.ts';
import { markdownOf } from './html-markdown.ts';

/** Larger pages are manuals, not articles among menus; finding an article in them would take seconds. */
const articleMaxChars = 4_000_000;
/** An article with less than this share of the page's text is not the whole content. */
const articleShareMin = 0.5;
const depthMax = 250;
/** Constants of the DOM's NodeFilter. */
const showElements = 1;
const showText = 4;
const neverText = 'script,style,noscript,template,svg,canvas,iframe,object,embed,head,[hidden],[aria-hidden=true]';
const aroundText = 'nav,footer,aside,form,[role=navigation],[role=banner],[role=contentinfo],[role=search]';

type HtmlDocument = ReturnType<typeof parseHTML>['document'];

/** HTML to Markdown: the article if the page has one, else the body without menus, else the whole body. */
export function readHtml(bytes: Uint8Array, writer: DocumentWriter): void {
  const html = decodeText(bytes, declaredCharset(bytes)).replaceAll('\0', '');
  const document = parse(html);
  if (isTooDeep(document)) {
    writer.text(bareText(document), plainBlocks);
    return;
  }
  const title = textOf(document.querySelector('title')) || textOf(document.querySelector('h1,h2'));
  writer.text(markdownOf(mainElement(document, html)), markdownBlocks);
  writer.title = title;
}

/** A chapter or mail: its whole body as Markdown, or as plain text when its elements are nested too deep. */
export function markdownOfBody(html: string): { readonly text: string; readonly isMarkdown: boolean } {
  const document = parse(html.replaceAll('\0', ''));
  if (isTooDeep(document)) return { text: bareText(document), isMarkdown: false };
  remove(document, neverText);
  for (const element of document.querySelectorAll('[style]')) {
    if (/display\s*:\s*none/i.test(element.getAttribute('style') ?? '')) element.remove();
  }
  return { text: markdownOf(bodyOf(document)), isMarkdown: true };
}

function parse(html: string): HtmlDocument {
  return parseHTML(isWholePage(html) ? html : `<!doctype html><html><head></head><body>${html}</body></html>`).document;
}

/**
 * Changes the document; call it last. Copies of nodes are made of text, and only when they are needed: making a node costs more than reading one.
 */
function mainElement(document: HtmlDocument, html: string): Node {
  remove(document, `${neverText},${aroundText}`);
  const inner = bodyOf(document);
  const innerChars = textOf(inner).length;
  if (innerChars === 0) return wholeBody(html);
  if (html.length > articleMaxChars) return inner;
  const innerHtml = String(inner.innerHTML);
  const article = articleOf(document);
  return article !== undefined && textOf(article).length >= innerChars * articleShareMin ? article : bodyOf(parse(innerHtml));
}

function wholeBody(html: string): Node {
  const document = parse(html);
  remove(document, neverText);
  return bodyOf(document);
}

function bodyOf(document: HtmlDocument): HTMLElement {
  return document.querySelector('body') ?? document.documentElement;
}

function articleOf(document: HtmlDocument): Node | undefined {
  return new Readability(document, { charThreshold: 200, serializer: (node) => node }).parse()?.content ?? undefined;
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

function remove(document: HtmlDocument, selector: string): void {
  for (const element of document.querySelectorAll(selector)) element.remove();
}

function isWholePage(html: string): boolean {
  return /<body[\s>]/i.test(html) && /<html[\s>]/i.test(html);
}

function textOf(element: { readonly textContent: string | null } | null): string {
  return oneLine(element?.textContent ?? '');
}

/** From `<meta charset>` or `<meta http-equiv>`, which must be near the start. */
function declaredCharset(bytes: Uint8Array): string | undefined {
  const top = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 4096)).toString('latin1');
  return /<meta[^>]{0,200}charset\s*=\s*["']?\s*([\w.:-]{2,40})/i.exec(top)?.[1];
}
