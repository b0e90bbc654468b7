import { useEffect, useMemo } from 'react';
import { run } from '../../../graphql/client.ts';
import { useMorePages } from '../../../graphql/hooks.ts';
import type { Mark } from '../../../parts/markdown/marks.ts';
import { ReadText } from '../../../parts/markdown/ReadText.tsx';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { Spinner } from '../../../ui/progress.tsx';
import { ItemTextDocument, type ItemTextQuery } from '../documents.ts';
import styles from './document.module.css';
import { findWords } from './marks.ts';
import type { CitedDocument } from './place.ts';

type Passages = NonNullable<CitedDocument['item']>['passages'] | NonNullable<ItemTextQuery['knowledgeItem']>['passages'];

/** The text that was read out of a document, up to the passage that is wanted; the rest on demand. */
export function ItemText({
  itemId,
  mimeType,
  first,
  range,
  support,
  words,
}: {
  readonly itemId: string;
  readonly mimeType: string | null;
  readonly first: Passages;
  readonly range: { readonly start: number; readonly end: number } | undefined;
  /** Where in it the words stand that support an answer. */
  readonly support: { readonly start: number; readonly end: number } | undefined;
  readonly words: string | undefined;
}) {
  const { t } = useText();
  const numbered = useMemo(() => withIds(first), [first]);
  const { nodes, hasMore, isLoadingMore, error, loadMore } = useMorePages(numbered, async (after) => {
    const page = (await run(ItemTextDocument, { id: itemId, after })).knowledgeItem?.passages;
    return page === undefined ? undefined : withIds(page);
  });
  const text = useMemo(() => nodes.map((node) => node.text).join(''), [nodes]);
  const [head] = nodes;
  // White space before the first passage is no part of it.
  const offset = head === undefined ? 0 : head.charEnd - head.text.length;
  const isReached = range === undefined || range.end <= offset + text.length;
  const passage = useMemo(() => {
    if (range !== undefined) return isReached ? { start: range.start - offset, end: range.end - offset } : undefined;
    return words === undefined ? undefined : findWords(text, words);
  }, [range, isReached, offset, text, words]);
  const marks = useMemo<readonly Mark[]>(() => {
    if (passage === undefined) return [];
    const supportMark = { start: (support?.start ?? 0) - offset, end: (support?.end ?? 0) - offset, kind: 'support' } as const;
    return [{ ...passage, kind: 'passage' }, ...(support === undefined || range === undefined ? [] : [supportMark])];
  }, [passage, support, range, offset]);
  const isWanting = !isReached && hasMore && !isLoadingMore && error === undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: each page is asked for once
  useEffect(() => {
    if (isWanting) loadMore();
  }, [isWanting, nodes.length]);
  return (
    <>
      <div className={styles.text}>
        <ReadText text={text} mimeType={mimeType} marks={marks} headingLevel={2} />
      </div>
      <ErrorNote error={error} onRetry={loadMore} />
      {hasMore ? (
        <p className={styles.more}>
          {isReached ? (
            <Button onClick={loadMore} isBusy={isLoadingMore}>
              {t('Show more')}
            </Button>
          ) : (
            <Spinner label={t('Looking for the passage')} />
          )}
        </p>
      ) : null}
    </>
  );
}

/** Passages are told apart by their place. */
function withIds(page: Passages) {
  return { ...page, nodes: page.nodes.map((passage) => ({ ...passage, id: String(passage.place) })) };
}
