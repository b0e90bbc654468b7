import Turndown from 'turndown';
import { strikethrough, taskListItems } from 'turndown-plugin-gfm';
import { oneLine } from '../../../../lib/text.ts';

/** Longer link addresses are left out: no person types them. */
const urlMaxChars = 300;

/** Converts HTML to Markdown for search: no images, no scripts, tables with or without a head. */
export function markdownOf(html: string): string {
  const turndown = new Turndown({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-', emDelimiter: '*' });
  // The Markdown is not rendered, so marks in the text need no escapes, which would only split words.
  turndown.escape = (text) => text;
  turndown.use([strikethrough, taskListItems]);
  turndown.remove(['script', 'style', 'noscript', 'template', 'iframe', 'object']);
  turndown.addRule('image', { filter: 'img', replacement: (_content, node) => node.getAttribute('alt')?.trim() ?? '' });
  turndown.addRule('link', { filter: 'a', replacement: (content, node) => linkText(content, node.getAttribute('href') ?? '') });
  turndown.addRule('table', { filter: 'table', replacement: (content, node) => tableText(content, node) });
  return turndown.turndown(html);
}

function linkText(content: string, href: string): string {
  const isPlain = content.trim() === '' || content.includes('\n') || content === href;
  if (isPlain || !/^(?:https?:\/\/|mailto:)/i.test(href) || href.length > urlMaxChars || /[\s()<>]/.test(href)) return content;
  return `[${content}](${href})`;
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
    Array.from(row.querySelectorAll('th,td'), (cell) => oneLine(cell.textContent ?? '').replaceAll('|', '\\|')),
  ).filter((row) => row.some((cell) => cell !== ''));
  const width = rows.reduce((widest, row) => Math.max(widest, row.length), 0);
  const [head, ...body] = rows;
  if (head === undefined || width < 2) return content;
  const line = (row: readonly string[]) => `| ${Array.from({ length: width }, (_, index) => row[index] ?? '').join(' | ')} |`;
  return `\n\n${[line(head), line(Array.from({ length: width }, () => '---')), ...body.map(line)].join('\n')}\n\n`;
}
