import { posix } from 'node:path';
import { Marked } from 'marked';
import { escapeHtml } from '../../lib/html.ts';

export interface RenderedMarkdown {
  /** Text of the first heading. */
  readonly title: string;
  readonly html: string;
  /** Headings of the second level, in order. */
  readonly headings: readonly { readonly id: string; readonly text: string }[];
}

/**
 * Makes HTML of a page of the manual.
 *
 * @param path  of the page below the root of the manual; links are relative to it.
 * @param pages  paths of all pages. A link to another file of the repository becomes its text.
 */
export function renderMarkdown(text: string, path: string, pages: ReadonlySet<string>): RenderedMarkdown {
  const headings: { id: string; text: string }[] = [];
  const ids = new Set<string>();
  let title: string | undefined;
  const marked = new Marked({
    gfm: true,
    renderer: {
      heading({ tokens, depth }) {
        const inner = this.parser.parseInline(tokens);
        const plain = this.parser.parseInline(tokens, this.parser.textRenderer);
        const id = freeId(plain, ids);
        if (depth === 1) title ??= plain;
        if (depth === 2) headings.push({ id, text: plain });
        return `<h${depth} id="${escapeHtml(id)}">${inner}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const inner = this.parser.parseInline(tokens);
        const target = addressOf(href, path, pages);
        return target === undefined ? inner : `<a href="${escapeHtml(target)}">${inner}</a>`;
      },
      code({ text: code }) {
        return `<pre tabindex="0"><code>${escapeHtml(code)}</code></pre>\n`;
      },
      table(token) {
        const cells = (row: typeof token.header, tag: string) =>
          row.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('');
        const rows = token.rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n');
        const head = `<thead><tr>${cells(token.header, 'th')}</tr></thead>`;
        return `<div class="table" tabindex="0"><table>${head}<tbody>\n${rows}\n</tbody></table></div>\n`;
      },
      // Comments are for programs that read the file; a page needs no HTML of its own.
      html({ text: html }) {
        return html.startsWith('<!--') ? '' : escapeHtml(html);
      },
      image({ text: alternative }) {
        return escapeHtml(alternative);
      },
    },
  });
  const html = marked.parse(text, { async: false });
  return { title: title ?? path, html, headings };
}

/** As repository hosts make them, so that links between the files work in both places. */
function freeId(heading: string, taken: Set<string>): string {
  const base = decoded(heading)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
  let id = base;
  for (let number = 1; taken.has(id); number += 1) id = `${base}-${number}`;
  taken.add(id);
  return id;
}

function decoded(html: string): string {
  return html.replace(/&(?:amp|lt|gt|quot|#39);/g, ' ').replace(/`/g, '');
}

function addressOf(href: string, path: string, pages: ReadonlySet<string>): string | undefined {
  if (/^(?:https?:\/\/|mailto:|#)/.test(href)) return href;
  const [file = '', anchor] = href.split('#');
  const target = posix.join(posix.dirname(path), file);
  return pages.has(target) ? `/manual/${target}${anchor === undefined ? '' : `#${anchor}`}` : undefined;
}
