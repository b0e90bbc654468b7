import { useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import { useIsDark } from '../../ui/theme.ts';
import 'uplot/dist/uPlot.min.css';
import styles from './plot.module.css';

const heightPx = 220;
const halfDayS = 43_200;

/** A bar for each day. Above them stands the day under the pointer, else the last one. */
export function Plot({
  days,
  values,
  format,
  formatDay,
  formatTick,
}: {
  readonly days: readonly string[];
  readonly values: readonly number[];
  readonly format: (value: number) => string;
  readonly formatDay: (day: string) => string;
  /** A day in few letters, for the axis. */
  readonly formatTick: (day: Date) => string;
}) {
  const box = useRef<HTMLDivElement>(null);
  const [pointed, setPointed] = useState<number>();
  const dayIndex = pointed ?? days.length - 1;
  const formats = useRef({ format, formatTick });
  formats.current = { format, formatTick };
  const isDark = useIsDark();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another theme draws anew
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const data: uPlot.AlignedData = [days.map((day) => Date.parse(day) / 1_000), [...values]];
    const plot = new uPlot(buildOptions(element, formats.current, setPointed), data, element);
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: heightPx }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [days.join(), values, isDark]);
  return (
    <div aria-hidden>
      <p className={styles.reading}>
        <strong>{format(values[dayIndex] ?? 0)}</strong> {days[dayIndex] === undefined ? '' : formatDay(days[dayIndex])}
      </p>
      <div ref={box} className={styles.plot} />
    </div>
  );
}

function buildOptions(
  element: HTMLElement,
  { format, formatTick }: { readonly format: (value: number) => string; readonly formatTick: (day: Date) => string },
  onPoint: (index: number | undefined) => void,
): uPlot.Options {
  // A canvas does not know the variables of the page: the box has its colors as its own.
  const { color: accent, borderTopColor: line, caretColor: quiet, fontFamily } = getComputedStyle(element);
  const bars = uPlot.paths.bars?.({ size: [0.72, 48], radius: 0.15 }) ?? (() => null);
  const axis = { stroke: quiet, font: `12px ${fontFamily}`, ticks: { show: false } };
  return {
    width: element.clientWidth,
    height: heightPx,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC'),
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: {
      // Half a day at each side, so that the first and the last bar are whole.
      x: { range: (_plot, min, max) => [min - halfDayS, max + halfDayS] },
      y: { range: (_plot, _min, max) => [0, max > 0 ? max * 1.08 : 1] },
    },
    axes: [
      { ...axis, grid: { show: false }, values: (_plot, ticks) => ticks.map((seconds) => formatTick(new Date(seconds * 1_000))) },
      { ...axis, size: 76, grid: { stroke: line, width: 1 }, values: (_plot, ticks) => ticks.map(format) },
    ],
    series: [{}, { fill: accent, width: 0, points: { show: false }, paths: bars }],
    hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? undefined)] },
  };
}
