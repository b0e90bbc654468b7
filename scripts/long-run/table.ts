/** One request, or a few that belong together. */
export interface Ask {
  readonly name: string;
  readonly ms: number;
  readonly outcome: 'answered' | 'cut by a kill' | 'failed';
}

/** What was measured in ten seconds. */
export interface Sample {
  /** Of the run, its stops left out. */
  readonly ranMs: number;
  readonly residentMb: number;
  readonly descriptors: number;
  /** Of callers, models and the database. */
  readonly sockets: number;
  readonly waitingJobs: number;
  /** The write-ahead log of an embedded database. */
  readonly logMb: number;
  readonly asks: readonly Ask[];
  /** From a kill until the service listened again. */
  readonly startMs?: number | undefined;
}

/** A run that is shorter than two hours is told by ten minutes. */
const rowLengths = [3_600_000, 600_000] as const;
const growthMax = 1.2;
const figures = ['residentMb', 'descriptors', 'sockets', 'waitingJobs', 'logMb'] as const;
const titles = ['memory, MB', 'descriptors', 'sockets', 'waiting jobs', 'log, MB'];

/** The samples of each hour, or of each ten minutes of a short run. */
export function toRows(samples: readonly Sample[]): readonly (readonly Sample[])[] {
  const [hourMs, shortMs] = rowLengths;
  const rowMs = (samples.at(-1)?.ranMs ?? 0) < 2 * hourMs ? shortMs : hourMs;
  const byRow = Map.groupBy(samples, ({ ranMs }) => Math.floor(ranMs / rowMs));
  return [...byRow].toSorted(([one], [other]) => one - other).map(([, row]) => row);
}

export function printTable(hours: readonly (readonly Sample[])[]): {
  readonly text: string;
  readonly hasGrown: boolean;
  readonly hasFailed: boolean;
} {
  const names = [...new Set(hours.flat().flatMap(({ asks }) => asks.map(({ name }) => name)))].toSorted();
  const head = [
    'row',
    ...titles,
    ...names.map((name) => `${name}: p50, p99 ms`),
    'asked',
    'cut by a kill',
    'failed',
    'starts, s',
  ];
  const rows = hours.map((hour, index) => {
    const asks = hour.flatMap((sample) => sample.asks);
    const starts = hour.flatMap(({ startMs }) => (startMs === undefined ? [] : [(startMs / 1_000).toFixed(1)]));
    const count = (outcome: Ask['outcome']) => String(asks.filter((ask) => ask.outcome === outcome).length);
    return [
      String(index + 1),
      ...figures.map((figure) => mean(hour, figure).toFixed(0)),
      ...names.map((name) => quantiles(asks.filter((ask) => ask.name === name && ask.outcome === 'answered'))),
      ...[String(asks.length), count('cut by a kill'), count('failed'), starts.join(', ') || '–'],
    ];
  });
  const grown = figures.filter((figure) => hasGrown(hours, figure));
  const toRow = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const table = [toRow(head), toRow(head.map(() => '---')), ...rows.map(toRow)].join('\n');
  const failures = Map.groupBy(
    hours.flat().flatMap(({ asks }) => asks.filter(({ outcome }) => outcome === 'failed')),
    ({ name }) => name,
  );
  const failed = [...failures].map(([name, asks]) => `${name}: ${asks.length}`).join(', ');
  const hasFailed = hours.flat().some(({ asks }) => asks.some(({ outcome }) => outcome === 'failed'));
  const verdict = grown.length === 0 ? 'Nothing grew.' : `Grew by more than a fifth since the second row: ${grown.join(', ')}.`;
  return {
    text: `${table}\n\n${failed === '' ? 'Nothing failed beside kills.' : `Failed: ${failed}.`} ${hours.length < 3 ? 'Too short to say what grows.' : verdict}\n`,
    hasGrown: grown.length > 0,
    hasFailed,
  };
}

function hasGrown(hours: readonly (readonly Sample[])[], figure: (typeof figures)[number]): boolean {
  const [, second] = hours;
  const last = hours.at(-1);
  if (hours.length < 3 || second === undefined || last === undefined) return false;
  return mean(last, figure) > mean(second, figure) * growthMax && mean(last, figure) > mean(second, figure) + 5;
}

function mean(hour: readonly Sample[], figure: (typeof figures)[number]): number {
  return hour.reduce((sum, sample) => sum + sample[figure], 0) / Math.max(1, hour.length);
}

function quantiles(asks: readonly Ask[]): string {
  const sorted = asks.map(({ ms }) => ms).toSorted((one, other) => one - other);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]?.toFixed(0) ?? '–';
  return `${at(0.5)}, ${at(0.99)}`;
}
