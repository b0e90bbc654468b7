import { useMemo } from 'react';
import { useText } from '../../../text/text.ts';
import { Note, Skeleton } from '../../../ui/feedback.tsx';
import { useFetched } from './fetched.ts';
import { MarkedText } from './MarkedText.tsx';
import { findWords } from './marks.ts';

/** A file of text as it is, with the words marked. */
export function FetchedText({ path, words }: { readonly path: string; readonly words: string | undefined }) {
  const { t } = useText();
  const file = useFetched(path, (status) => t('The document is not answered (status {status}).', { status }));
  const text = useMemo(() => (file !== undefined && 'bytes' in file ? new TextDecoder().decode(file.bytes) : undefined), [file]);
  const range = useMemo(() => (text === undefined || words === undefined ? undefined : findWords(text, words)), [text, words]);
  if (file !== undefined && 'failure' in file) return <Note tone="bad">{file.failure}</Note>;
  return text === undefined ? <Skeleton lines={10} /> : <MarkedText text={text} range={range} />;
}
