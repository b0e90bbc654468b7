import { Markdown } from './Markdown.tsx';
import { useMarkInView } from './mark-in-view.ts';
import styles from './markdown.module.css';
import { type Mark, splitByMarks } from './marks.ts';
import { isMarkdown } from './reading/written.ts';

/** A text that was read out of a document of a type: drawn where it is Markdown, and with the parts that are marked. The first of them is scrolled to. */
export function ReadText({
  text,
  mimeType,
  marks,
  headingLevel,
  isStill = false,
}: {
  readonly text: string;
  readonly mimeType: string | null | undefined;
  readonly marks: readonly Mark[];
  /** Of the highest headings in it. */
  readonly headingLevel: number;
  /** Whether nothing scrolls to what is marked. */
  readonly isStill?: boolean;
}) {
  return isMarkdown(mimeType) ? (
    <Markdown text={text} dialect="document" marks={marks} headingLevel={headingLevel} isStill={isStill} />
  ) : (
    <PlainText text={text} marks={marks} isStill={isStill} />
  );
}

function PlainText({
  text,
  marks,
  isStill,
}: {
  readonly text: string;
  readonly marks: readonly Mark[];
  readonly isStill: boolean;
}) {
  const place = useMarkInView<HTMLPreElement>(isStill ? [] : marks);
  return (
    <pre ref={place} className={styles.plain} dir="auto">
      {splitByMarks(text, 0, marks).map(({ text: piece, kind }, index) =>
        kind === undefined ? (
          piece
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text do not move
          <mark key={index} data-kind={kind}>
            {piece}
          </mark>
        ),
      )}
    </pre>
  );
}
