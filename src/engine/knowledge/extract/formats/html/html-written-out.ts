import { grouped } from '../formula.ts';
import { formatNumber, type NumberFormat } from '../list-numbers.ts';
import { loweredText, raisedText } from '../raised.ts';
import { checkboxText, isCheckbox, readWords } from './html-text.ts';
import type { HtmlDocument } from './html-visible.ts';

const textNode = 3;
/** Elements around a raised number that do not begin a line. */
const inlineNames = new Set(['A', 'ABBR', 'B', 'CODE', 'EM', 'FONT', 'I', 'MARK', 'SMALL', 'SPAN', 'STRONG', 'SUB', 'SUP', 'U']);
/** Kinds of fields whose value is seen. */
const seenFields = new Set([
  '',
  'text',
  'email',
  'number',
  'tel',
  'url',
  'search',
  'date',
  'time',
  'month',
  'week',
  'datetime-local',
]);

/** Writes out what a page says by form alone: powers, formulas, values of fields, and tables made of other elements. Changes the document. */
export function writeOut(document: HtmlDocument): void {
  for (const math of document.querySelectorAll('math')) math.replaceWith(document.createTextNode(formulaText(math)));
  for (const element of document.querySelectorAll('[style]')) writeStyle(document, element);
  for (const link of document.querySelectorAll('a')) if (isNoteLink(link)) bracket(link);
  for (const raised of document.querySelectorAll('sup')) writeRaised(raised);
  for (const lowered of document.querySelectorAll('sub')) writeLowered(lowered);
  for (const field of document.querySelectorAll('input[value]')) writeField(document, field);
  for (const choice of document.querySelectorAll('input[checked]')) writeChoice(document, choice);
  for (const table of document.querySelectorAll('[role=table],[role=grid],[role=treegrid]')) makeTable(document, table);
}

/** The source of the formula where the page gives it, as most programs that draw formulas do. */
function formulaText(math: Element): string {
  const source = math.querySelector('annotation[encoding="application/x-tex"]')?.textContent ?? math.getAttribute('alttext');
  return (source ?? linear(math)).trim();
}

function linear(node: Node): string {
  if (node.nodeType === textNode) return (node.textContent ?? '').trim();
  const [first = '', second = '', third = ''] = Array.from(node.childNodes, linear).filter((text) => text !== '');
  switch (node.nodeName.toLowerCase()) {
    case 'annotation':
    case 'annotation-xml':
      return '';
    case 'mfrac':
      return ` ${grouped(first)}/${grouped(second)} `;
    case 'msup':
    case 'mover':
      return `${first}^${grouped(second)}`;
    case 'msub':
    case 'munder':
      return `${first}_${grouped(second)}`;
    case 'msubsup':
    case 'munderover':
      return `${first}_${grouped(second)}^${grouped(third)}`;
    case 'msqrt':
      return `√${grouped(Array.from(node.childNodes, linear).join(''))}`;
    case 'mroot':
      return `${second}√${grouped(first)}`;
    default:
      return Array.from(node.childNodes, linear).join('');
  }
}

/** The number of a note that stands elsewhere: it is no part of the word before it. */
function isNoteLink(link: Element): boolean {
  if (!/^\d{1,4}$|^[a-z*†‡]$/i.test((link.textContent ?? '').trim())) return false;
  if (/\bnoteref\b/.test(`${link.getAttribute('epub:type') ?? ''} ${link.getAttribute('role')?.replace('doc-', '') ?? ''}`))
    return true;
  const isRaised = link.parentNode?.nodeName === 'SUP' || link.querySelector('sup') !== null;
  return isRaised && link.getAttribute('href')?.includes('#') === true;
}

function bracket(element: Element): void {
  element.prepend('[');
  element.append(']');
}

function writeRaised(element: Element): void {
  const text = element.textContent ?? '';
  const before = textBefore(element);
  const next = element.nextSibling;
  const after = next?.nodeType === textNode ? (next.textContent ?? '') : '';
  // Half of a fraction: 1½ is written with a raised 1, a stroke, and a lowered 2.
  const isFraction = /^[/⁄]/.test(after) && /^\d{1,3}$/.test(text.trim());
  const written = isFraction && /\p{N}$/u.test(before) ? ` ${text}` : raisedText(before, text);
  if (!isFraction || written !== `^${text}`) writeMark(element, written, text);
}

function writeLowered(element: Element): void {
  const text = element.textContent ?? '';
  writeMark(element, loweredText(textBefore(element), text), text);
  const next = element.nextSibling;
  if (next?.nodeType === textNode && /\d\s*$/.test(text) && /^\d/.test(next.textContent ?? '')) element.append(' ');
}

/** Puts what is written before the text of an element. */
function writeMark(element: Element, written: string, text: string): void {
  if (written !== text) element.prepend(written.slice(0, written.length - text.length));
}

/** The text of the line that ends where the element begins, or its end. */
function textBefore(element: Element): string {
  let node: Node | null = element;
  while (node !== null && node.previousSibling === null) {
    node = node.parentNode;
    if (node !== null && !inlineNames.has(node.nodeName)) return '';
  }
  let last: Node | null | undefined = node?.previousSibling;
  while (last !== null && last !== undefined && last.nodeType !== textNode) last = last.lastChild;
  return (last?.textContent ?? '').slice(-20);
}

function writeField(document: HtmlDocument, field: Element): void {
  const value = field.getAttribute('value') ?? '';
  if (value.trim() !== '' && seenFields.has((field.getAttribute('type') ?? '').toLowerCase()))
    field.replaceWith(document.createTextNode(` ${value} `));
}

/** What is ticked or chosen; the boxes of a list of tasks have a rule of their own. */
function writeChoice(document: HtmlDocument, field: Element): void {
  const isRadio = field.getAttribute('type')?.toLowerCase() === 'radio';
  if (isRadio || (isCheckbox(field) && field.parentNode?.nodeName !== 'LI'))
    field.replaceWith(document.createTextNode(` ${checkboxText(field)}`));
}

/** Text that a style strikes out, raises or lowers, as editors and mail programs write it, gets the element that says the same. */
function writeStyle(document: HtmlDocument, element: Element): void {
  const style = (element.getAttribute('style') ?? '').toLowerCase();
  const name = /text-decoration(?:-line)?\s*:[^;]*line-through/.test(style)
    ? 's'
    : /vertical-align\s*:\s*(su(?:per|b))\b/.exec(style)?.[1]?.replace('super', 'sup');
  if (name === undefined || (name !== 's' && !inlineNames.has(element.nodeName))) return;
  if (['S', 'DEL', 'STRIKE', 'SUP', 'SUB'].includes(element.nodeName)) return;
  // Last: it looks at all that is in the element, and most elements with a style are none of these.
  const isOneLine = Array.from(element.querySelectorAll('*')).every(({ nodeName }) => inlineNames.has(nodeName));
  if (!isOneLine) return;
  const written = document.createElement(name);
  written.append(...element.childNodes);
  element.append(written);
}

/** Rows and cells that are told by their role become those of a table. */
function makeTable(document: HtmlDocument, element: Element): void {
  if (element.nodeName === 'TABLE' || element.querySelector('table') !== null) return;
  const table = document.createElement('table');
  for (const row of element.querySelectorAll('[role=row]')) {
    const tableRow = document.createElement('tr');
    for (const cell of row.querySelectorAll('[role=cell],[role=gridcell],[role=columnheader],[role=rowheader]')) {
      const isHead = cell.getAttribute('role')?.endsWith('header') === true;
      const tableCell = document.createElement(isHead ? 'th' : 'td');
      tableCell.textContent = readWords(cell);
      tableRow.append(tableCell);
    }
    table.append(tableRow);
  }
  if (table.querySelector('th,td') !== null) element.replaceWith(table);
}

/** What `type` of a list means. */
const listFormats: Readonly<Record<string, NumberFormat>> = {
  a: 'lowerLetter',
  A: 'upperLetter',
  i: 'lowerRoman',
  I: 'upperRoman',
};

/** The numbers before the entries of a list, as they are shown. */
export function listLabels(list: Element): ReadonlyMap<Node, string> {
  const entries = Array.from(list.children).filter(({ nodeName }) => nodeName === 'LI');
  const isReversed = list.hasAttribute('reversed');
  let next = wholeNumber(list.getAttribute('start')) ?? (isReversed ? entries.length : 1);
  const labels = new Map<Node, string>();
  for (const entry of entries) {
    const number = wholeNumber(entry.getAttribute('value')) ?? next;
    const type = entry.getAttribute('type') ?? list.getAttribute('type') ?? '1';
    labels.set(entry, `${formatNumber(number, listFormats[type] ?? 'decimal')}.`);
    next = number + (isReversed ? -1 : 1);
  }
  return labels;
}

function wholeNumber(text: string | null): number | undefined {
  const number = Number(text ?? '');
  return text !== null && text.trim() !== '' && Number.isSafeInteger(number) ? number : undefined;
}
