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
  remove(document, neverText);
  writer.text(markdownOf(mainHtml(document, html.length)), markdownBlocks);
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
  const body = document.querySelector('body') ?? document.documentElement;
  return { text: markdownOf(String(body.innerHTML)), isMarkdown: true };
}

function parse(html: string): HtmlDocument {
  return parseHTML(isWholePage(html) ? html : `<!doctype html><html><head></head><body>${html}</body></html>`).document;
}

function mainHtml(document: HtmlDocument, htmlChars: number): string {
  const body = document.querySelector('body') ?? document.documentElement;
  const whole = { html: String(body.innerHTML), text: textOf(body) };
  remove(document, aroundText);
  const inner = { html: String(body.innerHTML), text: textOf(body) };
  if (inner.text === '') return whole.html;
  const article = htmlChars > articleMaxChars ? undefined : articleOf(document);
  return article !== undefined && article.text.length >= inner.text.length * articleShareMin ? article.html : inner.html;
}

/** Changes the document; call it last. */
function articleOf(document: HtmlDocument): { readonly html: string; readonly text: string } | undefined {
  const article = new Readability(document, { charThreshold: 200 }).parse();
  if (article?.content == null || article.textContent == null) return undefined;
  return { html: article.content, text: oneLine(article.textContent) };
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
