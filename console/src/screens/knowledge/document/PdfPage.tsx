import type { PDFDocumentProxy } from 'pdfjs-dist';
import { useEffect, useRef, useState } from 'react';
import { useText } from '../../../text/text.ts';
import { Note } from '../../../ui/feedback.tsx';
import styles from './document.module.css';
import { drawPage, layText } from './pdf.ts';

/** One page, drawn when it comes into view. `ratio`: of height to width, until the page itself is known. */
export function PdfPage({
  pdf,
  number,
  ratio,
  words,
  isWanted,
}: {
  readonly pdf: PDFDocumentProxy;
  readonly number: number;
  readonly ratio: number;
  readonly words: string | undefined;
  readonly isWanted: boolean;
}) {
  const { t } = useText();
  const box = useRef<HTMLElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const text = useRef<HTMLDivElement>(null);
  const [isSeen, setSeen] = useState(isWanted);
  const [ownRatio, setOwnRatio] = useState(ratio);
  const [fault, setFault] = useState<string>();
  const width = useWidth(box);
  useEffect(() => {
    if (isWanted) box.current?.scrollIntoView({ block: 'start' });
  }, [isWanted]);
  useEffect(() => {
    const place = box.current;
    if (place === null || isSeen) return;
    const observer = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && setSeen(true), {
      rootMargin: '600px',
    });
    observer.observe(place);
    return () => observer.disconnect();
  }, [isSeen]);
  useEffect(() => {
    const [place, layer] = [canvas.current, text.current];
    if (!isSeen || width === 0 || place === null || layer === null) return;
    let isLeft = false;
    let stop = () => {};
    const show = async () => {
      const page = await pdf.getPage(number);
      if (isLeft) return;
      const { width: pageWidth, height } = page.getViewport({ scale: 1 });
      setOwnRatio(height / pageWidth);
      stop = drawPage(page, place, width);
      const mark = await layText(page, layer, width, words, () => isLeft);
      if (isWanted && !isLeft) mark?.scrollIntoView({ block: 'center' });
    };
    setFault(undefined);
    show().catch((error: unknown) => {
      if (!isLeft) setFault(error instanceof Error ? error.message : String(error));
    });
    return () => {
      isLeft = true;
      stop();
    };
  }, [isSeen, width, pdf, number, words, isWanted]);
  return (
    <section
      ref={box}
      className={styles.page}
      aria-label={t('Page {page}', { page: number })}
      style={{ aspectRatio: `1 / ${ownRatio}` }}
    >
      <canvas ref={canvas} aria-hidden />
      <div ref={text} className={styles.textLayer} />
      {fault === undefined ? null : (
        <div className={styles.pageFault}>
          <Note tone="bad">{t('This page cannot be shown: {reason}', { reason: fault })}</Note>
        </div>
      )}
    </section>
  );
}

/** The width of an element in whole pixels; 0 before it is known. */
function useWidth(ref: React.RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = ref.current;
    if (element === null) return;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    observer.observe(element);
    return () => observer.disconnect();
  }, [ref]);
  return width;
}
