import type { UsagePeriod, UsageSubject } from '../../../entities/operations/usage.ts';
import { addDays, startOfDay, toLocalDay } from '../../../lib/time-zone.ts';

/**
 * Rows that are added to a sum or, where `sign` is -1, taken from it: of one month each (`from` and `to` are the first days of months), of one day
 * each, or of one call each. Days and months are those of the organization's time zone, as the midnight of UTC that the database knows them by.
 */
export interface UsageSpan extends UsagePeriod {
  readonly grain: 'month' | 'day' | 'call';
  readonly sign: 1 | -1;
}

const dayMs = 86_400_000;
const dayAfter = (time: number) => Math.ceil(time / dayMs) * dayMs;

/** A period as whole days, which the daily sums cover, and what is left of days at its ends: at least one span. */
export function listDays({ from, to, timeZone = 'UTC' }: UsagePeriod): readonly UsageSpan[] {
  const first = from && nextDay(from, timeZone);
  const last = to && findDay(to, timeZone);
  const calls = (one: Date | undefined, other: Date | undefined) => span('call', one, other);
  if (first !== undefined && last !== undefined && first.day > last.day) return [calls(from, to)];
  const rest = [
    ...(first?.startsAt.getTime() === from?.getTime() ? [] : [calls(from, first?.startsAt)]),
    ...(last?.startsAt.getTime() === to?.getTime() ? [] : [calls(last?.startsAt, to)]),
  ];
  const isWithout = rest.length > 0 && first !== undefined && first.day.getTime() === last?.day.getTime();
  return isWithout ? rest : [span('day', first?.day, last?.day), ...rest];
}

interface LocalDay {
  /** As the database knows it. */
  readonly day: Date;
  readonly startsAt: Date;
}

/** The day in which a moment is. */
function findDay(at: Date, timeZone: string): LocalDay {
  return toDay(toLocalDay(at.getTime(), timeZone), timeZone);
}

/** The first day that begins at a moment or after it. */
function nextDay(at: Date, timeZone: string): LocalDay {
  const day = toLocalDay(at.getTime(), timeZone);
  const own = toDay(day, timeZone);
  return own.startsAt.getTime() === at.getTime() ? own : toDay(addDays(day, 1), timeZone);
}

function toDay(day: string, timeZone: string): LocalDay {
  return { day: new Date(day), startsAt: new Date(startOfDay(day, timeZone)) };
}

/**
 * As `daysOf`, and whole months where the period has them. At an end of the period that is not the end of a month, the fewer days are read: those of the
 * month that are in, or those that are out, which are taken from the sum of the month.
 *
 * @param now  after it there are no calls to read: it only decides what is cheaper.
 * @param daysMin  a shorter period is read by days, in one statement.
 */
export function listMonths(period: UsagePeriod, now: Date, daysMin = 0): readonly UsageSpan[] {
  const lengthMs = (period.to ?? now).getTime() - (period.from?.getTime() ?? 0);
  if (lengthMs < daysMin * dayMs) return listDays(period);
  return listDays(period).flatMap((whole) => {
    if (whole.grain !== 'day') return [whole];
    const first = whole.from && nearestMonth(whole.from, now);
    const last = whole.to && nearestMonth(whole.to, now);
    if (first !== undefined && last !== undefined && first >= last) return [whole];
    return [span('month', first, last), ...daysBetween(whole.from, first), ...daysBetween(last, whole.to)];
  });
}

/** The spans that are read for the users, keys or models of a period: there are no months of models, since their days are few. */
export function listSpans(subject: UsageSubject, period: UsagePeriod, daysMin?: number): readonly UsageSpan[] {
  return subject === 'model' ? listDays(period) : listMonths(period, new Date(), daysMin);
}

/** The days from `one` to before `other`; where `other` is the earlier, they are in the sum of a month and must not be. */
function daysBetween(one: Date | undefined, other: Date | undefined): readonly UsageSpan[] {
  if (one === undefined || other === undefined || one.getTime() === other.getTime()) return [];
  return one < other ? [span('day', one, other)] : [{ ...span('day', other, one), sign: -1 }];
}

/** The first day of the month of `day` or of the next month: from which fewer days with calls lie between. */
function nearestMonth(day: Date, now: Date): Date {
  const start = new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth(), 1));
  const end = new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + 1, 1));
  const daysWithCalls = Math.min(end.getTime(), dayAfter(now.getTime())) - day.getTime();
  return day.getTime() - start.getTime() <= daysWithCalls ? start : end;
}

function span(grain: UsageSpan['grain'], from: Date | undefined, to: Date | undefined): UsageSpan {
  return { grain, from, to, sign: 1 };
}
