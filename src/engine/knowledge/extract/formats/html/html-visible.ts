import type { parseHTML } from 'linkedom';
import { isHidden } from './html-parts.ts';
import { readWords } from './html-text.ts';

export type HtmlDocument = ReturnType<typeof parseHTML>['document'];

/** Elements that no reader sees as text of the page. */
const neverText = 'script,style,noscript,template,canvas,iframe,object,embed,title,meta,link,base';
/** Elements that hold sentences. */
const writtenText = 'h1,h2,h3,h4,h5,h6,p,li,td';
/** Shadow roots within shadow roots. */
const shadowDepthMax = 20;

/** Puts the trees that a page declares for its elements where their readers see them. */
export function openShadowRoots(document: HtmlDocument): void {
  for (let depth = 0; depth < shadowDepthMax; depth += 1) {
    const templates = document.querySelectorAll('template[shadowrootmode]');
    if (templates.length === 0) return;
    for (const template of templates) openShadowRoot(template);
  }
}

/** The content of the template takes the place of the element's own children, which appear where the content has slots for them. */
function openShadowRoot(template: Element): void {
  const host = template.parentNode as Element | null;
  const own = Array.from(host?.childNodes ?? []).filter((node) => node !== template);
  const content = Array.from(template.childNodes);
  template.remove();
  for (const node of own) host?.removeChild(node);
  host?.append(...content);
  for (const slot of host?.querySelectorAll('slot') ?? []) {
    const name = slot.getAttribute('name') ?? '';
    const assignedNodes = own.filter((node) => findSlot(node) === name);
    if (assignedNodes.some((node) => (node.textContent ?? '').trim() !== '')) slot.replaceWith(...assignedNodes);
  }
}

function findSlot(node: Node): string | undefined {
  if (node.nodeType === 3) return '';
  return node.nodeType === 1 ? ((node as Element).getAttribute('slot') ?? '') : undefined;
}

/**
 * Removes what readers do not see: parts that the page hides by an attribute or a style, choices that are not chosen, scripts. What is found by
 * searching in a page (`hidden="until-found"`, closed `details`) is seen.
 *
 * @returns how many hidden parts had words.
 */
export function removeUnseen(document: HtmlDocument): number {
  for (const element of document.querySelectorAll(neverText)) element.remove();
  for (const element of document.querySelectorAll('[aria-hidden=true]')) if (isOrnament(element)) element.remove();
  for (const svg of document.querySelectorAll('svg')) if (svg.isConnected) keepWords(document, svg);
  for (const select of document.querySelectorAll('select')) keepChosen(select);
  let hiddenParts = 0;
  for (const element of document.querySelectorAll('[hidden],[style],dialog')) {
    if (!element.isConnected || !isHidden(element.nodeName, readAttributes(element))) continue;
    if (/[\p{L}\p{N}]/u.test(element.textContent ?? '')) hiddenParts += 1;
    element.remove();
  }
  return hiddenParts;
}

/** What is hidden from screen readers is a picture made of letters, or says once more what stands beside it. Text of its own stays. */
function isOrnament(element: Element): boolean {
  return !element.matches(writtenText) && element.querySelector(writtenText) === null;
}

/** The words of a drawing, one paragraph each. */
function keepWords(document: HtmlDocument, svg: Element): void {
  const words = Array.from(svg.querySelectorAll('text,foreignObject'), readWords).filter((text) => text !== '');
  const paragraphs = words.map((text) => {
    const paragraph = document.createElement('p');
    paragraph.textContent = text;
    return paragraph;
  });
  svg.replaceWith(...paragraphs);
}

/** A closed list shows one of its choices. */
function keepChosen(select: Element): void {
  if (select.hasAttribute('multiple') || Number(select.getAttribute('size') ?? 1) > 1) return;
  const options = Array.from(select.querySelectorAll('option'));
  const chosenOption = options.find((option) => option.hasAttribute('selected')) ?? options[0];
  for (const option of options) if (option !== chosenOption) option.remove();
}

function readAttributes(element: Element): Readonly<Record<string, string | undefined>> {
  const value = (name: string) => element.getAttribute(name) ?? undefined;
  return { hidden: value('hidden'), style: value('style'), open: value('open') };
}
