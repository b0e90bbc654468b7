/**
 * SQL: whether a time that was taken from the clock of the database is in the future, by more than transactions at one moment differ: the clock was set
 * back since.
 *
 * @param tolerance  more for a time that lies after its moment on purpose.
 */
export function isAhead(time: string, tolerance = "interval '1 minute'"): string {
  return `${time} > now() + ${tolerance}`;
}
