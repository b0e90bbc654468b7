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
  'deleteTenant',
  // Its deliveries name ids and states, for 30 days at most.
  'deleteWebhook',
  // It asks for holds itself, once it knows that the caller may erase the person.
  'erasePerson',
]);

/**
 * Refuses a deletion of what a legal hold keeps: of the caller's own things, and of agents and sources by their owners.
 *
 * @param ids  of the arguments of the mutation.
 * @throws DomainError CONFLICT. It does not say why there is a hold: administrators read that.
 */
export async function refuseWhileHeld(
  holds: Pick<LegalHoldStore, 'keeps'>,
  { orgId, userId, level }: Pick<Caller, 'orgId' | 'userId' | 'level'>,
  action: string,
  ids: readonly string[],
): Promise<void> {
  if (!deletingOperations.has(action)) return;
  const since = await holds.keeps({ orgId, userId, isAbove: level !== 'ORGANIZATION' }, ids);
  if (since !== undefined) throw heldSince(since);
}

export function heldSince(since: Date): DomainError {
  return new DomainError(
    'CONFLICT',
    `A legal hold keeps this since ${since.toISOString().slice(0, 10)}: nothing of it can be deleted until an administrator ends the hold`,
  );
}
