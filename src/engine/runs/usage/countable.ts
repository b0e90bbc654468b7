/** Upstreams may report anything: a row that the database refuses would block all rows after it. */
export function countable(tokens: number): number {
  return Number.isFinite(tokens) ? Math.min(Math.max(0, Math.trunc(tokens)), 2_147_483_647) : 0;
}
