import type { Token, TokenizerAndRendererExtension } from 'marked';

/** `<details>`: what a reader opens. */
export interface DetailsToken {
  readonly type: 'details';
  readonly raw: string;
  /** Of the line that is always seen; empty for none. */
  readonly summary: readonly Token[];
  readonly tokens: readonly Token[];
  /** Whether its end is there: one without an end holds everything behind it, and is shown open. */
  readonly isClosed: boolean;
  readonly isOpen: boolean;
}

const opening = /^ {0,3}<details(\s+open(?:="[^"\n]*")?)?\s*>(?=[ \t]*(?:\n|$|<summary))/i;
const summaryPattern = /^\s*<summary>([\s\S]*?)<\/summary>/i;
const fence = /^ {0,3}(`{3,}|~{3,})/;

/** A block that begins with a line of `<details>` and ends with its `</details>`; what is between is Markdown. */
export const detailsBlock: TokenizerAndRendererExtension = {
  name: 'details',
  level: 'block',
  start: (source) => /\n {0,3}<details[\s>]/i.exec(source)?.index,
  tokenizer(source) {
    const [start, openWord] = opening.exec(source) ?? [];
    if (start === undefined) return undefined;
    const { end, rawEnd, isClosed } = findEnd(source, start.length);
    const body = source.slice(start.length, end);
    const [summaryText = '', words = ''] = summaryPattern.exec(body) ?? [];
    const token = { type: 'details', raw: source.slice(0, rawEnd), isClosed, isOpen: openWord !== undefined };
    const { top } = this.lexer.state;
    this.lexer.state.top = true;
    const tokens = this.lexer.blockTokens(body.slice(summaryText.length).replace(/^\s*\n/, ''), []);
    this.lexer.state.top = top;
    return { ...token, tokens, summary: this.lexer.inline(words.trim()) };
  },
};

/** Where its content ends, and where it ends itself. Tags within code are no tags. */
function findEnd(source: string, from: number): { readonly end: number; readonly rawEnd: number; readonly isClosed: boolean } {
  let depth = 1;
  let place = from;
  let openFence: string | undefined;
  for (const line of source.slice(from).split('\n')) {
    const mark = fence.exec(line)?.[1];
    if (openFence !== undefined) {
      if (mark?.startsWith(openFence) === true) openFence = undefined;
    } else if (mark === undefined) {
      for (const { 0: tag, index } of line.matchAll(/<details(?=[\s>])|<\/details>/gi)) {
        depth += tag.startsWith('</') ? -1 : 1;
        const rawEnd = place + index + tag.length;
        if (depth === 0) return { end: place + index, rawEnd: rawEnd + (source[rawEnd] === '\n' ? 1 : 0), isClosed: true };
      }
    } else openFence = mark;
    place += line.length + 1;
  }
  return { end: source.length, rawEnd: source.length, isClosed: false };
}
