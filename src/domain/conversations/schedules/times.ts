import type { Jobs } from '../../../engine/jobs/jobs.ts';
import type { Schedule } from '../../../entities/conversations/schedule.ts';
import { isTimeZone } from '../../../lib/time-zone.ts';
import type { Faults } from '../../ground/faults.ts';

const cronMaxChars = 100;
const dayMs = 86_400_000;
const minuteMs = 60_000;
const timesAtOnce = 12;
const hoursOfDay = 24;
/** No clock is changed by more at once. */
const changeMaxMs = 3 * 3_600_000;
/** Times are compared on days without a change of the clock. */
const plainDay = new Date(Date.UTC(2026, 0, 1) - 1);

const cronRule =
  'cron must have five fields: minute (0-59), hour (0-23), day of month (1-31), month (1-12 or JAN-DEC), weekday (0-7 or SUN-SAT)';

/**
 * Notes what is wrong with a cron expression or a time zone.
 *
 * @param intervalMinMs  the shortest time between two runs.
 */
export function checkTimes(
  jobs: Pick<Jobs, 'timesOf'>,
  { cron, timeZone }: Pick<Schedule, 'cron' | 'timeZone'>,
  intervalMinMs: number,
  faults: Faults,
): void {
  if (!isTimeZone(timeZone)) faults.add('timeZone', 'timeZone must be an IANA name such as Europe/Berlin or UTC');
  const fields = splitFields(cron);
  const gapMs = fields === undefined ? undefined : shortestGapMs(jobs, fields, intervalMinMs);
  if (gapMs === undefined) faults.add('cron', findObstacle(jobs, fields ?? []));
  else if (gapMs < intervalMinMs) faults.add('cron', `cron must leave at least ${inWords(intervalMinMs)} between two runs`);
}

/**
 * The next time of a schedule after a moment. The parser gives the times as the wall clock of the zone shows them, and Temporal says when that is. A time
 * that the clock skips comes by so much later as it jumps; one that it shows twice comes at the first, but where the expression runs every hour, at both.
 * (By the zone, the parser itself loses times of a jump of half an hour, and gives the second of a doubled time to who asks between the two.)
 *
 * @throws Error for what cannot be read any more.
 */
export function nextTime(
  jobs: Pick<Jobs, 'timesOf'>,
  { cron, timeZone }: Pick<Schedule, 'cron' | 'timeZone'>,
  after: Date,
): Date {
  const wallAfter = (wall: Date): Date => {
    const [next] = jobs.timesOf(cron, wall, 1);
    if (next === undefined) throw new Error(`the cron expression ${cron} has no next time`);
    return next;
  };
  const plain = toInstant(wallAfter(toWallTime(after, timeZone)), timeZone, 'compatible');
  if (isSteady(after, timeZone) && isSteady(plain, timeZone)) return plain;
  const isEachHour = runsEachHour(jobs, cron);
  let best: Date | undefined;
  let wall = toWallTime(new Date(after.getTime() - changeMaxMs), timeZone);
  for (;;) {
    wall = wallAfter(wall);
    if (best !== undefined && wall.getTime() > toWallTime(best, timeZone).getTime() + changeMaxMs) return best;
    for (const side of isEachHour ? (['compatible', 'later'] as const) : (['compatible'] as const)) {
      const at = toInstant(wall, timeZone, side);
      if (at > after && (best === undefined || at < best)) best = at;
    }
  }
}

/** The next times after a moment, in their order. @throws Error as `nextTime`. */
export function nextTimes(
  jobs: Pick<Jobs, 'timesOf'>,
  times: Pick<Schedule, 'cron' | 'timeZone'>,
  after: Date,
  count: number,
): readonly Date[] {
  const upcomingTimes: Date[] = [];
  for (let last = after; upcomingTimes.length < count; upcomingTimes.push(last)) last = nextTime(jobs, times, last);
  return upcomingTimes;
}

/** What the clock of a zone shows at a moment, as if it were UTC. */
function toWallTime(at: Date, timeZone: string): Date {
  const { offsetNanoseconds } = Temporal.Instant.fromEpochMilliseconds(at.getTime()).toZonedDateTimeISO(timeZone);
  return new Date(at.getTime() + offsetNanoseconds / 1e6);
}

/** When the clock shows that. @param side  `compatible`: the first of two moments, and behind a jump; `later`: the second of two. */
function toInstant(wall: Date, timeZone: string, side: 'compatible' | 'later'): Date {
  const wallTime = Temporal.PlainDateTime.from(wall.toISOString().slice(0, -1));
  return new Date(wallTime.toZonedDateTime(timeZone, { disambiguation: side }).epochMilliseconds);
}

/** Whether no clock is changed around a moment. */
function isSteady(at: Date, timeZone: string): boolean {
  const findOffset = (ms: number) => toWallTime(new Date(ms), timeZone).getTime() - ms;
  return findOffset(at.getTime() - changeMaxMs) === findOffset(at.getTime() + changeMaxMs);
}

function runsEachHour(jobs: Pick<Jobs, 'timesOf'>, cron: string): boolean {
  const [, hour] = cleanCron(cron).split(' ');
  const day = jobs.timesOf(`0 ${hour} * * *`, plainDay, hoursOfDay);
  return (day.at(-1)?.getTime() ?? Number.POSITIVE_INFINITY) <= plainDay.getTime() + dayMs;
}

/** On one line, with one blank between the fields. */
export function cleanCron(cron: string): string {
  return cron.trim().split(/\s+/).join(' ').toUpperCase();
}

/** The five fields; undefined for what is none. `H` would be a time that pg-boss draws by lot. */
function splitFields(cron: string): readonly string[] | undefined {
  if (cron.length > cronMaxChars) return undefined;
  const fields = cleanCron(cron).split(' ');
  return fields.length === 5 && fields.every((field) => /^[\dA-GI-Z*,/?#-]+$/.test(field)) ? fields : undefined;
}

/**
 * The shortest time between two runs on a day on which the expression runs, and to the first run of the next day; the first one found that is shorter
 * than `intervalMinMs`. Undefined when the expression cannot be read. Asks for few times at once: pg-boss gives up after a second, and a busy machine
 * takes long for a thousand.
 */
function shortestGapMs(jobs: Pick<Jobs, 'timesOf'>, fields: readonly string[], intervalMinMs: number): number | undefined {
  const [minute, hour] = fields;
  const end = plainDay.getTime() + dayMs;
  try {
    // The whole expression is read too: a day that never comes is refused here.
    jobs.timesOf(fields.join(' '), plainDay, 1);
    let shortestMs = Number.POSITIVE_INFINITY;
    let before: Date | undefined;
    while (shortestMs >= intervalMinMs && (before === undefined || before.getTime() <= end)) {
      for (const at of jobs.timesOf(`${minute} ${hour} * * *`, before ?? plainDay, timesAtOnce)) {
        if (before !== undefined) shortestMs = Math.min(shortestMs, at.getTime() - before.getTime());
        before = at;
      }
    }
    return shortestMs;
  } catch {
    return undefined;
  }
}

const months = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const weekdays = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];
/** The values of the fields, in their order; a name stands for the value at its place. */
const ranges: readonly { readonly min: number; readonly max: number; readonly names: readonly string[] }[] = [
  { min: 0, max: 59, names: [] },
  { min: 0, max: 23, names: [] },
  { min: 1, max: 31, names: [] },
  { min: 1, max: 12, names: months },
  { min: 0, max: 6, names: weekdays },
];

/** In words, why an expression cannot be read. */
function findObstacle(jobs: Pick<Jobs, 'timesOf'>, fields: readonly string[]): string {
  const backward = fields.flatMap((field, index) => field.split(',').flatMap((part) => backwardRange(part, index)))[0];
  if (backward !== undefined) return `cron has a range that runs backwards, ${backward.range}: write ${backward.instead}`;
  const [minute, hour, day, month, weekday] = fields;
  const isRead = (cron: string): boolean => {
    try {
      return jobs.timesOf(cron, plainDay, 1).length === 1;
    } catch {
      return false;
    }
  };
  const areFieldsRead = isRead(`${minute} ${hour} * ${month} ${weekday}`) && isRead(`0 0 ${day} * *`);
  if (areFieldsRead) return `cron names a day of the month that never comes: ${day} in month ${month}`;
  return `${cronRule}, as in "0 9 * * MON-FRI"`;
}

/** A range such as FRI-MON, and the two that it means. */
function backwardRange(part: string, index: number): { readonly range: string; readonly instead: string }[] {
  const { min, max, names } = ranges[index] ?? { min: 0, max: 0, names: [] };
  const [range = '', step] = part.split('/');
  const [first = '', last = '', ...rest] = range.split('-');
  const readNumber = (text: string) => (names.includes(text) ? names.indexOf(text) + min : Number.parseInt(text, 10));
  const [from, to] = [readNumber(first), readNumber(last)];
  if (rest.length > 0 || !(from > to) || from > max || to < min) return [];
  const findName = (value: number) => (names.includes(first) ? names[value - min] : String(value));
  const one = (low: number, high: number) => (low === high ? findName(low) : `${findName(low)}-${findName(high)}`);
  // Two ranges with a step would not mean the same as one that goes on.
  const instead =
    step === undefined ? `${one(from, max)},${one(min, to)}` : 'two ranges, one to the end and one from the beginning';
  return [{ range, instead }];
}

function inWords(ms: number): string {
  return ms % minuteMs === 0 ? `${ms / minuteMs} minute${ms === minuteMs ? '' : 's'}` : `${ms / 1_000} seconds`;
}
