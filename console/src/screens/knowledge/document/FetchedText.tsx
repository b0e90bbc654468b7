import { lazy, Suspense, useMemo } from 'react';
import type { Mark } from '../../../parts/markdown/marks.ts';
import { ReadText } from '../../../parts/markdown/ReadText.tsx';
import { useText } from '../../../text/text.ts';
import { Note, Skeleton } from '../../../ui/feedback.tsx';
import styles from './document.module.css';
import { useFetched } from './fetched.ts';
import { findWords } from './marks.ts';

const HtmlText = lazy(() => import('./HtmlText.tsx').then(({ HtmlText: view }) => ({ default: view })));

/** A file of text, drawn where it is Markdown or HTML, with the words marked. */
export function FetchedText({
  path,
  mimeType,
  words,
  support,
}: {
  readonly path: string;
  readonly mimeType: string | null;
  readonly words: string | undefined;
  /** Of the words those that support an answer. */
  readonly support: string | undefined;
}) {
  const { t } = useText();
  const file = useFetched(path, (status) => t('The document is not answered (status {status}).', { status }));
  const text = useMemo(
    () => (file !== undefined && 'bytes' in file ? new TextDecoder().decode(file.bytes).replaceAll(/\r\n?/g, '\n') : undefined),
    [file],
  );
  const marks = useMemo(() => (text === undefined ? [] : markWords(text, words, support)), [text, words, support]);
  if (file !== undefined && 'failure' in file) return <Note tone="bad">{file.failure}</Note>;
  if (text === undefined) return <Skeleton lines={10} />;
  return (
    <div className={styles.text}>
      {/html/.test(mimeType ?? '') ? (
        <Suspense fallback={<Skeleton lines={10} />}>
          <HtmlText html={text} words={words} support={support} />
        </Suspense>
      ) : (
        <ReadText text={text} mimeType={mimeType} marks={marks} headingLevel={2} />
      )}
    </div>
  );
}

function markWords(text: string, words: string | undefined, support: string | undefined): readonly Mark[] {
  const passage = words === undefined ? undefined : findWords(text, words);
  if (passage === undefined) return [];
  const within = support === undefined ? undefined : findWords(text.slice(passage.start, passage.end), support);
  const mark: Mark = { ...passage, kind: 'passage' };
  if (within === undefined) return [mark];
  return [mark, { start: passage.start + within.start, end: passage.start + within.end, kind: 'support' }];
}
