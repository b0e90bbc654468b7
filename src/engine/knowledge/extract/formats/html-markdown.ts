import Turndown from 'turndown/lib/turndown.browser.es.js';
import { oneLine } from '../../../../lib/text.ts';
import { markdownLink } from './markdown-link.ts';
import { markdownTable } from './markdown-table.ts';

/** Converts what is in an element to Markdown for search: no images, no scripts, tables with or without a head. Changes its white space. */
export function markdownOf(element: Node): string {
  const turndown = new Turndown({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-', emDelimiter: '*' });
  // The Markdown is not rendered, so marks in the text need no escapes, which would only split words.
  turndown.escape = (text) => text;
  turndown.addRule('deleted', {
    filter: ({ nodeName }) => ['DEL', 'S', 'STRIKE'].includes(nodeName),
    replacement: (content) => `~${content}~`,
  });
  turndown.addRule('task', {
    filter: (node) => node.getAttribute('type') === 'checkbox' && node.parentNode?.nodeName === 'LI',
    replacement: (_content, node) => (node.hasAttribute('checked') ? '[x] ' : '[ ] '),
  });
  turndown.remove(['script', 'style', 'noscript', 'template', 'iframe', 'object']);
  turndown.addRule('image', { filter: 'img', replacement: (_content, node) => node.getAttribute('alt')?.trim() ?? '' });
  turndown.addRule('link', {
    filter: 'a',
    replacement: (content, node) => markdownLink(content, node.getAttribute('href') ?? ''),
  });
  turndown.addRule('table', { filter: 'table', replacement: (content, node) => tableText(content, node) });
  // Turndown would copy all nodes first, which takes longer than the rest; these are used once.
  return turndown.turndown({ nodeType: element.nodeType, cloneNode: () => element } as HTMLElement);
}

/** The part of the DOM that the rule needs. */
interface TableNode {
  readonly textContent: string | null;
  querySelectorAll(selector: string): ArrayLike<TableNode>;
}

/** A layout table (nested, or with one column) becomes its content; other tables get a head, the first row if none is marked. */
function tableText(content: string, table: TableNode): string {
  if (table.querySelectorAll('table').length > 0) return content;
  const rows = Array.from(table.querySelectorAll('tr'), (row) =>
    Array.from(row.querySelectorAll('th,td'), (cell) => oneLine(cell.textContent ?? '')),
  ).filter((row) => row.some((cell) => cell !== ''));
  const width = rows.reduce((widest, row) => Math.max(widest, row.length), 0);
  return rows.length === 0 || width < 2 ? content : `\n\n${markdownTable(rows)}\n\n`;
}
