import { posix } from 'node:path';
import { Marked, type Token } from 'marked';
import { escapeHtml } from '../../lib/text/html.ts';

/** A part of a page, from one heading to the next. */
export interface Section {
  /** Of its heading. */
  readonly id: string;
  /** 1 to 6. */
  readonly depth: number;
  /** Of its heading, as HTML without elements. */
  readonly heading: string;
  /** The words below the heading, without markup. */
  readonly text: string;
}

export interface RenderedMarkdown {
  /** Of the first heading, as HTML without elements. */
  readonly title: string;
  readonly html: string;
  /** In order, the first heading's included. */
  readonly sections: readonly Section[];
}

/**
 * Makes HTML of a page of the manual. Each heading below the first has a link to itself.
 *
 * @param path  of the page below the root of the manual; links are relative to it.
 * @param pages  paths of all pages. A link to another file of the repository becomes its text.
 */
export function renderMarkdown(text: string, path: string, pages: ReadonlySet<string>): RenderedMarkdown {
  const headings = new Map<Token, { readonly id: string; readonly heading: string }>();
  const ids = new Set<string>();
  const markdownRenderer = new Marked({
    gfm: true,
    renderer: {
      heading(token) {
        const { tokens, depth } = token;
        const inner = this.parser.parseInline(tokens);
        const heading = this.parser.parseInline(tokens, this.parser.textRenderer);
        const id = freeId(heading, ids);
        headings.set(token, { id, heading });
        const place = escapeHtml(id);
        const link = `<a class="anchor" href="#${place}" aria-label="Link to this part"><span aria-hidden="true">#</span></a>`;
        return `<h${depth} id="${place}">${inner}${depth === 1 ? '' : link}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const inner = this.parser.parseInline(tokens);
        const target = resolveAddress(href, path, pages);
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
  const tokens = markdownRenderer.lexer(text);
  const html = markdownRenderer.parser(tokens);
  const sections = collectSections(tokens, headings);
  return { title: sections[0]?.heading ?? path, html, sections };
}

function collectSections(
  tokens: readonly Token[],
  headings: ReadonlyMap<Token, { readonly id: string; readonly heading: string }>,
): readonly Section[] {
  const sections: { id: string; depth: number; heading: string; text: string }[] = [];
  for (const token of tokens) {
    const knownHeading = headings.get(token);
    const last = sections.at(-1);
    if (knownHeading !== undefined && token.type === 'heading')
      sections.push({ ...knownHeading, depth: Number(token.depth), text: '' });
    else if (last !== undefined) last.text = `${last.text} ${readWords(token)}`.trim();
  }
  return sections;
}

/** What a token says, without its markup. */
function readWords(token: Token): string {
  if (token.type === 'html' || token.type === 'space') return '';
  const join = (parts: readonly Token[], between: string) => parts.map(readWords).join(between);
  if (token.type === 'list') return join(token.items, ' ');
  if (token.type === 'table') {
    const rows: readonly (readonly { readonly tokens: Token[] }[])[] = [token.header, ...token.rows];
    return rows.map((row) => row.map((cell) => join(cell.tokens, '')).join(' ')).join(' ');
  }
  if ('tokens' in token && token.tokens !== undefined) return join(token.tokens, token.type === 'blockquote' ? ' ' : '');
  return 'text' in token ? String(token.text) : '';
}

/** As repository hosts make them, so that links between the files work in both places. */
function freeId(heading: string, takenIds: Set<string>): string {
  const base = decoded(heading)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
  let id = base;
  for (let number = 1; takenIds.has(id); number += 1) id = `${base}-${number}`;
  takenIds.add(id);
  return id;
}

function decoded(html: string): string {
  return html.replace(/&(?:amp|lt|gt|quot|#39);/g, ' ').replace(/`/g, '');
}

function resolveAddress(href: string, path: string, pages: ReadonlySet<string>): string | undefined {
  if (/^(?:https?:\/\/|mailto:|#)/.test(href)) return href;
  const [file = '', anchor] = href.split('#');
  const target = posix.join(posix.dirname(path), file);
  return pages.has(target) ? `/manual/${target}${anchor === undefined ? '' : `#${anchor}`}` : undefined;
}
