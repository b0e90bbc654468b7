import { isObject, type JsonObject, readElements } from '../../../src/lib/json/json.ts';
import { shortened } from './table.ts';

/** What a table shows of a row of a list, by the operation; other lists show their members as they come. `--json` shows everything. */
export const rowViews: Readonly<Record<string, (row: JsonObject) => JsonObject>> = { listAuditLog: auditRow };

/** Together with the longest id these fit into a table: the id of the thing is never left out. */
const whoMax = 23;
const whatMax = 24;

/** When, who, what was done to what, and which members were given. */
function auditRow({ createdAt, actorEmail, action, outcome, count, targetId, changes }: JsonObject): JsonObject {
  const ended = outcome === 'SUCCEEDED' ? '' : `${String(outcome).toLowerCase()}: `;
  const times = typeof count === 'number' && count > 1 ? `${count} × ` : '';
  const members = readElements(changes).flatMap((change) => (isObject(change) ? [String(change.member)] : []));
  return {
    createdAt,
    who: shortened(String(actorEmail), whoMax),
    what: shortened(`${ended}${times}${String(action)}`, whatMax),
    targetId,
    changed: members.join(', '),
  };
}
