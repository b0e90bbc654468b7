import type { Token, Tokens } from 'marked';
import { createContext, Fragment, type ReactNode, use } from 'react';
import { CitationMark, CitationsContext } from './citations.tsx';
import { FootnoteMark } from './Footnotes.tsx';
import { MathText } from './MathText.tsx';
import styles from './markdown.module.css';
import { MarksContext, splitByMarks } from './marks.ts';
import type { Dialect } from './reading/dialect.ts';
import { decodeEntities } from './reading/entities.ts';
import type { MathToken } from './reading/math-rules.ts';

/** What stands within a line: emphasis, code, links, numbers of citations. `isCell`: in a cell, where only a tag can break a line. */
export function InlineTokens({ tokens, isCell = false }: { readonly tokens: readonly Token[]; readonly isCell?: boolean }) {
  return tokens.map((token, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: tokens have no identity of their own
    <Fragment key={index}>{isCell && isBreak(token) ? <br /> : inline(token)}</Fragment>
  ));
}

const isBreak = ({ type, raw }: Token) => type === 'html' && /^<br\s*\/?>$/i.test(raw);

const emphases = { strong: 'strong', em: 'em', del: 'del' } as const;

function inline(token: Token): ReactNode {
  switch (token.type) {
    case 'strong':
    case 'em':
    case 'del': {
      const Emphasis = emphases[token.type as keyof typeof emphases];
      return (
        <Emphasis>
          <InlineTokens tokens={token.tokens ?? []} />
        </Emphasis>
      );
    }
    case 'codespan':
      return (
        <code dir="ltr">
          <Words token={token} text={token.text} />
        </code>
      );
    case 'br':
      return <br />;
    case 'link':
      return <SafeLink link={token as Tokens.Link} />;
    case 'image':
      return <SafeImage image={token as Tokens.Image} />;
    case 'checkbox':
      return <TaskBox isDone={(token as Tokens.Checkbox).checked} />;
    case 'math':
      return <MathText math={token as MathToken} />;
    case 'footnoteMark':
      return <FootnoteMark label={token.label} raw={token.raw} />;
    case 'text':
      if (token.tokens !== undefined) return <InlineTokens tokens={token.tokens} />;
      return <Words token={token} text={token.text} draw={(text) => withCitations(decodeEntities(text))} />;
    case 'escape':
      return <Words token={token} text={token.text} />;
    default:
      // HTML, and what nobody foresaw: as it is written.
      return <Words token={token} text={token.raw} />;
  }
}

const asIs = (text: string): ReactNode => text;

/** A text, with the parts of it that are marked. */
function Words({
  token,
  text,
  draw = asIs,
}: {
  readonly token: Token;
  readonly text: string;
  readonly draw?: (text: string) => ReactNode;
}) {
  const placed = use(MarksContext);
  const place = placed?.places.get(token);
  if (placed === undefined || place === undefined) return draw(text);
  return splitByMarks(text, place, placed.marks).map(({ text: piece, kind }, index) =>
    kind === undefined ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no identity of their own
      <Fragment key={index}>{draw(piece)}</Fragment>
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no identity of their own
      <mark key={index} data-kind={kind}>
        {draw(piece)}
      </mark>
    ),
  );
}

/** Code of a block, with the parts of it that are marked. */
export function CodeWords({ token }: { readonly token: Tokens.Code }) {
  return <Words token={token} text={token.text} />;
}

/** Whether something of a code block is marked, which its colors would hide. */
export function useIsMarked(token: Token): boolean {
  const placed = use(MarksContext);
  const place = placed?.places.get(token);
  return place !== undefined && placed?.marks.some(({ start, end }) => start < place + token.raw.length && end > place) === true;
}

/** The words of the task around. */
export const TaskContext = createContext('');

export function TaskBox({ isDone }: { readonly isDone: boolean }) {
  return <input type="checkbox" checked={isDone} disabled aria-label={use(TaskContext)} />;
}

function withCitations(text: string): ReactNode {
  if (!text.includes('[')) return text;
  return text.split(/(\[\d{1,3}\])/).map((piece, index) => {
    const number = citedNumber(piece);
    // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no identity of their own
    return number === undefined ? piece : <CitationMark key={index} index={number} />;
  });
}

function citedNumber(raw: string): number | undefined {
  const number = /^\[(\d{1,3})\]$/.exec(raw)?.[1];
  return number === undefined ? undefined : Number(number);
}

/** How the text around is written. What a document names beside itself is not here: addresses in it must be whole. */
export const DialectContext = createContext<Dialect>('answer');

/** Where a link leads; undefined where it leads nowhere. */
export function readAddress(href: string, dialect: Dialect): URL | undefined {
  try {
    const url = new URL(decodeEntities(href), dialect === 'answer' ? location.origin : undefined);
    return ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url : undefined;
  } catch {
    return undefined;
  }
}

/** A link that a model wrote: it shows where it leads, and the page it leads to learns nothing of this one. What leads nowhere is shown as it is written. */
function SafeLink({ link }: { readonly link: Tokens.Link }) {
  const dialect = use(DialectContext);
  const { citations } = use(CitationsContext);
  const number = citedNumber(link.raw);
  if (number !== undefined && citations.some(({ index }) => index === number)) return <CitationMark index={number} />;
  const url = readAddress(link.href, dialect);
  if (url === undefined) return dialect === 'answer' ? link.raw : <InlineTokens tokens={link.tokens} />;
  return (
    <OutsideLink url={url} title={link.title} words={link.text}>
      <InlineTokens tokens={link.tokens} />
    </OutsideLink>
  );
}

/** Images of this origin are shown. Those of others are not fetched, which would tell them who reads what: they are links. */
function SafeImage({ image }: { readonly image: Tokens.Image }) {
  const dialect = use(DialectContext);
  const url = readAddress(image.href, dialect);
  if (url === undefined) return dialect === 'answer' ? image.raw : <span className={styles.host}>[{image.text}]</span>;
  if (dialect === 'answer' && url.origin === location.origin) return <img src={url.href} alt={image.text} loading="lazy" />;
  const words = image.text === '' ? image.href : decodeEntities(image.text);
  return (
    <OutsideLink url={url} title={image.title} words={words}>
      {words}
    </OutsideLink>
  );
}

/** @param words  what the link says, which may name the host already. */
export function OutsideLink({
  url,
  title,
  words,
  children,
}: {
  readonly url: URL;
  readonly title?: string | null | undefined;
  readonly words: string;
  readonly children: ReactNode;
}) {
  const host = url.protocol === 'mailto:' ? url.pathname : url.host;
  const showsHost = url.origin !== location.origin && !words.includes(host);
  return (
    <a
      href={url.href}
      target="_blank"
      rel="noopener noreferrer"
      title={title == null || title === '' ? url.href : `${decodeEntities(title)}: ${url.href}`}
    >
      {children}
      {showsHost ? <span className={styles.host}> ({host})</span> : null}
    </a>
  );
}
