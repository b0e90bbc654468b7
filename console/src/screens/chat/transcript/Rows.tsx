import { ArrowDown } from 'lucide-react';
import { type ReactNode, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { Virtualizer, type VirtualizerHandle } from 'virtua';
import { useSearch } from 'wouter';
import { useText } from '../../../text/text.ts';
import { Spinner } from '../../../ui/progress.tsx';
import { Comparison } from '../compare/Comparison.tsx';
import { Answer } from './Answer.tsx';
import { ContextRow } from './ContextRow.tsx';
import { PendingRow } from './PendingRow.tsx';
import { usePrinting } from './printing.ts';
import { buildRows, type Row } from './rows.ts';
import styles from './transcript.module.css';
import type { Transcript, TranscriptView } from './transcript.ts';
import { UserRow } from './UserRow.tsx';

/** Rows at the end that are always drawn: those that grow, and those that one reads. */
const tailMin = 4;
const tailMax = 16;
const nearEndPx = 80;
const nearStartPx = 600;
/** What a reader scrolls by, and how long the scrolling lasts then. */
const inputEvents = ['wheel', 'touchmove', 'pointerdown', 'pointermove', 'keydown'] as const;
const inputLastsMs = 1_000;
/** A link to a message leads back through this many messages at most. */
const targetPagesMax = 60;

/** The rows of a chat. It opens at its end and stays there while an answer grows, until the reader scrolls away. */
export function Rows({
  transcript,
  view,
  head,
}: {
  readonly transcript: Transcript;
  readonly view: TranscriptView;
  /** Above everything that was said, once the beginning is loaded. */
  readonly head?: ReactNode;
}) {
  const { t } = useText();
  const scroller = useRef<HTMLElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const virtual = useRef<VirtualizerHandle>(null);
  const query = new URLSearchParams(useSearch());
  // Where a reader came back to from a document; opening other sources later scrolls nowhere.
  const [arrival] = useState(query.get('answer'));
  const target = query.get('message') ?? arrival;
  const isPrinted = usePrinting(transcript);
  const [isEarlierShown, setEarlierShown] = useState(false);
  const { rows, isFolded, isShifted } = useRows(view, target, isPrinted || isEarlierShown);
  const currentTailStart = useTailStart(rows);
  const tailStart = isPrinted ? 0 : currentTailStart;
  const end = useEnd(scroller, inner);
  useTarget(target, transcript, view, rows, tailStart, virtual, end.leave);
  const showEarlier = (isShown: boolean) => {
    if (isShown) end.leave();
    setEarlierShown(isShown);
  };
  // What was shown stands above the summary, which stays in view.
  useLayoutEffect(() => {
    if (isEarlierShown) scroller.current?.querySelector('[data-context]')?.scrollIntoView({ block: 'center' });
  }, [isEarlierShown]);
  const onScroll = () => {
    end.onScroll();
    const { scrollTop = nearStartPx } = scroller.current ?? {};
    if (scrollTop < nearStartPx && !isFolded) void transcript.loadEarlier();
  };
  const draw = (row: Row) =>
    row.kind === 'context' ? (
      <div key={row.key} className={styles.row} data-context>
        <ContextRow summary={row.summary} isEarlierShown={!isFolded} onShowEarlier={showEarlier} />
      </div>
    ) : (
      <OneRow key={row.key} row={row} isLast={row === rows.at(-1)} isTarget={hasMessage(row, target)} />
    );
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section ref={scroller} className={styles.scroller} aria-label={t('Transcript')} tabIndex={0} onScroll={onScroll}>
      <div ref={inner} className={styles.rows}>
        <div className={styles.earlier}>{view.isLoadingEarlier ? <Spinner label={t('Loading earlier messages')} /> : null}</div>
        {view.hasEarlier && !isFolded ? null : head}
        {/* A list that rows were folded out of begins anew: it measures only what it has. */}
        <Virtualizer key={String(isFolded)} ref={virtual} scrollRef={scroller} shift={isShifted} bufferSize={600}>
          {rows.slice(0, tailStart).map(draw)}
        </Virtualizer>
        {rows.slice(tailStart).map(draw)}
      </div>
      {end.isAway ? (
        <button type="button" className={styles.toEnd} onClick={end.go} aria-label={t('To the newest message')}>
          <ArrowDown size={18} aria-hidden />
        </button>
      ) : null}
    </section>
  );
}

/**
 * The rows of a chat. A summary stands in place of what was said before it, until the reader or a link asks for that.
 *
 * @returns `isShifted`: rows came in front of those before.
 */
function useRows(view: TranscriptView, target: string | null, isEarlierShown: boolean) {
  const previousRows = useRef<readonly Row[]>([]);
  const previousAllRows = useRef<readonly Row[]>([]);
  const allRows = buildRows(view, previousAllRows.current);
  previousAllRows.current = allRows;
  const summaryIndex = allRows.findIndex((row) => row.kind === 'context' && row.summary !== null);
  const isFolded =
    summaryIndex !== -1 && !isEarlierShown && !allRows.slice(0, summaryIndex).some((row) => hasMessage(row, target));
  const rows = isFolded ? allRows.slice(summaryIndex) : allRows;
  const isShifted =
    rows.length > previousRows.current.length &&
    previousRows.current[0] !== undefined &&
    rows[0]?.key !== previousRows.current[0].key;
  previousRows.current = rows;
  return { rows, isFolded, isShifted };
}

function OneRow({ row, isLast, isTarget }: { readonly row: Row; readonly isLast: boolean; readonly isTarget: boolean }) {
  return (
    <div className={styles.row} data-target={isTarget || undefined} data-wide={row.kind === 'comparison' || undefined}>
      {row.kind === 'user' ? <UserRow message={row.message} isUnanswered={row.isUnanswered} /> : null}
      {row.kind === 'answer' ? <Answer row={row} isLast={isLast} /> : null}
      {row.kind === 'comparison' ? <Comparison row={row} /> : null}
      {row.kind === 'pending' ? <PendingRow text={row.text} filenames={row.filenames} /> : null}
    </div>
  );
}

function hasMessage(row: Row, messageId: string | null): boolean {
  if (messageId === null) return false;
  if (row.kind === 'user') return row.message.id === messageId;
  return row.kind === 'answer' && (row.runId === messageId || row.messages.some(({ id }) => id === messageId));
}

/** Where the rows begin that are always drawn. It moves seldom: a row that moves into the virtual list is drawn anew. */
function useTailStart(rows: readonly Row[]): number {
  const firstKey = useRef<string>(undefined);
  const place = rows.findIndex(({ key }) => key === firstKey.current);
  if (place !== -1 && rows.length - place <= tailMax) return place;
  const start = Math.max(0, rows.length - tailMin);
  firstKey.current = rows[start]?.key;
  return start;
}

/** Keeps the end in view while what is in it grows, unless the reader went away from it. */
function useEnd(scroller: { readonly current: HTMLElement | null }, inner: { readonly current: HTMLElement | null }) {
  const isAtEnd = useRef(true);
  const lastInputMs = useRef(Number.NEGATIVE_INFINITY);
  const [isAway, setAway] = useState(false);
  const go = useCallback(() => {
    isAtEnd.current = true;
    setAway(false);
    const box = scroller.current;
    if (box !== null) box.scrollTop = box.scrollHeight;
  }, [scroller]);
  useLayoutEffect(() => {
    const box = scroller.current;
    const content = inner.current;
    if (box === null || content === null) return;
    const keep = () => {
      if (isAtEnd.current) box.scrollTop = box.scrollHeight;
    };
    const observer = new ResizeObserver(keep);
    observer.observe(content);
    observer.observe(box);
    keep();
    const note = () => {
      lastInputMs.current = performance.now();
    };
    for (const name of inputEvents) box.addEventListener(name, note, { passive: true });
    return () => {
      observer.disconnect();
      for (const name of inputEvents) box.removeEventListener(name, note);
    };
  }, [scroller, inner]);
  const onScroll = () => {
    const box = scroller.current;
    if (box === null) return;
    const isNear = box.scrollHeight - box.scrollTop - box.clientHeight < nearEndPx;
    if (isNear) isAtEnd.current = true;
    // The virtual list scrolls too, when it learns how high a row is; only the reader leaves the end.
    else if (performance.now() - lastInputMs.current < inputLastsMs) isAtEnd.current = false;
    setAway(!isNear && !isAtEnd.current);
  };
  const leave = useCallback(() => {
    isAtEnd.current = false;
  }, []);
  return { isAway, go, onScroll, leave };
}

/** Leads to the message that the address names, back through earlier pages until it is found. */
function useTarget(
  target: string | null,
  transcript: Transcript,
  view: TranscriptView,
  rows: readonly Row[],
  tailStart: number,
  virtual: { readonly current: VirtualizerHandle | null },
  leaveEnd: () => void,
): void {
  const reached = useRef<string>(undefined);
  const pages = useRef(0);
  useEffect(() => {
    if (target === null || reached.current === target || view.messages.length === 0) return;
    const place = rows.findIndex((row) => hasMessage(row, target));
    if (place === -1) {
      if (view.hasEarlier && !view.isLoadingEarlier && pages.current++ < targetPagesMax) void transcript.loadEarlier(100);
      return;
    }
    reached.current = target;
    leaveEnd();
    if (place < tailStart) virtual.current?.scrollToIndex(place, { align: 'center' });
    else document.querySelector('[data-target]')?.scrollIntoView({ block: 'center' });
  }, [target, transcript, view, rows, tailStart, virtual, leaveEnd]);
}
