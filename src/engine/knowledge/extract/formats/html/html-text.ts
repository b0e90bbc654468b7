import { oneLine } from '../../../../../lib/text/text.ts';

const elementNode = 1;
const textNode = 3;

/** Elements whose words stand apart from those before and after them, in lines or boxes of their own. Names in lower case. */
const blockNames: ReadonlySet<string> = new Set(
  (
    'address article aside blockquote body button caption center dd details dialog dir div dl dt fieldset figcaption figure footer form ' +
    'h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol optgroup option output p pre search section select summary table ' +
    'tbody td textarea tfoot th thead tr ul'
  ).split(' '),
);
/** Elements that show nothing of their own. */
const silentNames: ReadonlySet<string> = new Set(['script', 'style', 'template', 'noscript']);

/** Whether text on both sides of an element's border is different words. @param name  in any case. */
export function dividesWords(name: string): boolean {
  const lower = name.toLowerCase();
  return lower === 'br' || blockNames.has(lower);
}

/** The words of an element in one line. What stands in different lines, cells or boxes are different words; deleted words are marked. */
export function readWords(element: Node | null): string {
  if (element === null) return '';
  const pieces: string[] = [];
  gatherWords(element, pieces);
  return oneLine(pieces.join(''));
}

function gatherWords(node: Node, pieces: string[]): void {
  if (node.nodeType === textNode) {
    pieces.push(node.textContent ?? '');
    return;
  }
  if (node.nodeType !== elementNode) return;
  const element = node as Element;
  const name = element.nodeName.toLowerCase();
  if (silentNames.has(name)) return;
  if (name === 'img') pieces.push(element.getAttribute('alt') ?? '');
  else if (isCheckbox(element)) pieces.push(checkboxText(element));
  const isApart = dividesWords(name) || isPlaced(element, name);
  const deletionMark = isDeleted(element) && (element.textContent ?? '').trim() !== '' ? '~' : '';
  pieces.push(isApart ? ' ' : '', deletionMark);
  for (const child of element.childNodes) gatherWords(child, pieces);
  pieces.push(deletionMark, isApart ? ' ' : '');
}

/** A part of a drawing's text that is placed by itself. */
function isPlaced(element: Element, name: string): boolean {
  return name === 'tspan' && ['x', 'y', 'dy'].some((attribute) => element.hasAttribute(attribute));
}

/** The text of code with its lines, which may be line ends, `br` elements, or blocks. Buttons in it are not code. */
export function readCode(element: Node): string {
  const pieces: string[] = [];
  gatherCode(element, pieces);
  return pieces.join('').replace(/\r\n?/g, '\n');
}

function gatherCode(node: Node, pieces: string[]): void {
  if (node.nodeType === textNode) pieces.push(node.textContent ?? '');
  if (node.nodeType !== elementNode) return;
  const name = node.nodeName.toLowerCase();
  if (name === 'br') pieces.push('\n');
  if (name === 'button' || silentNames.has(name)) return;
  const isApart = blockNames.has(name);
  if (isApart) beginLine(pieces);
  for (const child of node.childNodes) gatherCode(child, pieces);
  if (isApart) beginLine(pieces);
}

function beginLine(pieces: string[]): void {
  const last = pieces.findLast((piece) => piece !== '');
  if (last !== undefined && !last.endsWith('\n')) pieces.push('\n');
}

export function isDeleted({ nodeName }: Pick<Node, 'nodeName'>): boolean {
  return ['DEL', 'S', 'STRIKE'].includes(nodeName);
}

export function isCheckbox(element: Pick<Element, 'nodeName' | 'getAttribute'>): boolean {
  return element.nodeName === 'INPUT' && element.getAttribute('type')?.toLowerCase() === 'checkbox';
}

export function checkboxText(element: Pick<Element, 'hasAttribute'>): string {
  return element.hasAttribute('checked') ? '[x] ' : '[ ] ';
}
