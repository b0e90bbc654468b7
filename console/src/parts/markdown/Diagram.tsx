import { useEffect, useState } from 'react';
import { useText } from '../../text/text.ts';
import { useIsDark } from '../../ui/theme.ts';
import { CodeBlock } from './CodeBlock.tsx';
import { type Drawing, drawDiagram } from './diagrams.ts';
import styles from './markdown.module.css';

/** A diagram of Mermaid as a picture, with its source below; the source alone while it is drawn, and with the reason where it cannot be. */
export function Diagram({ source }: { readonly source: string }) {
  const { t } = useText();
  const isDark = useIsDark();
  const [drawn, setDrawn] = useState<{ readonly source: string; readonly drawing: Drawing }>();
  useEffect(() => {
    let isLeft = false;
    void drawDiagram(source, isDark).then((drawing) => {
      if (!isLeft) setDrawn({ source, drawing });
    });
    return () => {
      isLeft = true;
    };
  }, [source, isDark]);
  const drawing = drawn?.source === source ? drawn.drawing : undefined;
  const svg = drawing !== undefined && 'svg' in drawing ? drawing.svg : undefined;
  const picture = usePicture(svg);
  const code = <CodeBlock code={source} language="mermaid" isGrowing={false} />;
  if (picture === undefined) {
    const fault = drawing !== undefined && 'fault' in drawing ? drawing.fault : undefined;
    return (
      <>
        {code}
        {fault === undefined ? null : (
          <p className={styles.fault}>
            {fault === 'timeout'
              ? t('The diagram takes too long to draw.')
              : t('The diagram cannot be drawn: {reason}', { reason: fault })}
          </p>
        )}
      </>
    );
  }
  return (
    <figure className={styles.diagram}>
      <img
        src={picture.url}
        width={picture.width}
        height={picture.height}
        alt={t('Diagram: {kind}', { kind: firstWord(source) })}
      />
      <details className={styles.details}>
        <summary>{t('Source of the diagram')}</summary>
        {code}
      </details>
    </figure>
  );
}

/** `flowchart`, `sequenceDiagram`; behind what sets it up. */
function firstWord(source: string): string {
  return /^\s*(?:---[\s\S]*?\n---\s*)?(?:%%[^\n]*\n\s*)*([\w-]+)/.exec(source)?.[1] ?? '';
}

interface Picture {
  readonly url: string;
  readonly width: number | undefined;
  readonly height: number | undefined;
}

/** An SVG as an address of this page, which ends with the element. */
function usePicture(svg: string | undefined): Picture | undefined {
  const [picture, setPicture] = useState<Picture>();
  useEffect(() => {
    if (svg === undefined) {
      setPicture(undefined);
      return;
    }
    const [, width, height] = /viewBox="[-\d.e]+ [-\d.e]+ ([\d.e]+) ([\d.e]+)"/.exec(svg) ?? [];
    const url = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }));
    setPicture({ url, width: readSize(width), height: readSize(height) });
    return () => URL.revokeObjectURL(url);
  }, [svg]);
  return picture;
}

const readSize = (text: string | undefined) => (text === undefined ? undefined : Math.ceil(Number(text)));
