import { memo, useId, useMemo, useRef } from 'react';
import { BlockTokens, lowestLevel } from './Block.tsx';
import { Footnotes, FootnotesContext } from './Footnotes.tsx';
import { DialectContext } from './Inline.tsx';
import { useMarkInView } from './mark-in-view.ts';
import styles from './markdown.module.css';
import { type Mark, MarksContext, marksWithin, placeTexts } from './marks.ts';
import { type BlockSource, type Blocks, type Footnote, noBlocks, splitBlocks } from './reading/blocks.ts';
import { type Definitions, type Dialect, noDefinitions, readTokens, tidyLabel } from './reading/dialect.ts';
import { withoutUndecided } from './reading/growing.ts';

const noMarks: readonly Mark[] = [];

/**
 * Markdown as elements of React; never as HTML: what stands in it as HTML is shown as text. While a text grows, only its last block is read and drawn
 * again, and its end is drawn once it is clear what it is. The whole text is drawn the same, however it came.
 *
 * @param marks  parts that are marked; the first one is scrolled to, words that support an answer before their passage.
 */
export function Markdown({
  text,
  isGrowing = false,
  dialect = 'answer',
  marks = noMarks,
  headingLevel = 3,
  isStill = false,
}: {
  readonly text: string;
  readonly isGrowing?: boolean;
  readonly dialect?: Dialect;
  readonly marks?: readonly Mark[];
  /** Of its highest headings in the page. */
  readonly headingLevel?: number;
  /** Whether nothing scrolls to what is marked. */
  readonly isStill?: boolean;
}) {
  const before = useRef(noBlocks);
  const read = useMemo(() => {
    const plainText = text.includes('\r') ? text.replaceAll(/\r\n?/g, '\n') : text;
    before.current = splitBlocks(isGrowing ? withoutUndecided(plainText) : plainText, dialect, before.current);
    return before.current;
  }, [text, isGrowing, dialect]);
  const place = useMarkInView<HTMLDivElement>(isStill ? noMarks : marks);
  const prefix = useId();
  const numbers = useNumbers(read);
  const footnotes = useMemo(() => ({ prefix, numbers }), [prefix, numbers]);
  const used = useMemo(() => listUsed(read), [read]);
  const { blocks, definitions } = read;
  const levels = levelHeadings(blocks, headingLevel);
  return (
    <FootnotesContext value={footnotes}>
      <DialectContext value={dialect}>
        <div ref={place} className={styles.markdown}>
          {blocks.map(({ source, start }, index) => (
            <Block
              // biome-ignore lint/suspicious/noArrayIndexKey: blocks are only added, and the last ones grow
              key={index}
              source={source}
              dialect={dialect}
              definitions={source.includes('[') ? definitions : noDefinitions}
              used={used}
              level={levels[index] ?? headingLevel}
              marks={JSON.stringify(marksWithin(marks, start, source.length))}
              isGrowing={isGrowing && index === blocks.length - 1}
            />
          ))}
          <Footnotes notes={numberNotes(read.footnotes, numbers, dialect, definitions)} />
        </div>
      </DialectContext>
    </FootnotesContext>
  );
}

/**
 * A block, or the text of a footnote: read again only when it changes.
 *
 * @param level  of the heading that the block is.
 * @param used  labels that something refers to: their definitions are not shown.
 * @param marks  those of the block, as JSON.
 */
const Block = memo(function Block({
  source,
  dialect,
  definitions,
  used,
  level,
  marks,
  isGrowing,
}: {
  readonly source: string;
  readonly dialect: Dialect;
  readonly definitions: Definitions;
  readonly used: string;
  readonly level: number;
  readonly marks: string;
  readonly isGrowing: boolean;
}) {
  const tokens = useMemo(() => readTokens(source, dialect, definitions), [source, dialect, definitions]);
  const placed = useMemo(
    () => (marks === '[]' ? undefined : { marks: JSON.parse(marks) as readonly Mark[], places: placeTexts(tokens, source) }),
    [marks, tokens, source],
  );
  const [only] = tokens;
  if (only?.type === 'definition' && used.includes(`[${only.label}]`)) return null;
  return (
    <MarksContext value={placed}>
      <BlockTokens tokens={tokens} isGrowing={isGrowing} level={level} />
    </MarksContext>
  );
});

/** The level of each heading in the page: one below the heading that it stands under, whatever its writer began with. */
function levelHeadings(blocks: readonly BlockSource[], highest: number): readonly (number | undefined)[] {
  const above: number[] = [];
  return blocks.map(({ source }) => {
    const depth =
      /^ {0,3}(#{1,6})(?=[ \t\n]|$)/.exec(source)?.[1]?.length ??
      (/^[^\n]+\n {0,3}(?:=+|-+)[ \t]*\n*$/.test(source) ? (/=[ \t]*\n*$/.test(source) ? 1 : 2) : undefined);
    if (depth === undefined) return undefined;
    while ((above.at(-1) ?? 0) >= depth) above.pop();
    above.push(depth);
    return Math.min(highest - 1 + above.length, 6);
  });
}

/** The labels of links that the text refers to, each in brackets; the same text while they are the same. */
function listUsed({ text, blocks, definitions }: Blocks): string {
  const labels = Object.keys(definitions);
  if (labels.length === 0) return '';
  const count = (place: string) =>
    place
      .split('[')
      .slice(1)
      .map((rest) => tidyLabel(rest.split(']', 1)[0] ?? ''));
  const inDefinitions = blocks
    .filter(({ source }) => /^ {0,3}\[[^\]]+\]:/.test(source))
    .flatMap(({ source }) => count(source).slice(0, 1));
  const everywhere = count(text);
  const isUsed = (label: string) =>
    everywhere.filter((each) => each === label).length > inDefinitions.filter((each) => each === label).length;
  return labels
    .filter(isUsed)
    .map((label) => `[${label}]`)
    .join('');
}

/** Footnotes are numbered in the order in which the text names them first; those that it names nowhere follow. */
function useNumbers({ text, footnotes }: Blocks): ReadonlyMap<string, number> {
  const labels = footnotes.length === 0 ? '' : JSON.stringify(orderLabels(text, footnotes));
  return useMemo(
    () => new Map((labels === '' ? [] : (JSON.parse(labels) as string[])).map((label, at) => [label, at + 1])),
    [labels],
  );
}

function orderLabels(text: string, footnotes: readonly Footnote[]): readonly string[] {
  const defined = new Set(footnotes.map(({ label }) => label));
  const named = [...text.matchAll(/\[\^([^\s\]]{1,80})\](?!:)/g)]
    .map(([, label = '']) => label)
    .filter((label) => defined.has(label));
  return [...new Set([...named, ...defined])];
}

function numberNotes(
  footnotes: readonly Footnote[],
  numbers: ReadonlyMap<string, number>,
  dialect: Dialect,
  definitions: Definitions,
) {
  return footnotes
    .map(({ label, text }, index) => ({
      label: `${label} ${index}`,
      number: numbers.get(label) ?? 0,
      content: (
        <Block
          source={text}
          dialect={dialect}
          definitions={definitions}
          used=""
          level={lowestLevel}
          marks="[]"
          isGrowing={false}
        />
      ),
    }))
    .sort((one, other) => one.number - other.number);
}
