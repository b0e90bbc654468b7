import type { Token, Tokens } from 'marked';
import { Fragment, type ReactNode } from 'react';
import { CitationMark } from './citations.tsx';
import styles from './markdown.module.css';

/** What stands within a line: emphasis, code, links, numbers of citations. */
export function InlineTokens({ tokens }: { readonly tokens: readonly Token[] }) {
  return tokens.map((token, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: tokens have no identity of their own
    <Fragment key={index}>{inline(token)}</Fragment>
  ));
}

function inline(token: Token): ReactNode {
  switch (token.type) {
    case 'strong':
      return (
        <strong>
          <InlineTokens tokens={token.tokens ?? []} />
        </strong>
      );
    case 'em':
      return (
        <em>
          <InlineTokens tokens={token.tokens ?? []} />
        </em>
      );
    case 'del':
      return (
        <del>
          <InlineTokens tokens={token.tokens ?? []} />
        </del>
      );
    case 'codespan':
      return <code>{token.text}</code>;
    case 'br':
      return <br />;
    case 'link':
      return <SafeLink link={token as Tokens.Link} />;
    case 'image':
      return <SafeImage image={token as Tokens.Image} />;
    case 'text':
      if (token.tokens !== undefined) return <InlineTokens tokens={token.tokens} />;
      return withCitations(unescaped(token.text));
    case 'escape':
      return unescaped(token.text);
    case 'html':
      return token.raw;
    default:
      return token.raw;
  }
}

/** `marked` leaves entities as they were written. */
const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", nbsp: ' ' };

function unescaped(text: string): string {
  return text.replaceAll(/&(amp|lt|gt|quot|#39|nbsp);/g, (whole, name: string) => entities[name] ?? whole);
}

function withCitations(text: string): ReactNode {
  if (!text.includes('[')) return text;
  return text.split(/(\[\d{1,3}\])/).map((piece, index) => {
    const number = /^\[(\d+)\]$/.exec(piece)?.[1];
    // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no identity of their own
    return number === undefined ? piece : <CitationMark key={index} index={Number(number)} />;
  });
}

function webAddress(href: string): URL | undefined {
  try {
    const url = new URL(href, location.origin);
    return ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url : undefined;
  } catch {
    return undefined;
  }
}

/** A link that a model wrote: it shows where it leads, and the page it leads to learns nothing of this one. */
function SafeLink({ link }: { readonly link: Tokens.Link }) {
  const url = webAddress(link.href);
  const words = <InlineTokens tokens={link.tokens} />;
  if (url === undefined) return <>{words}</>;
  const host = url.protocol === 'mailto:' ? url.pathname : url.host;
  const isForeign = url.origin !== location.origin;
  const showsHost = isForeign && !link.text.includes(host);
  return (
    <a href={url.href} target="_blank" rel="noopener noreferrer" title={url.href}>
      {words}
      {showsHost ? <span className={styles.host}> ({host})</span> : null}
    </a>
  );
}

/** Images of this origin are shown. Those of others are not fetched, which would tell them who reads what: they are links. */
function SafeImage({ image }: { readonly image: Tokens.Image }) {
  const url = webAddress(image.href);
  const words = image.text === '' ? image.href : image.text;
  if (url === undefined) return <>{words}</>;
  if (url.origin === location.origin) return <img src={url.href} alt={image.text} loading="lazy" />;
  return (
    <a href={url.href} target="_blank" rel="noopener noreferrer" title={url.href}>
      {words}
      <span className={styles.host}> ({url.host})</span>
    </a>
  );
}
