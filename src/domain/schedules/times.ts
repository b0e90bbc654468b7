import type { Jobs } from '../../engine/jobs/jobs.ts';
import type { Schedule } from '../../entities/schedules/schedule.ts';
import type { Faults } from '../faults.ts';

const cronMaxChars = 100;
const timeZoneMaxChars = 64;
const dayMs = 86_400_000;
const minuteMs = 60_000;
const timesAtOnce = 12;
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
  const fields = fieldsOf(cron);
  const gapMs = fields === undefined ? undefined : shortestGapMs(jobs, fields, intervalMinMs);
  if (gapMs === undefined) faults.add('cron', `${cronRule}, as in "0 9 * * MON-FRI"`);
  else if (gapMs < intervalMinMs) faults.add('cron', `cron must leave at least ${inWords(intervalMinMs)} between two runs`);
}

/** The next time of a schedule after a moment. @throws Error for what cannot be read any more. */
export function nextTime(
  jobs: Pick<Jobs, 'timesOf'>,
  { cron, timeZone }: Pick<Schedule, 'cron' | 'timeZone'>,
  after: Date,
): Date {
  const [next] = jobs.timesOf(cron, timeZone, after, 1);
  if (next === undefined) throw new Error(`the cron expression ${cron} has no next time`);
  return next;
}

/** On one line, with one blank between the fields. */
export function cleanCron(cron: string): string {
  return cron.trim().split(/\s+/).join(' ').toUpperCase();
}

/** The five fields; undefined for what is none. `H` would be a time that pg-boss draws by lot. */
function fieldsOf(cron: string): readonly string[] | undefined {
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
    jobs.timesOf(fields.join(' '), 'UTC', plainDay, 1);
    let shortestMs = Number.POSITIVE_INFINITY;
    let before: Date | undefined;
    while (shortestMs >= intervalMinMs && (before === undefined || before.getTime() <= end)) {
      for (const at of jobs.timesOf(`${minute} ${hour} * * *`, 'UTC', before ?? plainDay, timesAtOnce)) {
        if (before !== undefined) shortestMs = Math.min(shortestMs, at.getTime() - before.getTime());
        before = at;
      }
    }
    return shortestMs;
  } catch {
    return undefined;
  }
}

/** Offsets such as +02:00 are none: they know no summer time. */
function isTimeZone(name: string): boolean {
  if (name.length > timeZoneMaxChars || !/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

function inWords(ms: number): string {
  return ms % minuteMs === 0 ? `${ms / minuteMs} minute${ms === minuteMs ? '' : 's'}` : `${ms / 1_000} seconds`;
}
