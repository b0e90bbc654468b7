import type { PDFDocumentProxy } from 'pdfjs-dist';
import { useEffect, useRef, useState } from 'react';
import { useText } from '../../../text/text.ts';
import { Skeleton } from '../../../ui/feedback.tsx';
import styles from './document.module.css';
import { useFetched } from './fetched.ts';
import { PdfPage } from './PdfPage.tsx';
import { openPdf } from './pdf.ts';

/** The pages of a PDF, from one page on, with the words of a passage marked on it. */
export function PdfView({
  path,
  page,
  words,
  onFailure,
}: {
  readonly path: string;
  readonly page: number | undefined;
  readonly words: string | undefined;
  readonly onFailure: (reason: string) => void;
}) {
  const { t } = useText();
  const file = useFetched(path, (status) => t('The document is not answered (status {status}).', { status }));
  const [pdf, setPdf] = useState<PDFDocumentProxy>();
  const [ratio, setRatio] = useState(Math.SQRT2);
  const failureHandler = useRef(onFailure);
  failureHandler.current = onFailure;
  useEffect(() => {
    if (file === undefined) return;
    if ('failure' in file) return failureHandler.current(file.failure);
    const opening = openPdf(file.bytes);
    let isLeft = false;
    const show = async () => {
      try {
        const opened = await opening.promise;
        const { width, height } = (await opened.getPage(1)).getViewport({ scale: 1 });
        if (isLeft) return;
        setRatio(height / width);
        setPdf(opened);
      } catch (error) {
        if (!isLeft) failureHandler.current(error instanceof Error ? error.message : String(error));
      }
    };
    void show();
    return () => {
      isLeft = true;
      opening.leave();
    };
  }, [file]);
  if (pdf === undefined) return <Skeleton lines={12} />;
  const pageNumber = page === undefined ? undefined : Math.min(page, pdf.numPages);
  return (
    <div className={styles.pages}>
      {Array.from({ length: pdf.numPages }, (_, index) => {
        const number = index + 1;
        // A passage that begins on a page may end on the next one.
        const isCited = pageNumber === undefined || number === pageNumber || number === pageNumber + 1;
        return (
          <PdfPage
            key={number}
            pdf={pdf}
            number={number}
            ratio={ratio}
            words={isCited ? words : undefined}
            isWanted={number === pageNumber}
          />
        );
      })}
    </div>
  );
}
