import Turndown from 'turndown';
import { strikethrough, taskListItems } from 'turndown-plugin-gfm';
import { oneLine } from '../../../../lib/text.ts';

/** A link's address is worth reading only when a person could type it. */
const urlMaxChars = 300;

/** HTML as Markdown that is text first: no pictures, no scripts, tables as tables whether or not they have a head. */
export function markdownOf(html: string): string {
  const turndown = new Turndown({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-', emDelimiter: '*' });
  // Nothing is given back to a Markdown renderer as code: marks in the text are left as they are, they only cost words when escaped.
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

/** What the rule needs of the DOM. */
interface TableNode {
  readonly textContent: string | null;
  querySelectorAll(selector: string): ArrayLike<TableNode>;
}

/** A table for layout (nested, or of one column) is its content; others get a head, the first row when none is marked. */
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
