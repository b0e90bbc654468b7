import { footed } from './html-parts.ts';
import type { HtmlDocument } from './html-visible.ts';

/** What every page of a site says around its text. */
const landmarks =
  'nav,search,[role=navigation],[role=banner],[role=contentinfo],[role=search],[role=dialog],[role=alertdialog],footer,aside,[class],[id]';
const mainContent = 'main,article,[role=main]';
/** What authors call menus. It counts only for elements that hold little but links. */
const menuName = /nav|menu|breadcrumb|sidebar|footer|header|toolbar|pag(?:ination|er)|share|social|related|skip|toc\b|links/i;
const menuLinksMin = 3;
const menuShareMin = 0.6;
/** What authors call notices that lie over a page. */
const noticeName = /(?:cookie|consent|gdpr)s?[-_]?(?:banner|bar|notice|popup|overlay|law|consent|message|dialog)/i;
const noticeMaxChars = 3_000;

/**
 * Removes menus, the page's footer, and notices that lie over it. A list of links goes only outside the main content, and when its author calls it a
 * menu or sets it aside: nothing that is written as text is removed. A page that has nothing else stays as it is.
 */
export function removeMenus(document: HtmlDocument, body: Element): void {
  const around: Element[] = [];
  let aroundChars = 0;
  for (const element of document.querySelectorAll(landmarks)) {
    if (element === body || around.at(-1)?.contains(element) === true || !isAround(element)) continue;
    around.push(element);
    aroundChars += charsIn(element);
  }
  if (aroundChars < charsIn(body)) for (const element of around) element.remove();
}

function isAround(element: Element): boolean {
  const name = element.nodeName.toLowerCase();
  const role = element.getAttribute('role') ?? '';
  if (name === 'nav' || name === 'search' || /^(?:navigation|banner|contentinfo|search|dialog|alertdialog)$/.test(role))
    return true;
  if (name === 'footer' && !isInside(element, [...footed].join())) return true;
  const names = `${element.getAttribute('class') ?? ''} ${element.getAttribute('id') ?? ''}`;
  if (noticeName.test(names) && charsIn(element) <= noticeMaxChars) return true;
  return (name === 'aside' || menuName.test(names)) && isLinkList(element);
}

function isLinkList(element: Element): boolean {
  const links = Array.from(element.querySelectorAll('a'));
  if (links.length < menuLinksMin || isInside(element, mainContent) || element.querySelector(mainContent) !== null) return false;
  return links.reduce((sum, link) => sum + charsIn(link), 0) >= charsIn(element) * menuShareMin;
}

function isInside(element: Element, selector: string): boolean {
  return (element.parentElement?.closest(selector) ?? null) !== null;
}

/** Without white space, so that the sum of the parts is the whole. */
function charsIn(element: Element): number {
  return (element.textContent ?? '').replace(/\s+/g, '').length;
}
