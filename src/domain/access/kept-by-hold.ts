import type { Caller } from '../../entities/accounts/caller.ts';
import { DomainError } from '../../entities/errors.ts';
import type { LegalHoldStore } from '../../storage/data-life/holds.ts';

/** Mutations that delete what people said, gave or made. None of them works on what a legal hold keeps. */
export const deletingOperations: ReadonlySet<string> = new Set([
  'bulkDeleteDataSources',
  'deleteAgent',
  'deleteAgentSecret',
  'deleteAgentTool',
  'deleteChat',
  'deleteChatFile',
  'deleteConversation',
  'deleteConversationItem',
  'deleteDataSource',
  'deleteFile',
  'deleteFlow',
  'deleteMemories',
  'deleteMemory',
  'deleteOrganization',
  'deleteResponse',
  'deleteSchedule',
  'deleteSkill',
  'deleteUser',
  'deleteUserInput',
  'deleteVectorStore',
  'detachVectorStoreFile',
  'resetChat',
]);

/** Mutations with such a name that take away rights or labels, and nothing that anybody said or made. */
export const deletingNoContent: ReadonlySet<string> = new Set([
  'deleteAgentCategory',
  'deleteAgentGrants',
  'deleteConnection',
  // A copy.
  'deleteDataExport',
  'deleteGroup',
  'deleteMembership',
  'deletePasskey',
  // The source is kept.
  'detachDataSource',
  'deleteTenant',
  // Its deliveries name ids and states, for 30 days at most.
  'deleteWebhook',
  // It asks for holds itself, once it knows that the caller may erase the person.
  'erasePerson',
]);

/**
 * Since when a legal hold keeps what a mutation deletes: the caller's own things, and agents and sources by their owners. Undefined when nothing is held.
 * The caller must not be told before it is known that the caller may delete the thing: `refuseWhileHeld`.
 *
 * @param ids  of the arguments of the mutation.
 */
export async function findHold(
  holds: Pick<LegalHoldStore, 'keeps'>,
  { orgId, userId, level }: Pick<Caller, 'orgId' | 'userId' | 'level'>,
  action: string,
  ids: readonly string[],
): Promise<Date | undefined> {
  if (!deletingOperations.has(action)) return undefined;
  return holds.keeps({ orgId, userId, isAbove: level !== 'ORGANIZATION' }, ids);
}

/**
 * Refuses the deletion of what a legal hold keeps. `audit.change` does so for every change; a function that stops something before its change asks first.
 *
 * @throws DomainError CONFLICT. It does not say why there is a hold: administrators read that.
 */
export function refuseWhileHeld({ call }: Pick<Caller, 'call'>): void {
  if (call?.heldSince !== undefined) throw heldSince(call.heldSince);
}

export function heldSince(since: Date): DomainError {
  return new DomainError(
    'CONFLICT',
    `A legal hold keeps this since ${since.toISOString().slice(0, 10)}: nothing of it can be deleted until an administrator ends the hold`,
  );
}
