import { DomainError, errorCodes } from '../../../entities/ground/errors.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Deps } from '../../deps.ts';
import { requireScope } from '../access/policy.ts';
import { withAuditEntry } from './change.ts';
import type { CallOrigin } from './origin.ts';
import { toReader } from './reads.ts';

/** Runs change nothing that belongs to the organization; the usage ledger records them. */
export const unauditedOperations: ReadonlySet<string> = new Set([
  'createCompletion',
  'createEmbeddings',
  'testModel',
  'sendMessage',
  'submitToolOutputs',
  'retryRun',
  'editMessage',
  'regenerateMessage',
  'compareAnswers',
  // A mark that only its user sees.
  'markChatRead',
]);

/**
 * What every way into the service (REST, GraphQL, the WebSocket of responses, `/mcp`, the pages) does with an operation of
 * domain/ground/access/operation-scopes.ts: its scope is checked, a refusal and a change become entries of the audit log. Reads are noted by the functions that load what is shown (`audit.read`).
 * GraphQL wraps its resolvers with these functions, and REST calls those resolvers; the other ways call the functions themselves.
 */

/** One call, whichever way it came. */
export interface OperationCall extends CallOrigin {
  readonly deps: Deps;
  readonly caller: Caller;
}

/** @param ids  the ids in its arguments. @throws DomainError INSUFFICIENT_SCOPE, which is an entry of the audit log. */
export function requireOperation(call: OperationCall, operation: string, ids: readonly string[] = []): void {
  try {
    requireScope(call.caller, operation);
  } catch (error) {
    throw notedRefusal(call, operation, error, ids);
  }
}

/** Writes a refusal into the audit log. @returns the error itself. */
export function notedRefusal(call: OperationCall, operation: string, error: unknown, ids: readonly string[]): unknown {
  if (error instanceof DomainError && errorCodes[error.code].status === 403) {
    call.deps.audit.refusals.note(call.caller, toAction(operation), error, ids, call);
  }
  return error;
}

/**
 * Runs an operation for a way that has no resolvers, with the entries of its change and its reads.
 *
 * @throws what `work` throws; DomainError INSUFFICIENT_SCOPE.
 */
export async function performOperation<T>(
  call: OperationCall,
  operation: string,
  ids: readonly string[],
  work: (caller: Caller) => Promise<T>,
): Promise<T> {
  requireOperation(call, operation, ids);
  const { deps, caller, requestId, address } = call;
  const action = toAction(operation);
  const isChange = /^(Mutation|Page)\./.test(operation) && !unauditedOperations.has(action);
  try {
    if (!isChange) return await work(toReader(caller, [action], call));
    return await withAuditEntry(deps, caller, { action, ids, orgId: undefined, changes: [], requestId, address }, work);
  } catch (error) {
    throw notedRefusal(call, operation, error, ids);
  }
}

/** The name of an operation in the audit log: `createAgent` of `Mutation.createAgent`. */
export function toAction(operation: string): string {
  return operation.slice(operation.indexOf('.') + 1);
}
