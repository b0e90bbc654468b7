import { type AgentContent, type AgentVersion, type DraftChange, draftVersion } from '../../../entities/agents/version.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { Page, PageRequest } from '../../../entities/ground/page.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Deps } from '../../deps.ts';
import { readContent } from './content.ts';
import { type ContentChange, diffContents } from './diff.ts';
import { missingVersion, open, requireVersionNumber, versionedAgent } from './publish.ts';

/**
 * The versions of an agent, newest first. The first list of an agent of before versions writes the row of its version.
 *
 * @throws DomainError NOT_FOUND; FORBIDDEN for who may not edit the agent.
 */
export async function listAgentVersions(deps: Deps, caller: Caller, id: string, page: PageRequest): Promise<Page<AgentVersion>> {
  const agent = await versionedAgent(deps, caller, id);
  const { versions } = deps.storage.agents;
  deps.audit.read(caller, 'instructions', [agent]);
  const versionPage = await versions.list(id, page);
  const isRead = versionPage.items.length > 0 || page.after !== undefined;
  if (!isRead) await writeFirst(deps, id);
  const { items, ...rest } = isRead ? versionPage : await versions.list(id, page);
  return { ...rest, items: items.map((version) => toShown(caller, version)) };
}

/** The members of a content that a key reads by a scope of their own. */
const scopedLists = [
  ['skills', 'SKILLS:READ'],
  ['sources', 'DATA_SOURCES:READ'],
] as const;

/** A version, or a change of the draft, without the names of what the key may not read. */
function toShown<Named extends { readonly members: readonly string[] }>({ scopes }: Caller, version: Named): Named {
  const hidden = scopedLists.flatMap(([list, scope]) => (scopes.has(scope) ? [] : [`${list}.`]));
  if (hidden.length === 0) return version;
  return { ...version, members: version.members.filter((member) => !hidden.some((start) => member.startsWith(start))) };
}

/** A content without what the key may not read. */
function toShownContent({ scopes }: Caller, content: AgentContent): AgentContent {
  const hidden = scopedLists.flatMap(([list, scope]) => (scopes.has(scope) ? [] : [[list, []] as const]));
  return hidden.length === 0 ? content : { ...content, ...Object.fromEntries(hidden) };
}

/** One version. @throws DomainError NOT_FOUND, FORBIDDEN. */
export async function getAgentVersion(deps: Deps, caller: Caller, id: string, number: number): Promise<AgentVersion> {
  requireVersionNumber('number', number);
  const agent = await versionedAgent(deps, caller, id);
  deps.audit.read(caller, 'instructions', [agent]);
  const { versions } = deps.storage.agents;
  const version = await versions.find(id, number);
  if (version !== undefined) return toShown(caller, version);
  if (number !== agent.publishedVersion) throw missingVersion();
  await writeFirst(deps, id);
  const first = await versions.find(id, number);
  if (first === undefined) throw missingVersion();
  return toShown(caller, first);
}

/**
 * What a version holds, as far as the key may read it; 0: the draft.
 *
 * @param param  the member that names the version. @throws DomainError NOT_FOUND, FORBIDDEN.
 */
export async function readVersionContent(
  deps: Deps,
  caller: Caller,
  id: string,
  number: number,
  param = 'version',
): Promise<AgentContent> {
  const agent = await versionedAgent(deps, caller, id);
  deps.audit.read(caller, 'instructions', [agent]);
  const { versions } = deps.storage.agents;
  const isDraft = number === draftVersion || (number === agent.publishedVersion && !agent.isDraftChanged);
  if (isDraft) return toShownContent(caller, readContent(await versions.readDraft(id)));
  const content = await versions.findContent(id, number);
  if (content === undefined) throw missingVersion(param);
  return toShownContent(caller, content);
}

/** What differs between two versions, by member; 0: the draft. @throws DomainError NOT_FOUND, FORBIDDEN. */
export async function diffAgentVersions(
  deps: Deps,
  caller: Caller,
  id: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<readonly ContentChange[]> {
  const before = await readVersionContent(deps, caller, id, from, 'from');
  return diffContents(before, await readVersionContent(deps, caller, id, to, 'to'));
}

/** The version that an argument names: `draft`, or a number from 1 on. @throws DomainError INVALID_VALUE. */
export function readVersionName(param: string, name: string | null | undefined): number | undefined {
  if (name === undefined || name === null) return undefined;
  if (name === 'draft') return draftVersion;
  const number = Number(name);
  if (/^[1-9]\d{0,8}$/.test(name)) return number;
  throw new DomainError('INVALID_VALUE', `${param} must be "draft" or the number of a version`, { param });
}

/** The same where it must be named. */
export function requireVersionName(param: string, name: string): number {
  return readVersionName(param, name) ?? draftVersion;
}

/** Who changed which members of drafts after a revision, oldest first, in the order of `ids`. The caller may edit the agents. Cost: one statement. */
export async function listDraftChanges(
  { storage }: Deps,
  caller: Caller,
  ids: readonly string[],
  after: number,
): Promise<readonly (readonly DraftChange[])[]> {
  const changes = await storage.agents.versions.listChangesSince(ids, after);
  return ids.map((id) => (changes.get(id) ?? []).map((change) => toShown(caller, change)));
}

/** The names of those who made versions, in order; null for somebody who is gone. */
export async function readMakers(deps: Deps, ids: readonly (string | null)[]): Promise<readonly (string | null)[]> {
  const people = await deps.storage.people.users.findNames(ids.filter((id) => id !== null));
  const names = new Map(people.map(({ id, name }) => [id, name]));
  return ids.map((id) => (id === null ? null : (names.get(id) ?? null)));
}

async function writeFirst(deps: Deps, id: string): Promise<void> {
  await deps.storage.db.transaction(() => open(deps, id, null));
}
