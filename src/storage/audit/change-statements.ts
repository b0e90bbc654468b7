/**
 * Tables that the service keeps for itself. What is written there changes nothing that an organization has, so it needs no entry in the
 * audit log: counters, reservations, data keys, remembered replies, tickets, announcements, the log itself.
 */
const ownTables: ReadonlySet<string> = new Set([
  'audit_entries',
  'cache_invalidations',
  'idempotency_records',
  'installations',
  'organization_keys',
  'parley_migrations',
  'rate_buckets',
  'usage_counters',
  'usage_days',
  'usage_entries',
  'usage_reservations',
  'used_tickets',
]);

const lockClauses = /\b(?:for|for\s+no\s+key|do)\s+update\b/gi;
const writes = /\b(?:insert\s+into|update|delete\s+from|merge\s+into)\s+(?:only\s+)?(?:"?\w+"?\.)?"?(\w+)"?/gi;

/** Whether a statement writes into a table other than the service's own. Tables not named here are changes, also those not made yet. */
export function isChange(text: string): boolean {
  for (const [, table = ''] of text.replaceAll(lockClauses, '').matchAll(writes)) {
    if (!ownTables.has(table.toLowerCase())) return true;
  }
  return false;
}
