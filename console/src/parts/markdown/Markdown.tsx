import type { Tokens } from 'marked';
import { Lexer } from 'marked';
import { memo, useMemo, useRef } from 'react';
import { noBlocks, splitBlocks } from './blocks.ts';
import { CodeBlock } from './CodeBlock.tsx';
import { InlineTokens } from './Inline.tsx';
import styles from './markdown.module.css';

/**
 * Markdown as elements of React; never as HTML: what stands in it as HTML is shown as text. While a text grows, only its last block is read and drawn
 * again. `isGrowing`: its last piece of code is not colored yet.
 */
export function Markdown({ text, isGrowing = false }: { readonly text: string; readonly isGrowing?: boolean }) {
  const before = useRef(noBlocks);
  const { blocks } = useMemo(() => {
    before.current = splitBlocks(text, before.current);
    return before.current;
  }, [text]);
  return (
    <div className={styles.markdown}>
      {blocks.map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks are only added, and the last one grows
        <Block key={index} source={block} isGrowing={isGrowing && index === blocks.length - 1} />
      ))}
    </div>
  );
}

const Block = memo(function Block({ source, isGrowing }: { readonly source: string; readonly isGrowing: boolean }) {
  const tokens = useMemo(() => new Lexer({ gfm: true }).lex(source), [source]);
  return <BlockTokens tokens={tokens as readonly BlockToken[]} isGrowing={isGrowing} />;
});

type BlockToken =
  | Tokens.Heading
  | Tokens.Paragraph
  | Tokens.Text
  | Tokens.List
  | Tokens.Table
  | Tokens.Blockquote
  | Tokens.Code
  | Tokens.HTML
  | Tokens.Hr
  | Tokens.Space
  | Tokens.Def;

function BlockTokens({ tokens, isGrowing }: { readonly tokens: readonly BlockToken[]; readonly isGrowing: boolean }) {
  return tokens.map((token, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: tokens have no identity of their own
    <OneBlock key={index} token={token} isGrowing={isGrowing} />
  ));
}

function OneBlock({ token, isGrowing }: { readonly token: BlockToken; readonly isGrowing: boolean }) {
  switch (token.type) {
    case 'heading': {
      // The page has its own h1 and h2.
      const Heading = `h${Math.min(token.depth + 2, 6)}` as 'h3' | 'h4' | 'h5' | 'h6';
      return (
        <Heading data-depth={token.depth}>
          <InlineTokens tokens={token.tokens} />
        </Heading>
      );
    }
    case 'paragraph':
      return (
        <p>
          <InlineTokens tokens={token.tokens} />
        </p>
      );
    case 'text':
      return 'tokens' in token && token.tokens !== undefined ? <InlineTokens tokens={token.tokens} /> : token.text;
    case 'blockquote':
      return (
        <blockquote>
          <BlockTokens tokens={(token.tokens ?? []) as readonly BlockToken[]} isGrowing={isGrowing} />
        </blockquote>
      );
    case 'code':
      return <CodeBlock code={token.text} language={token.lang} isGrowing={isGrowing} />;
    case 'list':
      return <List list={token as Tokens.List} isGrowing={isGrowing} />;
    case 'table':
      return <TableBlock table={token as Tokens.Table} />;
    case 'hr':
      return <hr />;
    case 'html':
      return <p>{token.text.trim()}</p>;
    default:
      return null;
  }
}

function List({ list, isGrowing }: { readonly list: Tokens.List; readonly isGrowing: boolean }) {
  const items = list.items.map((item, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: items have no identity of their own
    <li key={index} data-task={item.task || undefined}>
      {item.task ? <input type="checkbox" checked={item.checked === true} disabled aria-label={item.text} /> : null}
      <BlockTokens tokens={item.tokens as readonly BlockToken[]} isGrowing={isGrowing} />
    </li>
  ));
  if (!list.ordered) return <ul>{items}</ul>;
  return <ol start={typeof list.start === 'number' ? list.start : 1}>{items}</ol>;
}

function TableBlock({ table }: { readonly table: Tokens.Table }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <div className={styles.table} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {table.header.map((cell, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: columns have no identity of their own
              <th key={index} data-align={cell.align ?? undefined}>
                <InlineTokens tokens={cell.tokens} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity of their own
            <tr key={index}>
              {row.map((cell, column) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: columns have no identity of their own
                <td key={column} data-align={cell.align ?? undefined}>
                  <InlineTokens tokens={cell.tokens} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
