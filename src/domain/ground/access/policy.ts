import { DomainError } from '../../../entities/ground/errors.ts';
import type { Caller, Scope } from '../../../entities/people/caller.ts';
import { isDirectory, mayChange } from './access.ts';
import { operationScopes } from './operation-scopes.ts';

/** What people do on pages of the service: the scope that the key needs with which they were called; null where the person needs none. */
export const pageScopes: Readonly<Record<string, Scope | null>> = {
  'Page.confirmConnection': 'CONNECTIONS:WRITE',
  'Page.acceptInvitation': null,
  'Page.approveApp': 'API_KEYS:WRITE',
  'Page.signIn': null,
  'Page.signOut': null,
};

/** Operations whose calls run a model, or follow a run. Both APIs count them as places in the pool of runs, so that no caller takes all places. */
export const runOperations: ReadonlySet<string> = new Set([
  'Mutation.generateAgentProfile',
  'Mutation.createCompletion',
  'Mutation.testModel',
  'Mutation.tryAgentTool',
  'Mutation.sendMessage',
  'Mutation.submitToolOutputs',
  'Mutation.editMessage',
  'Mutation.regenerateMessage',
  'Mutation.compareAnswers',
  'Mutation.summarizeChat',
  'Mutation.compressChat',
  'Subscription.completionEvents',
  'Subscription.messageEvents',
  'Subscription.toolOutputEvents',
  'Subscription.editedMessageEvents',
  'Subscription.regeneratedMessageEvents',
  'Subscription.runEvents',
  'Mutation.createResponse',
  'Mutation.compactResponse',
  'Mutation.resumeResponse',
  'Subscription.newResponseEvents',
  'Subscription.resumedResponseEvents',
]);

/** Whether the caller's key has the scope of an operation: what a list of possible calls shows. */
export function hasScope(caller: Caller, operation: string): boolean {
  const scope = findScope(operation);
  return scope === null ? !isDirectory(caller) : scope !== undefined && caller.scopes.has(scope);
}

/** Mutations by which people keep their own way in safe: those of an AUDITOR too. */
const ownSignInOperations: ReadonlySet<string> = new Set([
  'Mutation.endSession',
  'Mutation.endOtherSessions',
  'Mutation.setPassword',
  'Mutation.beginPasskey',
  'Mutation.addPasskey',
  'Mutation.renamePasskey',
  'Mutation.deletePasskey',
]);

/** @throws DomainError FORBIDDEN for a mutation of an AUDITOR, whatever the scopes of the key are. */
export function requireChange(caller: Caller, operation: string): void {
  if (mayChange(caller) || !operation.startsWith('Mutation.') || ownSignInOperations.has(operation)) return;
  throw new DomainError('FORBIDDEN', 'An AUDITOR reads what administrators read and changes nothing');
}

/**
 * Checks that the caller's key has the scope of an operation. Whether the caller may use a certain thing is decided later, where the thing is
 * loaded.
 *
 * @param operation  `Query.agents`, `Mutation.createAgent`, … as in `operationScopes`.
 * @throws DomainError INSUFFICIENT_SCOPE, also for an operation that the table does not know; FORBIDDEN as `requireChange`.
 */
export function requireScope(caller: Caller, operation: string): void {
  if (!hasScope(caller, operation)) {
    const scope = findScope(operation);
    throw insufficientScope(operation.split('.').at(-1) ?? operation, scope);
  }
  requireChange(caller, operation);
}

/** @param scope  what the operation needs; null: any scope but SCIM:WRITE. */
export function insufficientScope(operation: string, scope: Scope | null | undefined): DomainError {
  if (scope === null) {
    return new DomainError(
      'INSUFFICIENT_SCOPE',
      `${operation} cannot be called with a key of SCIM:WRITE, which serves SCIM alone`,
    );
  }
  const need = scope === undefined ? 'may not be called' : `needs a key with the scope ${scope}`;
  return new DomainError('INSUFFICIENT_SCOPE', `${operation} ${need}`);
}

function findScope(operation: string): Scope | null | undefined {
  return operation in operationScopes ? operationScopes[operation] : pageScopes[operation];
}
