import type { AgentContent } from '../../../entities/agents/version.ts';
import { DomainError, outOfRange } from '../../../entities/ground/errors.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { ClosedAgent, OpenedAgent } from '../../../storage/agents/versions/versions.ts';
import type { Transaction } from '../../../storage/ground/database.ts';
import type { Deps } from '../../deps.ts';
import { applyChange, listDifferences, readContent } from './content.ts';

/** Names that one version or one change of a draft has at most. */
const membersMax = 100;

export type ExpectedDraft = number | null | undefined;

/**
 * Makes a change of what agents are made of, with its audit entry, in one transaction. It changes the draft, and publishes at once where the agent does
 * so or the request is one of REST: of a draft with other changes, only what this request changed is published.
 *
 * @param expectedDraft  the revision of the draft that the caller saw. @throws DomainError CONFLICT when somebody has changed it since.
 *
 * Cost: three statements for each agent besides those of `write`.
 */
export function changeAgents<T>(
  deps: Deps,
  caller: Caller,
  agentIds: readonly string[],
  write: (tx: Transaction) => Promise<T>,
  expectedDraft?: ExpectedDraft,
): Promise<T> {
  return deps.audit.change(caller, async (tx) => {
    const opened = new Map<string, OpenedAgent>();
    for (const id of [...new Set(agentIds)].sort()) {
      const agent = await deps.storage.agents.versions.open(id);
      if (agent === undefined) continue;
      await requireDraft(deps, id, agent, expectedDraft);
      opened.set(id, agent);
    }
    const result = await write(tx);
    for (const [id, agent] of opened) await settle(deps, caller, id, agent);
    return result;
  });
}

async function settle(deps: Deps, caller: Caller, id: string, opened: OpenedAgent): Promise<void> {
  const draft = await deps.storage.agents.versions.readDraft(id);
  if (draft === opened.draft) return;
  const [before, after] = [readContent(opened.draft), readContent(draft)];
  const members = listMembers(before, after);
  if (members.length === 0) return;
  const isAtOnce = opened.publishing === 'AT_ONCE' || caller.call?.isRest === true;
  const closed = isAtOnce
    ? publishChange(opened, { draft, before, after, members })
    : { isDraftChanged: isDraftChanged(opened, before, after), publishedVersion: opened.publishedVersion };
  await deps.storage.agents.versions.close(id, { ...closing(deps, caller, opened), ...closed, members });
}

function isDraftChanged({ published }: OpenedAgent, before: AgentContent, after: AgentContent): boolean {
  return listDifferences(published === null ? before : readContent(published), after).length > 0;
}

interface DraftStep {
  readonly draft: string;
  readonly before: AgentContent;
  readonly after: AgentContent;
  readonly members: readonly string[];
}

/** The version that a change publishes at once. */
function publishChange(
  { published, lastVersion }: OpenedAgent,
  { draft, before, after, members }: DraftStep,
): Pick<ClosedAgent, 'isDraftChanged' | 'publishedVersion' | 'versions'> {
  const merged = published === null ? after : applyChange(readContent(published), before, after);
  const content = published === null ? draft : JSON.stringify(merged);
  const number = lastVersion + 1;
  return {
    isDraftChanged: listDifferences(merged, after).length > 0,
    publishedVersion: number,
    versions: [{ number, note: '', members, isPublished: true, content }],
  };
}

/** What every change writes of its agent. */
export function closing(
  { now }: Pick<Deps, 'now'>,
  { userId }: Caller,
  { draftRevision }: OpenedAgent,
): Pick<ClosedAgent, 'userId' | 'createdAt' | 'draftRevision'> {
  return { userId, createdAt: now(), draftRevision: draftRevision + 1 };
}

export function listMembers(before: AgentContent, after: AgentContent): readonly string[] {
  return listDifferences(before, after)
    .map(({ member }) => member)
    .slice(0, membersMax);
}

/** @throws DomainError CONFLICT naming who changed the draft since the expected revision, and what. */
export async function requireDraft(
  deps: Deps,
  agentId: string,
  { draftRevision }: OpenedAgent,
  expectedDraft: ExpectedDraft,
): Promise<void> {
  if (expectedDraft === undefined || expectedDraft === null || expectedDraft === draftRevision) return;
  const param = 'expectedDraft';
  if (expectedDraft < 1 || expectedDraft > draftRevision) throw outOfRange(param, 1, draftRevision);
  const changes = (await deps.storage.agents.versions.listChangesSince([agentId], expectedDraft)).get(agentId) ?? [];
  const names = await readNames(deps, [...new Set(changes.flatMap(({ userId }) => userId ?? []))]);
  const members = [...new Set(changes.flatMap((change) => change.members))];
  const who = names.length === 0 ? 'Somebody' : names.join(', ');
  const what = members.length === 0 ? 'the draft' : members.slice(0, 20).join(', ');
  throw new DomainError(
    'CONFLICT',
    `${who} changed ${what} since you read revision ${expectedDraft} of the draft: nothing was saved`,
    {
      param,
    },
  );
}

async function readNames({ storage }: Deps, ids: readonly string[]): Promise<readonly string[]> {
  const people = await storage.people.users.findNames(ids);
  return people.map(({ name }) => name);
}
