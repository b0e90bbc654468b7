import { wordsOfName } from './terms.ts';

/** A statement about a record, and the words around it that name its subject. */
export interface Statement {
  readonly text: string;
  readonly context: string;
}

const labelNames: ReadonlySet<string> = new Set(['name', 'title', 'label']);
/** How a unit at the end of a member's name is said behind a number. */
const units: Readonly<Record<string, string>> = {
  ...{
    euro: 'euros',
    euros: 'euros',
    eur: 'euros',
    usd: 'dollars',
    dollar: 'dollars',
    dollars: 'dollars',
    gbp: 'pounds',
    chf: 'francs',
  },
  ...{
    second: 'seconds',
    seconds: 'seconds',
    minute: 'minutes',
    minutes: 'minutes',
    min: 'minutes',
    hour: 'hours',
    hours: 'hours',
  },
  ...{
    day: 'days',
    days: 'days',
    week: 'weeks',
    weeks: 'weeks',
    month: 'months',
    months: 'months',
    year: 'years',
    years: 'years',
  },
  ...{ kg: 'kg', km: 'km', cm: 'cm', mm: 'mm', percent: 'percent', ms: 'ms', celsius: 'degrees' },
};
const costs = /^(price|cost|fee)s?$/;
const takes = /^(duration|time|takes?)$/;

/**
 * A record, as lines of `member: value` below its place, in plain words: `Puncture repair costs 15 euros.` A record without a name is said
 * member by member.
 */
export function spokenRecord(lines: readonly string[]): readonly Statement[] {
  const records: { place: string; members: (readonly [string, string])[] }[] = [];
  for (const line of lines) {
    const [, name, value] = /^([\p{L}_][^:]*): (.*)$/u.exec(line) ?? [];
    if (name === undefined || value === undefined) records.push({ place: line, members: [] });
    else {
      if (records.length === 0) records.push({ place: '', members: [] });
      records.at(-1)?.members.push([name, value]);
    }
  }
  return records.flatMap(({ place, members }) => {
    const label = members.find(([name]) => labelNames.has(name.toLowerCase()))?.[1];
    const around = `${place.replace(/[[\]\d>"]+/g, ' ')} ${label ?? ''}`;
    const told = members.filter(([name]) => label === undefined || !labelNames.has(name.toLowerCase()));
    const statements = told.map(([name, value]) => ({
      text: said(label, name, value),
      context: `${around} ${wordsOfName(name)}`,
    }));
    return statements.length === 0 && label !== undefined ? [{ text: `${label}.`, context: around }] : statements;
  });
}

/** The lines of a table's row, `part: chains; usual stock: 60`; undefined for other text. */
export function recordOfLine(line: string): readonly string[] | undefined {
  const parts = line.split('; ');
  if (parts.length < 2 || !parts.every((part) => /^[\p{L}_][^:;.]{0,40}: \S/u.test(part))) return undefined;
  // The first column names the row, as a rule.
  const [row = ''] = parts;
  const first = row.slice(row.indexOf(': ') + 2);
  const hasLabel = parts.some((part) => labelNames.has(part.split(':')[0]?.toLowerCase() ?? ''));
  return hasLabel ? parts : [`name: ${first}`, ...parts.slice(1)];
}

function said(label: string | undefined, name: string, value: string): string {
  const words = wordsOfName(name).toLowerCase().split(' ');
  const unit = words.length > 1 && /^-?[\d.,]+$/.test(value) ? units[words.at(-1) ?? ''] : undefined;
  const what = unit === undefined ? words : words.slice(0, -1);
  const shown = unit === undefined ? value : `${value} ${value === '1' ? unit.replace(/s$/, '') : unit}`;
  const [first = ''] = what;
  if (label === undefined) return `${capital(what.join(' '))}: ${shown}`;
  if (what.length === 1 && costs.test(first)) return `${label} costs ${shown}`;
  if (what.length === 1 && takes.test(first) && unit !== undefined) return `${label} takes ${shown}`;
  if (value === 'true' || value === 'false')
    return `${label} is ${value === 'true' ? '' : 'not '}${what.join(' ').replace(/^is /, '')}`;
  return `The ${what.join(' ')} of ${label} is ${shown}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
