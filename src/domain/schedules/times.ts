import type { Jobs } from '../../engine/jobs/jobs.ts';
import type { Schedule } from '../../entities/schedules/schedule.ts';
import type { Faults } from '../faults.ts';

const cronMaxChars = 100;
const timeZoneMaxChars = 64;
const dayMs = 86_400_000;
const minuteMs = 60_000;
/** As many as pg-boss reads at once. An expression with more in a day runs in most of its hours: the first of them show every distance. */
const timesMax = 1_000;
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
  const times = fields === undefined ? undefined : timesOfDay(jobs, fields, intervalMinMs);
  if (times === undefined) faults.add('cron', `${cronRule}, as in "0 9 * * MON-FRI"`);
  else if (times.some((at, index) => index > 0 && at.getTime() - (times[index - 1]?.getTime() ?? 0) < intervalMinMs)) {
    faults.add('cron', `cron must leave at least ${inWords(intervalMinMs)} between two runs`);
  }
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

/** The first times of a day on which the expression runs, and of the days behind it; undefined when it cannot be read. */
function timesOfDay(jobs: Pick<Jobs, 'timesOf'>, fields: readonly string[], intervalMinMs: number): readonly Date[] | undefined {
  const [minute, hour] = fields;
  const count = Math.min(Math.ceil(dayMs / intervalMinMs) + 1, timesMax);
  try {
    // The whole expression is read too: a day that never comes is refused here.
    jobs.timesOf(fields.join(' '), 'UTC', plainDay, 1);
    return jobs.timesOf(`${minute} ${hour} * * *`, 'UTC', plainDay, Math.max(count, 2));
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
