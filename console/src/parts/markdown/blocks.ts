import { Lexer, type Token } from 'marked';

/** The blocks of a Markdown text, each by its source: a paragraph, a list, a table, a piece of code. */
export interface Blocks {
  readonly text: string;
  readonly blocks: readonly string[];
  /** Where the last block begins: what stands before it cannot change any more when the text grows. */
  readonly lastStart: number;
}

export const noBlocks: Blocks = { text: '', blocks: [], lastStart: 0 };

/** The blocks of a text. Of a text that continues the one before, only the last block is read again. */
export function splitBlocks(text: string, before: Blocks): Blocks {
  const goesOn = before.blocks.length > 0 && text.length >= before.text.length && text.startsWith(before.text);
  if (goesOn && text.length === before.text.length) return before;
  const stableBlocks = goesOn ? before.blocks.slice(0, -1) : [];
  const start = goesOn ? before.lastStart : 0;
  const fresh: string[] = [];
  let place = start;
  let lastStart = start;
  for (const { type, raw } of topTokens(text.slice(start))) {
    // An empty line may stand within a list that goes on: it ends a block only when another one follows.
    if (type !== 'space') {
      fresh.push(raw);
      lastStart = place;
    }
    place += raw.length;
  }
  return { text, blocks: [...stableBlocks, ...fresh], lastStart };
}

function topTokens(source: string): readonly Token[] {
  // The lexer reads `\r\n` as `\n`, which moves places: services send `\n`.
  return new Lexer({ gfm: true }).blockTokens(source, []);
}
