import { type ReactNode, useEffect, useState } from 'react';
import { useText } from '../../text/text.ts';
import { CopyButton } from '../../ui/small.tsx';
import type { CodeLine } from './highlight.ts';
import styles from './markdown.module.css';

/** Longer code is shown without colors: coloring it would hold up the page. */
const coloredCharsMax = 20_000;

/** Code with a button that copies it, in colors once it is whole. The colors are loaded when the first code is shown. */
export function CodeBlock({
  code,
  language,
  isGrowing,
  marked,
}: {
  readonly code: string;
  readonly language: string | undefined;
  readonly isGrowing: boolean;
  /** The code with parts of it marked; it is shown without colors. */
  readonly marked?: ReactNode;
}) {
  const { t } = useText();
  const name = language?.trim().split(/[\s{,]/)[0] ?? '';
  const [colored, setColored] = useState<{ readonly code: string; readonly lines: readonly CodeLine[] }>();
  useEffect(() => {
    if (isGrowing || name === '' || code.length > coloredCharsMax) return;
    let isWanted = true;
    import('./highlight.ts')
      .then(({ highlight }) => highlight(code, name))
      .then((lines) => isWanted && lines !== undefined && setColored({ code, lines }))
      // Without colors it is as readable.
      .catch(() => undefined);
    return () => {
      isWanted = false;
    };
  }, [code, name, isGrowing]);
  return (
    <figure className={styles.code}>
      <figcaption>
        <span>{name === '' ? t('Text') : name}</span>
        <CopyButton text={code} label={t('Copy the code')} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <pre tabIndex={0} dir="ltr">
        <code>{marked ?? (colored?.code === code ? <Lines lines={colored.lines} /> : code)}</code>
      </pre>
    </figure>
  );
}

function Lines({ lines }: { readonly lines: readonly CodeLine[] }) {
  return lines.map((pieces, line) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity of their own
    <span key={line}>
      {pieces.map(({ text, kind }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no identity of their own
        <span key={index} data-kind={kind}>
          {text}
        </span>
      ))}
      {line === lines.length - 1 ? null : '\n'}
    </span>
  ));
}
