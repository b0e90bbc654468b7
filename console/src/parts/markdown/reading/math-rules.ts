import type { TokenizerAndRendererExtension, TokenizerThis } from 'marked';

/** Mathematics as TeX. `isDisplay`: it stands on lines of its own. */
export interface MathToken {
  readonly type: 'math';
  readonly raw: string;
  readonly tex: string;
  readonly isDisplay: boolean;
}

/** Longer TeX is shown as it is written. */
const texMax = 5_000;
// No empty line stands within: a sum that nobody closes ends with its paragraph.
const blockPatterns = {
  dollars: /^ {0,3}\$\$((?:(?!\n[ \t]*\n|\$\$)[\s\S])+)\$\$[ \t]*(?:\n|$)/,
  brackets: /^ {0,3}\\\[((?:(?!\n[ \t]*\n|\\\])[\s\S])+)\\\][ \t]*(?:\n|$)/,
};
const inlinePatterns = {
  display: /^\$\$((?:(?!\$\$)[\s\S])+)\$\$/,
  // A price is none: the first sign touches what follows it, the last what is before it, and no digit or letter follows.
  inline: /^\$(?![\s$])((?:\\[^\n]|[^\\$\n])+)(?<!\s)\$(?![\w$])/,
  parentheses: /^\\\(((?:(?!\\\)|\\\()[\s\S])+)\\\)/,
  brackets: /^\\\[((?:(?!\\\]|\\\[)[\s\S])+)\\\]/,
};

/** The rules of mathematics: between dollars, and where models write also between `\(…\)` and `\[…\]`, which are escaped brackets in other texts. */
export function mathExtensions(dialect: 'answer' | 'document'): TokenizerAndRendererExtension[] {
  const isAnswer = dialect === 'answer';
  const blockStart = isAnswer ? /\n {0,3}(?:\$\$|\\\[)/ : /\n {0,3}\$\$/;
  const inlineStart = isAnswer ? /(?<![\w\\$])\$|\$\$|\\[([]/ : /(?<![\w\\$])\$|\$\$/;
  return [
    {
      name: 'mathBlock',
      level: 'block',
      start: (source) => blockStart.exec(source)?.index,
      tokenizer(source) {
        const match = blockPatterns.dollars.exec(source) ?? (isAnswer ? blockPatterns.brackets.exec(source) : null);
        return makeToken(match, true);
      },
    },
    {
      name: 'math',
      level: 'inline',
      start: (source) => inlineStart.exec(source)?.index,
      tokenizer(this: TokenizerThis, source) {
        if (!/^(?:\$|\\[([])/.test(source)) return undefined;
        const display = inlinePatterns.display.exec(source) ?? (isAnswer ? inlinePatterns.brackets.exec(source) : null);
        if (display !== null) return makeToken(display, true);
        const match = inlinePatterns.inline.exec(source);
        if (match !== null) return isProse(match[1] ?? '') ? undefined : makeToken(match, false);
        return isAnswer ? makeToken(inlinePatterns.parentheses.exec(source), false) : undefined;
      },
    },
  ];
}

function makeToken(match: RegExpExecArray | null, isDisplay: boolean): MathToken | undefined {
  const [raw, tex] = match ?? [];
  if (raw === undefined || tex === undefined || tex.trim() === '' || tex.length > texMax) return undefined;
  return { type: 'math', raw, tex: tex.trim(), isDisplay };
}

/** Whether what stands between two dollars is a sentence about money. */
function isProse(text: string): boolean {
  const words = text.replace(/\\[A-Za-z]+(?:\{[^{}]*\})?/g, ' ');
  if (/(?:^|\s)[\p{L}’']{2,}[,;:]?\s+[\p{L}’']{2,}/u.test(words)) return true;
  return /^[\d.,]+\S*\s/.test(text) && !/[\\^_{}=<>+*/-]/.test(text);
}
