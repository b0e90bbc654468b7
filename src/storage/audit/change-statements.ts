/**
 * Tables of the service itself: counters, reservations, names of tools, data keys, idempotency records, tickets, cache invalidations, the audit log. Writing to them
 * changes nothing that belongs to an organization, so it needs no entry in the audit log.
 */
const ownTables: ReadonlySet<string> = new Set([
  'agent_tool_names',
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

/** Whether a statement writes to a table other than the service's own. A table that the list does not name counts as a change, also a future one. */
export function isChange(text: string): boolean {
  for (const [, table = ''] of text.replaceAll(lockClauses, '').matchAll(writes)) {
    if (!ownTables.has(table.toLowerCase())) return true;
  }
  return false;
}
