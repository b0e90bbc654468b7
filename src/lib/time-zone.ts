const nameMaxChars = 64;

/** Whether it is the IANA name of a time zone. An offset such as `+01:00` is none: databases read it the other way round. */
export function isTimeZone(name: string): boolean {
  if (name.length > nameMaxChars || !/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** The day that calendars of a time zone show: `2026-01-31`. */
export function toLocalDay(atMs: number, timeZone: string): string {
  return Temporal.Instant.fromEpochMilliseconds(atMs).toZonedDateTimeISO(timeZone).toPlainDate().toString();
}

/** When a day begins in a time zone, also where the clock skips midnight. @param day  `2026-01-31`. */
export function startOfDay(day: string, timeZone: string): number {
  return Temporal.PlainDate.from(day).toZonedDateTime(timeZone).epochMilliseconds;
}

/** The day so many days later. */
export function addDays(day: string, count: number): string {
  return Temporal.PlainDate.from(day).add({ days: count }).toString();
}

/** The first day of the next month. */
export function startOfNextMonth(day: string): string {
  return Temporal.PlainDate.from(day).with({ day: 1 }).add({ months: 1 }).toString();
}

/** How many days there are from one to another, both included. */
export function countDays(first: string, last: string): number {
  return Temporal.PlainDate.from(first).until(last).days + 1;
}
