import type { Token, Tokens } from 'marked';
import { useText } from '../../text/text.ts';
import { CodeBlock } from './CodeBlock.tsx';
import { Diagram } from './Diagram.tsx';
import { CodeWords, InlineTokens, TaskBox, TaskContext, useIsMarked } from './Inline.tsx';
import { MathText } from './MathText.tsx';
import styles from './markdown.module.css';
import type { DetailsToken } from './reading/details.ts';
import { findDirection } from './reading/direction.ts';
import type { MathToken } from './reading/math-rules.ts';

/** Of headings within a quotation, a list or a footnote: they are none of the page. */
export const lowestLevel = 7;

/**
 * Blocks of Markdown. Each begins on the side of its first letter. `isGrowing`: the last piece of code is not drawn in another form yet. `level`: of its
 * headings in the page.
 */
export function BlockTokens({
  tokens,
  isGrowing,
  level = lowestLevel,
}: {
  readonly tokens: readonly Token[];
  readonly isGrowing: boolean;
  readonly level?: number;
}) {
  return tokens.map((token, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: tokens have no identity of their own
    <OneBlock key={index} token={token} isGrowing={isGrowing} level={level} />
  ));
}

function OneBlock({ token, isGrowing, level }: { readonly token: Token; readonly isGrowing: boolean; readonly level: number }) {
  switch (token.type) {
    case 'space':
      return null;
    case 'heading': {
      const Heading = level === lowestLevel ? 'p' : (`h${level}` as 'h3');
      return (
        <Heading data-depth={token.depth} dir="auto">
          <InlineTokens tokens={token.tokens ?? []} />
        </Heading>
      );
    }
    case 'paragraph':
      return (
        <p dir="auto">
          <InlineTokens tokens={token.tokens ?? []} />
        </p>
      );
    case 'text':
      return <InlineTokens tokens={token.tokens ?? [token]} />;
    case 'blockquote':
      return (
        <blockquote dir={findDirection(token.raw)}>
          <BlockTokens tokens={token.tokens ?? []} isGrowing={isGrowing} />
        </blockquote>
      );
    case 'code':
      return <Code token={token as Tokens.Code} isGrowing={isGrowing} />;
    case 'math':
      return <MathText math={token as MathToken} />;
    case 'list':
      return <List list={token as Tokens.List} isGrowing={isGrowing} />;
    case 'checkbox':
      return <TaskBox isDone={(token as Tokens.Checkbox).checked} />;
    case 'table':
      return <TableBlock table={token as Tokens.Table} />;
    case 'hr':
      return <hr />;
    case 'details':
      return <Details details={token as unknown as DetailsToken} isGrowing={isGrowing} />;
    default:
      // A definition that nothing refers to, a footnote within a list, and what nobody foresaw: as it is written.
      return <p dir="auto">{token.raw.trim()}</p>;
  }
}

function Code({ token, isGrowing }: { readonly token: Tokens.Code; readonly isGrowing: boolean }) {
  const isMarked = useIsMarked(token);
  const language = token.lang
    ?.trim()
    .split(/[\s{,]/)[0]
    ?.toLowerCase();
  if (isMarked)
    return <CodeBlock code={token.text} language={token.lang} isGrowing={false} marked={<CodeWords token={token} />} />;
  if (!isGrowing && language === 'math')
    return <MathText math={{ type: 'math', raw: token.text, tex: token.text, isDisplay: true }} />;
  if (!isGrowing && language === 'mermaid') return <Diagram source={token.text} />;
  return <CodeBlock code={token.text} language={token.lang} isGrowing={isGrowing} />;
}

function List({ list, isGrowing }: { readonly list: Tokens.List; readonly isGrowing: boolean }) {
  const items = list.items.map((item, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: items have no identity of their own
    <li key={index} data-task={item.task || undefined}>
      <TaskContext value={item.text.replaceAll(/[*_`~]/g, '').trim()}>
        <BlockTokens tokens={item.tokens} isGrowing={isGrowing} />
      </TaskContext>
    </li>
  ));
  const direction = findDirection(list.raw);
  if (!list.ordered) return <ul dir={direction}>{items}</ul>;
  return (
    <ol dir={direction} start={typeof list.start === 'number' ? list.start : 1}>
      {items}
    </ol>
  );
}

function TableBlock({ table }: { readonly table: Tokens.Table }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <div className={styles.table} tabIndex={0} dir={findDirection(table.raw)}>
      <table>
        <thead>
          <tr>
            {table.header.map((cell, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: columns have no identity of their own
              <th key={index} data-align={cell.align ?? undefined} dir="auto">
                <InlineTokens tokens={cell.tokens} isCell />
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
                <td key={column} data-align={cell.align ?? undefined} dir="auto">
                  <InlineTokens tokens={cell.tokens} isCell />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Details({ details, isGrowing }: { readonly details: DetailsToken; readonly isGrowing: boolean }) {
  const { t } = useText();
  const { summary, tokens, isClosed, isOpen } = details;
  return (
    <details className={styles.details} open={isOpen || !isClosed}>
      <summary dir="auto">{summary.length === 0 ? t('Details') : <InlineTokens tokens={summary} />}</summary>
      <BlockTokens tokens={tokens} isGrowing={isGrowing && !isClosed} />
    </details>
  );
}
