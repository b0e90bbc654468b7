import type { Block } from '../extract/document.ts';
import { headingText } from '../extract/markdown-blocks.ts';

const separator = ' > ';
const headingMaxChars = 120;

/** The current headings while a document is read from its start. */
export class HeadingTrail {
  readonly #title: string | null;
  #entries: { readonly level: number; readonly text: string }[] = [];
  #path = '';

  constructor(title: string | null) {
    this.#title = title;
  }

  /** Joined by ` > `, without the document's title, which is shown beside the path. */
  get path(): string {
    return this.#path;
  }

  /** Level of the current heading; 0 above the first. */
  get level(): number {
    return this.#entries.at(-1)?.level ?? 0;
  }

  enter(level: number, raw: string): void {
    const text = cut(headingText(raw), headingMaxChars);
    this.#entries = [...this.#entries.filter((entry) => entry.level < level), { level, text }];
    const shownEntries = this.#entries.filter((entry, index) => entry.text !== '' && (index > 0 || entry.text !== this.#title));
    this.#path = shownEntries.map((entry) => entry.text).join(separator);
  }
}

export function joinPath(path: string, part: string): string {
  return path === '' ? part : `${path}${separator}${part}`;
}

/** The head row of a Markdown table, which is added to later passages of a long table. `''` for other tables. */
export function tableColumns(text: string, block: Block): string {
  const [head = '', rule = ''] = text.slice(block.charStart, Math.min(block.charEnd, block.charStart + 4096)).split('\n', 2);
  return rule.includes('-') && /^[\s|:-]+$/.test(rule) ? cut(head.trim(), headingMaxChars * 2) : '';
}

function cut(text: string, maxChars: number): string {
  return text.length <= maxChars
    ? text
    : `${text
        .slice(0, maxChars - 1)
        .toWellFormed()
        .trimEnd()}…`;
}
