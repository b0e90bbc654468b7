import Turndown from 'turndown/lib/turndown.browser.es.js';
import { fencedCode } from '../fenced-code.ts';
import { markdownLink } from '../markdown-link.ts';
import { markdownTable } from '../markdown-table.ts';
import { type SpannedCell, spannedRows } from '../spanned-rows.ts';
import { checkboxText, dividesWords, isCheckbox, isDeleted, readCode, readWords } from './html-text.ts';
import { listLabels } from './html-written-out.ts';

/** Converts what is in an element to Markdown for search: no images, no scripts, tables with or without a head. Changes its white space. */
export function toMarkdown(element: Node): string {
  const turndown = new Turndown({
    headingStyle: 'atx',
    codeBlockStyle: 'fenced',
    bulletListMarker: '-',
    emDelimiter: '*',
    defaultReplacement: (content, node) => (dividesWords(node.nodeName) ? `\n\n${content}\n\n` : content),
  });
  // The Markdown is not rendered, so marks in the text need no escapes, which would only split words.
  turndown.escape = (text) => text;
  turndown.addRule('deleted', { filter: isDeleted, replacement: (content) => `~${content}~` });
  turndown.addRule('task', { filter: isTask, replacement: (_content, node) => checkboxText(node as HTMLElement) });
  turndown.remove(['script', 'style', 'noscript', 'template', 'iframe', 'object']);
  turndown.addRule('image', { filter: 'img', replacement: (_content, node) => node.getAttribute('alt')?.trim() ?? '' });
  turndown.addRule('link', {
    filter: 'a',
    replacement: (content, node) => markdownLink(content, node.getAttribute('href') ?? ''),
  });
  turndown.addRule('heading', { filter: ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'], replacement: headingText });
  const labelsByList = new Map<Node, ReadonlyMap<Node, string>>();
  turndown.addRule('numbered entry', {
    filter: (node) => node.nodeName === 'LI' && node.parentNode?.nodeName === 'OL',
    replacement: (content, node) => {
      const list = node.parentNode as Element;
      const labels = labelsByList.get(list) ?? listLabels(list);
      labelsByList.set(list, labels);
      return numberedEntry(labels.get(node) ?? '', content, node.nextSibling === null);
    },
  });
  turndown.addRule('code block', { filter: 'pre', replacement: (_content, node) => codeBlock(node as HTMLElement) });
  turndown.addRule('table', { filter: 'table', replacement: (content, node) => tableText(content, node as HTMLElement) });
  // Turndown would copy all nodes first, which takes longer than the rest; these are used once.
  return turndown.turndown({ nodeType: element.nodeType, cloneNode: () => element } as HTMLElement);
}

/** Lines of an entry stand below its first one, as Turndown has them. */
function numberedEntry(label: string, content: string, isLast: boolean): string {
  const prefix = `${label}  `;
  let end = content.length;
  while (content[end - 1] === '\n') end -= 1;
  const lines = `${content.slice(0, end).replace(/^\n+/, '')}${end < content.length ? '\n' : ''}`;
  return `${prefix}${lines.replaceAll('\n', `\n${' '.repeat(prefix.length)}`)}${isLast ? '' : '\n'}`;
}

function isTask(node: HTMLElement): boolean {
  return isCheckbox(node) && node.parentNode?.nodeName === 'LI';
}

/** A heading is one line, whatever divides it. */
function headingText(content: string, { nodeName }: Pick<Node, 'nodeName'>): string {
  return `\n\n${'#'.repeat(Number(nodeName.charAt(1)))} ${content.replace(/\s+/g, ' ').trim()}\n\n`;
}

/** Code is fenced; other preformatted text keeps its lines. */
function codeBlock(pre: HTMLElement): string {
  const text = readCode(pre).replace(/^\n|\n$/g, '');
  const code = pre.querySelector('code');
  if (text.trim() === '') return '';
  if (code === null) return `\n\n${text}\n\n`;
  const language = /(?:^|\s)lang(?:uage)?-([\w+#.-]{1,40})/.exec(
    `${code.getAttribute('class') ?? ''} ${pre.getAttribute('class') ?? ''}`,
  )?.[1];
  return `\n\n${fencedCode(text, language ?? '')}\n\n`;
}

/**
 * A layout table (with tables or code in its cells and no heads, or with one column) becomes its content; other tables get a head, the first row if none
 * is marked.
 */
function tableText(content: string, table: HTMLElement): string {
  const isOwn = (element: Element) => element.parentElement?.closest('table') === table;
  const hasHeads = Array.from(table.querySelectorAll('th')).some(isOwn);
  if (!hasHeads && table.querySelectorAll('table,pre').length > 0) return content;
  const rows = spannedRows(
    Array.from(table.querySelectorAll('tr'))
      .filter(isOwn)
      .map((row) => Array.from(row.querySelectorAll('th,td')).filter(isOwn).map(toSpannedCell)),
  );
  const isTable = rows.some((row) => row.length > 1);
  if (!isTable) return content;
  const caption = readWords(table.querySelector('caption'));
  return `\n\n${caption}\n\n${markdownTable(rows)}\n\n`;
}

function toSpannedCell(cell: Element): SpannedCell {
  return {
    text: readWords(cell),
    rows: cell.getAttribute('rowspan') ?? undefined,
    columns: cell.getAttribute('colspan') ?? undefined,
    isHead: cell.nodeName === 'TH' || cell.parentNode?.parentNode?.nodeName === 'THEAD',
  };
}
