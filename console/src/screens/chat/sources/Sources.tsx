import { ExternalLink, X } from 'lucide-react';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'react';
import { Link } from 'wouter';
import { usePage } from '../../../graphql/hooks.ts';
import { markPassage } from '../../../parts/markdown/marks.ts';
import { ReadText } from '../../../parts/markdown/ReadText.tsx';
import { readPlain } from '../../../parts/markdown/reading/plain.ts';
import { findSupport, type Range } from '../../../parts/markdown/reading/sentences.ts';
import { isMarkdown } from '../../../parts/markdown/reading/written.ts';
import { useText } from '../../../text/text.ts';
import { ErrorNote, Skeleton } from '../../../ui/feedback.tsx';
import { IconButton } from '../../../ui/form/button.tsx';
import { type OpenSources, useChat } from '../chat-context.ts';
import { type Chat_CitationFragment, ChatSourcesDocument, type ChatSourcesQuery } from '../documents.ts';
import styles from './sources.module.css';

type Passage = Extract<NonNullable<ChatSourcesQuery['node']>, { readonly citations: unknown }>['citations'][number];

/** The passages that an answer cites: the open one with the text around it, and a link to its place in the document. */
export function Sources({
  sources,
  onOpen,
  onClose,
}: {
  readonly sources: OpenSources;
  readonly onOpen: (index: number) => void;
  readonly onClose: () => void;
}) {
  const { t } = useText();
  const { box } = useChat();
  const { runId, messageId, citations, index, claim } = sources;
  const { data, error, isLoading } = usePage(
    ChatSourcesDocument,
    { messageId: messageId ?? '' },
    { pause: messageId === undefined },
  );
  const passages = data?.node !== undefined && data.node !== null && 'citations' in data.node ? data.node.citations : [];
  const panel = useRef<HTMLElement>(null);
  // The focus returns to the number that was followed, unless it is elsewhere by then; to where one writes, when an address opened the panel.
  useLayoutEffect(() => {
    const opener = document.activeElement;
    const element = panel.current;
    element?.focus();
    return () => {
      if (element?.contains(document.activeElement) !== true) return;
      if (opener instanceof HTMLElement && opener !== document.body && opener.isConnected) opener.focus();
      else box.current?.focus();
    };
  }, [box]);
  return (
    <aside
      ref={panel}
      className={styles.panel}
      aria-label={t('Sources')}
      tabIndex={-1}
      data-unprinted
      onKeyDown={(event) => event.key === 'Escape' && onClose()}
    >
      <header className={styles.head}>
        <h2>{t('Sources')}</h2>
        <IconButton label={t('Close the sources')} onClick={onClose}>
          <X size={18} aria-hidden />
        </IconButton>
      </header>
      <ErrorNote error={error} />
      <ol className={styles.list}>
        {citations.map((citation) => (
          <OneSource
            key={citation.index}
            citation={citation}
            passage={passages.find((each) => each.index === citation.index)}
            answerId={messageId ?? runId}
            claim={claim}
            isOpen={citation.index === index}
            isLoading={isLoading}
            onOpen={() => onOpen(citation.index)}
          />
        ))}
      </ol>
    </aside>
  );
}

function OneSource({
  citation,
  passage,
  answerId,
  claim,
  isOpen,
  isLoading,
  onOpen,
}: {
  readonly citation: Chat_CitationFragment;
  readonly passage: Passage | undefined;
  readonly answerId: string | undefined;
  readonly claim: string;
  readonly isOpen: boolean;
  readonly isLoading: boolean;
  readonly onOpen: () => void;
}) {
  const { t, number } = useText();
  const item = useRef<HTMLLIElement>(null);
  const support = useMemo(() => findSupport(passage?.content?.text ?? '', claim), [passage, claim]);
  const isRead = !isLoading && passage !== undefined;
  // What is marked in a passage scrolls into view by itself.
  useEffect(() => {
    if (isOpen && !isRead) item.current?.scrollIntoView({ block: 'nearest' });
  }, [isOpen, isRead]);
  const { name, headingPath, page, snippet, isHidden } = citation;
  const words = isHidden ? t('You may not open this document at its source any more. What the answer says stays.') : snippet;
  const place = [headingPath, page === null ? '' : t('page {page}', { page: number(page) })]
    .filter((part) => part !== '')
    .join(' · ');
  return (
    <li ref={item} className={styles.source} data-open={isOpen}>
      <button type="button" aria-expanded={isOpen} onClick={onOpen}>
        <span className={styles.number}>{citation.index}</span>
        <span className={styles.name}>
          {name}
          {place === '' ? null : <small>{place}</small>}
        </span>
      </button>
      {isOpen ? (
        <div className={styles.passage}>
          {isLoading ? <Skeleton lines={4} /> : <PassageText passage={passage} snippet={words} support={support} />}
          {isHidden ? null : <SourceLink citation={citation} passage={passage} support={support} answerId={answerId} />}
        </div>
      ) : (
        <p className={styles.snippet}>{isMarkdown(passage?.content?.mimeType) ? readPlain(words) || words : words}</p>
      )}
    </li>
  );
}

function PassageText({
  passage,
  snippet,
  support,
}: {
  readonly passage: Passage | undefined;
  readonly snippet: string;
  readonly support: Range | undefined;
}) {
  const { t } = useText();
  const content = passage?.content ?? undefined;
  const { text, marks } = useMemo(() => {
    const before = `${content?.isCutBefore === true ? '… ' : ''}${content?.before ?? ''}`;
    const after = `${content?.after ?? ''}${content?.isCutAfter === true ? ' …' : ''}`;
    const words = content?.text ?? '';
    return { text: before + words + after, marks: markPassage(before.length, words.length, support) };
  }, [content, support]);
  if (content === undefined || content.text === '') return <p className={styles.text}>{snippet}</p>;
  return (
    <>
      {content.isCurrent ? null : (
        <p className={styles.changed}>{t('The document has changed since: the place may hold another text.')}</p>
      )}
      <div className={styles.text}>
        <ReadText text={text} mimeType={content.mimeType} marks={marks} headingLevel={3} />
      </div>
    </>
  );
}

function SourceLink({
  citation,
  passage,
  support,
  answerId,
}: {
  readonly citation: Chat_CitationFragment;
  readonly passage: Passage | undefined;
  readonly support: Range | undefined;
  readonly answerId: string | undefined;
}) {
  const { t } = useText();
  const { chat } = useChat();
  const { knowledgeItemId, url, page, id, snippet } = citation;
  if (knowledgeItemId === '') {
    return (
      <a href={url} target="_blank" rel="noopener noreferrer" className={styles.link}>
        {t('Open {host}', { host: getHost(url) })} <ExternalLink size={14} aria-hidden />
      </a>
    );
  }
  const query = new URLSearchParams({ citation: id, chat: chat.id });
  if (answerId !== undefined) {
    query.set('answer', answerId);
    query.set('source', String(citation.index));
  }
  if (page !== null) query.set('page', String(page));
  // While the place of the passage is not known, its words lead to it.
  query.set('passage', passage === undefined ? snippet : `${passage.charStart}-${passage.charEnd}`);
  if (passage !== undefined && support !== undefined) {
    query.set('support', `${passage.charStart + support.start}-${passage.charStart + support.end}`);
  }
  return (
    <Link href={`/documents/${knowledgeItemId}?${query}`} className={styles.link}>
      {t('Open the document')}
    </Link>
  );
}

function getHost(address: string): string {
  return URL.canParse(address) ? new URL(address).host : address;
}
