import { Lexer, Marked, type MarkedOptions, type Token, type TokensList } from 'marked';
import { detailsBlock } from './details.ts';
import { mathExtensions } from './math-rules.ts';

/** Where reference links lead, by the label in lower case. */
export type Definitions = TokensList['links'];
export const noDefinitions: Definitions = {};

/**
 * How a text is read. `answer`: as models write, where each line break counts and mathematics may stand in `\(…\)`. `document`: as files are written,
 * in which lines are wrapped and brackets escaped.
 */
export type Dialect = 'answer' | 'document';

/** The text of a footnote, under its label. */
export interface FootnoteToken {
  readonly type: 'footnote';
  readonly raw: string;
  readonly label: string;
  readonly text: string;
}

const definitionPattern =
  /^ {0,3}\[((?!\^|\s*\])(?:\\[\s\S]|[^[\]\\]){1,999})\]:[ \t]*(?:\n[ \t]*)?(<[^<>\n]*>|[^<\s]\S*)(?:(?:[ \t]+(?:\n[ \t]*)?|[ \t]*\n[ \t]*)("[^"\n]*"|'[^'\n]*'|\([^()\n]*\)))?[ \t]*(?:\n+|$)/;
/** Its first line, lines that go on, and paragraphs that are indented. */
const footnotePattern =
  /^ {0,3}\[\^([^\s\]]{1,80})\]:[ \t]*([^\n]*(?:\n(?![ \t]*\n| {0,3}\[\^[^\s\]]{1,80}\]:)[^\n]+|\n(?:[ \t]*\n)+(?: {4}|\t)[^\n]+)*)(?:\n|$)/;
const footnoteMarkPattern = /^\[\^([^\s\]]{1,80})\]/;

/** The label of a definition as `marked` looks for it. */
export const tidyLabel = (label: string) => label.trim().replace(/\s+/g, ' ').toLowerCase().toUpperCase().toLowerCase();

function makeOptions(dialect: Dialect): MarkedOptions {
  const marked = new Marked({ gfm: true, breaks: dialect === 'answer' });
  marked.use({
    extensions: [
      detailsBlock,
      {
        name: 'footnote',
        level: 'block',
        tokenizer(source) {
          const [raw, label = '', text = ''] = footnotePattern.exec(source) ?? [];
          if (raw === undefined) return undefined;
          return { type: 'footnote', raw, label, text: text.replace(/\n(?: {1,4}|\t)/g, '\n') };
        },
      },
      {
        // Kept in its place also when another one came before.
        name: 'definition',
        level: 'block',
        tokenizer(source) {
          const [raw, label = '', href = '', title] = definitionPattern.exec(source) ?? [];
          if (raw === undefined) return undefined;
          const tag = tidyLabel(label);
          const { links } = this.lexer.tokens;
          links[tag] ??= { href: href.replace(/^<(.*)>$/, '$1'), title: title === undefined ? null : title.slice(1, -1) };
          return { type: 'definition', raw, label: tag };
        },
      },
      {
        name: 'footnoteMark',
        level: 'inline',
        start: (source) => source.indexOf('[^'),
        tokenizer(source) {
          const [raw, label] = footnoteMarkPattern.exec(source) ?? [];
          return raw === undefined ? undefined : { type: 'footnoteMark', raw, label };
        },
      },
      ...mathExtensions(dialect),
    ],
    tokenizer: {
      // HTML is text: its block would keep the Markdown within from being read.
      html: () => undefined,
      // `a*b*c` and `2**3**4` are products and powers.
      emStrong: (source, _masked, before = '') =>
        (/^\*[A-Za-z0-9]/.test(source) && /[A-Za-z0-9]/.test(before)) || (/^\*{1,2}\d/.test(source) && /[\d*]/.test(before))
          ? undefined
          : false,
      // `~5` is about five.
      del: (source) => (source.startsWith('~~') ? false : undefined),
    },
  });
  return marked.defaults;
}

const options: Readonly<Record<Dialect, MarkedOptions>> = {
  answer: makeOptions('answer'),
  document: makeOptions('document'),
};

/** The top tokens of a text, without what is in their lines, and the definitions that stand in it. The text has no `\r`. */
export function readBlocks(
  source: string,
  dialect: Dialect,
): { readonly tokens: readonly Token[]; readonly definitions: Definitions } {
  const lexer = new Lexer(options[dialect]);
  const tokens = lexer.blockTokens(source, []);
  return { tokens, definitions: { ...lexer.tokens.links } };
}

/** All tokens of a text, whose reference links lead where the definitions say. */
export function readTokens(source: string, dialect: Dialect, definitions: Definitions): readonly Token[] {
  const lexer = new Lexer(options[dialect]);
  Object.assign(lexer.tokens.links, definitions);
  return lexer.lex(source);
}
