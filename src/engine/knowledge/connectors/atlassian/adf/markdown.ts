import { readString } from '../../../../../lib/json/json.ts';
import { oneLine } from '../../../../../lib/text/text.ts';
import { fencedCode } from '../../../extract/formats/fenced-code.ts';
import { markdownTable } from '../../../extract/formats/markdown-table.ts';
import { spannedRows } from '../../../extract/formats/spanned-rows.ts';
import { inlineText, isInline, mediaName } from './inline.ts';
import type { AdfNode } from './node.ts';

/**
 * A document as Markdown: headings, lists, tables, code, panels with their kind, names of files. Types that are not known give what they contain.
 *
 * @param levelsBelow  how many levels the document's headings go down, because it stands below a heading.
 */
export function adfMarkdown(document: AdfNode, levelsBelow = 0): string {
  return renderBlocks(document.content, levelsBelow).join('\n\n');
}

/** Inline nodes beside each other are a paragraph, also where the format asks for a block. */
function renderBlocks(nodes: readonly AdfNode[], levelsBelow: number): readonly string[] {
  const blocks: string[] = [];
  let line: AdfNode[] = [];
  const endLine = () => {
    blocks.push(paragraph(line));
    line = [];
  };
  for (const node of nodes) {
    if (isInline(node)) {
      line.push(node);
      continue;
    }
    endLine();
    blocks.push(...renderBlock(node, levelsBelow));
  }
  endLine();
  return blocks.filter((block) => block !== '');
}

function renderBlock(node: AdfNode, levelsBelow: number): readonly string[] {
  const { type, attrs, content } = node;
  switch (type) {
    case 'paragraph':
    case 'caption':
      return content.every(isInline) ? [paragraph(content)] : renderBlocks(content, levelsBelow);
    case 'heading': {
      const text = oneLine(inlineText(content));
      const level = Math.min(6, Math.max(1, Number(attrs.level) || 1) + levelsBelow);
      return text === '' ? [] : [`${'#'.repeat(level)} ${text}`];
    }
    case 'bulletList':
    case 'decisionList':
      return [renderList(content, levelsBelow, () => '- ')];
    case 'taskList':
      return [renderList(content, levelsBelow, ({ attrs: { state } }) => (state === 'DONE' ? '- [x] ' : '- [ ] '))];
    case 'orderedList': {
      const first = Number.isInteger(attrs.order) ? Number(attrs.order) : 1;
      return [renderList(content, levelsBelow, (_item, index) => `${first + index}. `)];
    }
    case 'codeBlock':
      return [codeBlock(content.map(({ text }) => text).join(''), readString(attrs.language) ?? '')];
    case 'blockquote':
      return [quoted(renderBlocks(content, levelsBelow).join('\n\n'))];
    case 'panel':
      return labelled(readLabel(attrs), renderBlocks(content, levelsBelow));
    case 'expand':
    case 'nestedExpand':
      return labelled(readString(attrs.title) ?? '', renderBlocks(content, levelsBelow));
    case 'table':
      return [tableMarkdown(node, (cell) => renderBlocks(cell.content, levelsBelow).join(' '))];
    case 'rule':
      return ['---'];
    case 'media':
      return [mediaName(node)];
    case 'blockCard':
    case 'embedCard':
      return [readString(attrs.url) ?? ''];
    default:
      return renderBlocks(content, levelsBelow);
  }
}

/** Text that looks like the beginning of another block stays text. */
function paragraph(nodes: readonly AdfNode[]): string {
  const lines = inlineText(nodes)
    .split('\n')
    .map((line) => line.trim().replace(/^(#{1,6}(?=\s)|```|~~~|---)/, '\\$1'));
  return lines
    .join('\n')
    .replace(/\n{2,}/g, '\n')
    .trim();
}

function renderList(items: readonly AdfNode[], levelsBelow: number, marker: (item: AdfNode, index: number) => string): string {
  let index = 0;
  return items
    .map((item) => {
      // A list may lie directly in a list: it belongs to the item above.
      if (/List$/.test(item.type)) return indented(renderBlock(item, levelsBelow).join('\n'), 2);
      const text = renderBlocks(item.content, levelsBelow).join('\n');
      if (text === '') return '';
      const mark = marker(item, index);
      index += 1;
      return mark + indented(text, mark.startsWith('- ') ? 2 : mark.length).trimStart();
    })
    .filter((item) => item !== '')
    .join('\n');
}

function indented(text: string, spaces: number): string {
  return text.replace(/^(?=.)/gm, ' '.repeat(spaces));
}

function quoted(text: string): string {
  return text === '' ? '' : text.replace(/^/gm, '> ');
}

export function codeBlock(code: string, language: string): string {
  if (code.trim() === '') return '';
  return fencedCode(code.trimEnd(), /^[\w+#.-]{1,40}$/.test(language) ? language : '');
}

/** What a panel or a part that opens is called comes first, in its first paragraph if that is text. */
function labelled(label: string, blocks: readonly string[]): readonly string[] {
  const [first, ...rest] = blocks;
  if (label === '') return blocks;
  if (first === undefined || /^(?:#|\||`{3}|- |\d+\. |>|\*\*)/.test(first)) return [`**${label}**`, ...blocks];
  return [`**${label}:** ${first}`, ...rest];
}

const panelNames: Readonly<Record<string, string>> = {
  info: 'Info',
  note: 'Note',
  tip: 'Tip',
  success: 'Success',
  warning: 'Warning',
  error: 'Error',
};

function readLabel({ panelType, title }: AdfNode['attrs']): string {
  return readString(title) || panelNames[readString(panelType) ?? ''] || '';
}

/** A table with its first rows as the head, see `spannedRows`. */
function tableMarkdown(table: AdfNode, cellText: (cell: AdfNode) => string): string {
  const rows = spannedRows(
    table.content.map(({ content }) =>
      content.map((cell) => ({
        text: cellText(cell).trim(),
        rows: cell.attrs.rowspan,
        columns: cell.attrs.colspan,
        isHead: cell.type === 'tableHeader',
      })),
    ),
  );
  return rows.length === 0 ? '' : markdownTable(rows);
}
