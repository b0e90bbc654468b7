import { markdownTable } from '../../../extract/formats/markdown-table.ts';
import { spannedRows } from '../../../extract/formats/spanned-rows.ts';
import type { AdfNode } from './node.ts';

/** A table with its first rows as the head, see `spannedRows`. */
export function tableMarkdown(table: AdfNode, cellText: (cell: AdfNode) => string): string {
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
