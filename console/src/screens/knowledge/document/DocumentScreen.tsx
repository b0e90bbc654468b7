import { ArrowLeft, Download, ExternalLink } from 'lucide-react';
import { lazy, Suspense, useMemo, useState } from 'react';
import { Link, useSearch } from 'wouter';
import { usePage } from '../../../graphql/hooks.ts';
import { ownPath } from '../../../parts/files/own-path.ts';
import { useText } from '../../../text/text.ts';
import { EmptyState, ErrorNote, Note, Skeleton } from '../../../ui/feedback.tsx';
import { Button, ButtonLink } from '../../../ui/form/button.tsx';
import { Page, PageSkeleton } from '../../../ui/page.tsx';
import { DocumentPageDocument } from '../documents.ts';
import styles from './document.module.css';
import { FetchedText } from './FetchedText.tsx';
import { ItemText } from './ItemText.tsx';
import { PassageText } from './PassageText.tsx';
import type { CitedDocument } from './place.ts';
import { isElsewhere, type WantedPassage, wantedPassage } from './place.ts';

const PdfView = lazy(() => import('./PdfView.tsx').then(({ PdfView: view }) => ({ default: view })));

/** A document, open at the passage that its address names: PDF as its pages, everything else as the text that was read. */
export function DocumentScreen({ id }: { readonly id: string }) {
  const { t } = useText();
  const search = useSearch();
  const target = useMemo(() => wantedPassage(search), [search]);
  const { range, passageId } = target;
  const { data, error, isLoading, reload } = usePage(DocumentPageDocument, {
    id,
    passageId: passageId ?? null,
    charStart: range?.start ?? 0,
    charEnd: range?.end ?? 0,
    hasPassage: range !== undefined,
  });
  const document = data?.citedDocument;
  if (document === null || error?.code === 'NOT_FOUND') return <NotThere />;
  if (document === undefined) {
    if (isLoading) return <PageSkeleton />;
    return (
      <Page title={t('Knowledge')}>
        <ErrorNote error={error} onRetry={reload} />
      </Page>
    );
  }
  return <Content document={document} wanted={target} />;
}

function Content({ document, wanted }: { readonly document: CitedDocument; readonly wanted: WantedPassage }) {
  const { t } = useText();
  const { name, url, mimeType, passage, item } = document;
  // Each reply signs it anew: the first link is good for an hour.
  const [downloadUrl] = useState(document.downloadUrl);
  const isPdf = mimeType === 'application/pdf' && downloadUrl !== null;
  const [isText, setText] = useState(false);
  const [failure, setFailure] = useState<string>();
  const page = wanted.page ?? passage?.page ?? undefined;
  const where = [passage?.headingPath, page === undefined ? undefined : t('page {page}', { page })].filter(
    (part) => part !== undefined && part !== '',
  );
  const words = passage?.text ?? wanted.text;
  const showsPages = isPdf && !isText && failure === undefined;
  return (
    <Page
      title={name}
      lead={
        <>
          {item?.source == null ? null : <Link href={`/knowledge/${item.source.id}`}>{item.source.name}</Link>}
          {item?.source == null || where.length === 0 ? '' : ' · '}
          {where.join(' · ')}
        </>
      }
      actions={
        <>
          {isPdf && failure === undefined ? (
            <Button onClick={() => setText(!isText)}>{isText ? t('Show the pages') : t('Show the text')}</Button>
          ) : null}
          {url !== null && isElsewhere(url) ? (
            <a className={styles.link} href={url} target="_blank" rel="noopener noreferrer">
              <ExternalLink size={16} aria-hidden />
              {t('Open at {host}', { host: new URL(url).host })}
            </a>
          ) : null}
          {downloadUrl === null ? null : (
            <a className={styles.link} href={ownPath(downloadUrl)} download>
              <Download size={16} aria-hidden />
              {t('Download')}
            </a>
          )}
        </>
      }
    >
      {wanted.back === undefined ? null : (
        <Link href={wanted.back} className={styles.back}>
          <ArrowLeft size={16} aria-hidden />
          {t('Back to the answer')}
        </Link>
      )}
      {passage?.isCurrent === false ? (
        <Note tone="warn">{t('The document was read again after it was cited, so the passage may stand elsewhere in it.')}</Note>
      ) : null}
      {failure === undefined ? null : <Note tone="warn">{t('The pages cannot be shown: {reason}', { reason: failure })}</Note>}
      <section aria-label={t('Document')}>
        {showsPages ? (
          <Suspense fallback={<Skeleton lines={12} />}>
            <PdfView path={ownPath(downloadUrl)} page={page} words={words} onFailure={setFailure} />
          </Suspense>
        ) : (
          <DocumentText document={{ ...document, downloadUrl }} wanted={wanted} words={words} />
        )}
      </section>
    </Page>
  );
}

/** The text that was read, for who sees its source; for readers of an answer the file itself, or the passage alone. */
function DocumentText({
  document: { item, passage, downloadUrl, mimeType },
  wanted,
  words,
}: {
  readonly document: CitedDocument;
  readonly wanted: WantedPassage;
  readonly words: string | undefined;
}) {
  const { t } = useText();
  if (item !== null && item.passages.nodes.length > 0) {
    return (
      <ItemText
        itemId={item.id}
        mimeType={mimeType}
        support={wanted.support}
        first={item.passages}
        range={passage?.isCurrent === false ? undefined : wanted.range}
        words={words}
      />
    );
  }
  if (downloadUrl !== null && /^text\/|[/+]json$|markdown/.test(mimeType ?? '')) {
    return (
      <FetchedText path={ownPath(downloadUrl)} mimeType={mimeType} words={words} support={supportingWords(passage, wanted)} />
    );
  }
  if (passage !== null && passage !== undefined) return <PassageText passage={passage} support={supportWithin(wanted)} />;
  return <p className={styles.quiet}>{t('There is no text of this document to show.')}</p>;
}

/** The place of the words that support the answer within the passage. */
function supportWithin({ range, support }: WantedPassage) {
  if (range === undefined || support === undefined) return undefined;
  return { start: support.start - range.start, end: support.end - range.start };
}

function supportingWords(passage: CitedDocument['passage'], wanted: WantedPassage): string | undefined {
  const place = supportWithin(wanted);
  return place === undefined ? undefined : passage?.text.slice(place.start, place.end);
}

function NotThere() {
  const { t } = useText();
  return (
    <EmptyState
      isScreen
      title={t('There is no such document')}
      action={<ButtonLink href="/knowledge">{t('All knowledge')}</ButtonLink>}
    >
      {t(
        'It is deleted, you may not open it at its source, or neither its source nor an agent that cites it is shared with you.',
      )}
    </EmptyState>
  );
}
