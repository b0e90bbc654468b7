import type { StoredRequest } from '../../../engine/runs/stored/request.ts';
import type { Run } from '../../../entities/conversations/runs/run.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { isId } from '../../../entities/ground/ids.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { readSecrets } from '../../agents/tools/secrets.ts';
import type { Deps } from '../../deps.ts';
import { canWriteChat } from '../../ground/access/access.ts';
import { Faults } from '../../ground/faults.ts';
import { getRun, missingRun } from '../runs/runs.ts';
import { getOwnChat } from './chats.ts';
import { agentOfChat, modelFor, newMessage, newRun, startTurn } from './messages.ts';

/**
 * Asks anew what a failed run was asked: same model, tools and instructions. What the failed run said and did stays in the chat, and the model
 * reads it, so that it knows which calls were made.
 *
 * @param given  the secrets of the request again, where it had some: they are kept nowhere.
 * @throws DomainError NOT_FOUND, FORBIDDEN; CONFLICT when it did not fail or the chat went on; MISSING_REQUIRED_PARAMETER for its secrets.
 */
export async function retryRun(
  deps: Deps,
  caller: Caller,
  id: string,
  { chatId, secrets: secretsInput }: { readonly chatId?: string | null | undefined; readonly secrets?: unknown },
): Promise<Run> {
  // A response is asked again by a request for a new one.
  if (!isId('run', id)) throw missingRun();
  const failedRun = await getRun(deps, caller, id, chatId);
  if (failedRun.chatId === null || !canWriteChat(caller, failedRun)) {
    throw new DomainError('FORBIDDEN', 'Only the user of a chat may ask its runs again');
  }
  if (failedRun.status !== 'failed') throw notFailed();
  const chat = await getOwnChat(deps, caller, failedRun.chatId);
  const before = await deps.storage.conversations.runs.findRequest(failedRun.id);
  if (before === undefined) throw notFailed();
  const faults = new Faults();
  const secrets = readSecrets(secretsInput, faults);
  faults.throwIfAny();
  const { isWhole: _isWhole, ...request } = before.request as StoredRequest;
  if (request.needsSecrets === true && Object.keys(secrets).length === 0) {
    const message = 'The failed run had secrets, which are kept nowhere: give them again in secrets';
    throw new DomainError('MISSING_REQUIRED_PARAMETER', message, { param: 'secrets' });
  }
  // Refused when the caller may no longer use the agent.
  await agentOfChat(deps, caller, chat);
  const model = await modelFor(deps, before.modelId);
  await deps.runs.requireRoom(caller);
  const run = newRun(deps, caller, { chat, modelId: model.id, request, secrets });
  return startTurn(deps, run, secrets, {
    lastMessages: 1,
    approvalIds: [],
    messages: ([last]) => {
      if (last?.runId !== failedRun.id) throw notFailed();
      // Providers want a user's turn last.
      if (last.role === 'user') return [];
      const again = newMessage(deps, run, { role: 'user', content: askedAgain, parts: null, toolCallId: null, toolStatus: null });
      return [{ ...again, isHidden: true }];
    },
  });
}

/** Tells the model what it reads: calls whose results stand there are not to be made twice. */
const askedAgain =
  'The answer above was interrupted. Answer my last message again, from the beginning. Do not repeat calls of tools that were made already.';

function notFailed(): DomainError {
  return new DomainError('CONFLICT', 'Only a run that failed can be asked again, and only while it is the last one of its chat');
}
