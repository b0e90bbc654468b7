import type { Token, Tokens } from 'marked';
import { splitBlocks } from './blocks.ts';
import { readTokens } from './dialect.ts';
import { decodeEntities } from './entities.ts';

/** An answer as a voice reads it: without marks, code, numbers of citations and addresses. */
export function readPlain(text: string): string {
  const { blocks, definitions } = splitBlocks(text, 'answer');
  return blocks
    .map(({ source }) => readAll(readTokens(source, 'answer', definitions)))
    .join('\n')
    .replaceAll(/\s?\[\d{1,3}\]/g, '')
    .replaceAll(/[ \t]*\n\s*/g, '\n')
    .trim();
}

function readAll(tokens: readonly Token[]): string {
  return tokens.map(readToken).join('');
}

function readToken(token: Token): string {
  switch (token.type) {
    case 'code':
    case 'definition':
    case 'hr':
    case 'html':
    case 'footnoteMark':
      return '';
    case 'br':
    case 'space':
      return '\n';
    case 'list':
      return (token as Tokens.List).items.map(({ tokens }) => `${readAll(tokens)}\n`).join('');
    case 'table': {
      const { header, rows } = token as Tokens.Table;
      return [header, ...rows].map((row) => `${row.map(({ tokens }) => readAll(tokens)).join(', ')}\n`).join('');
    }
    default:
      return readInside(token);
  }
}

function readInside(token: Token): string {
  const inside = 'tokens' in token ? token.tokens : undefined;
  const isBlock = ['paragraph', 'heading', 'blockquote', 'details'].includes(token.type);
  if (inside !== undefined && inside.length > 0) return `${readAll(inside)}${isBlock ? '\n' : ''}`;
  return 'text' in token && typeof token.text === 'string' ? decodeEntities(token.text) : '';
}
