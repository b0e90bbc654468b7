import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import { decodeText } from '../charset.ts';
import type { DocumentWriter } from '../document-writer.ts';
import { markdownBlocks } from '../markdown-blocks.ts';
import { markdownOf } from './html-markdown.ts';

/** Larger pages are manuals on one page, not articles with menus around them; picking the article out would cost seconds. */
const articleMaxChars = 4_000_000;
/** An article that leaves out more than this of the page's text was not the whole of what the page says. */
const articleShareMin = 0.5;
const neverText = 'script,style,noscript,template,svg,canvas,iframe,object,embed,head,[hidden],[aria-hidden=true]';
const aroundText = 'nav,footer,aside,form,[role=navigation],[role=banner],[role=contentinfo],[role=search]';

/** HTML to Markdown: the article when the page is one, else the body without its menus, else the whole body. */
export function readHtml(bytes: Uint8Array, writer: DocumentWriter): void {
  const html = decodeText(bytes, declaredCharset(bytes)).replaceAll('\0', '');
  const { document } = parseHTML(isWholePage(html) ? html : `<!doctype html><html><head></head><body>${html}</body></html>`);
  const title = textOf(document.querySelector('title')) || textOf(document.querySelector('h1'));
  const body = document.querySelector('body') ?? document.documentElement;
  remove(document, neverText);
  const whole = String(body.innerHTML);
  const wholeText = textOf(body);
  remove(document, aroundText);
  const inner = textOf(body);
  const article = html.length > articleMaxChars ? undefined : articleOf(document);
  const chosen =
    article !== undefined && article.text.length >= inner.length * articleShareMin
      ? article.html
      : innerOrWhole(inner, wholeText, body, whole);
  writer.text(markdownOf(chosen), markdownBlocks);
  writer.title = title;
}

interface Article {
  readonly html: string;
  readonly text: string;
}

function innerOrWhole(inner: string, wholeText: string, body: { readonly innerHTML: string }, whole: string): string {
  return inner === '' && wholeText !== '' ? whole : String(body.innerHTML);
}

function articleOf(document: ReturnType<typeof parseHTML>['document']): Article | undefined {
  const copy = document.cloneNode(true) as typeof document;
  const article = new Readability(copy, { charThreshold: 200 }).parse();
  if (article?.content == null || article.textContent == null) return undefined;
  return { html: article.content, text: squeeze(article.textContent) };
}

function remove(document: ReturnType<typeof parseHTML>['document'], selector: string): void {
  for (const element of document.querySelectorAll(selector)) element.remove();
}

function isWholePage(html: string): boolean {
  return /<body[\s>]/i.test(html) && /<html[\s>]/i.test(html);
}

function textOf(element: { readonly textContent: string | null } | null): string {
  return squeeze(element?.textContent ?? '');
}

function squeeze(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** From `<meta charset>` or `<meta http-equiv>`, which must stand at the top. */
function declaredCharset(bytes: Uint8Array): string | undefined {
  const top = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 4096)).toString('latin1');
  return /<meta[^>]{0,200}charset\s*=\s*["']?\s*([\w.:-]{2,40})/i.exec(top)?.[1];
}
