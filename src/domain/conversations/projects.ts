import {
  type Project,
  type ProjectParts,
  projectInstructionCharsMax,
  projectPartsMax,
} from '../../entities/conversations/project.ts';
import { DomainError } from '../../entities/ground/errors.ts';
import { isId } from '../../entities/ground/ids.ts';
import type { Page, PageRequest } from '../../entities/ground/page.ts';
import type { Caller } from '../../entities/people/caller.ts';
import { storableText } from '../../lib/text/text.ts';
import type { ProjectOfRun } from '../../storage/conversations/projects/projects.ts';
import type { Deps } from '../deps.ts';
import {
  canEditProject,
  toViewer,
  usableAgents,
  visibleDataSources,
  visibleGroups,
  visibleProjects,
} from '../ground/access/access.ts';
import { Faults } from '../ground/faults.ts';
import { toMember } from './runs/agent-rights.ts';

type Optional<T> = T | null | undefined;

export interface CreateProjectInput {
  readonly name: string;
  readonly instructions?: Optional<string>;
  readonly groupIds?: Optional<readonly string[]>;
  readonly dataSourceIds?: Optional<readonly string[]>;
  readonly agentIds?: Optional<readonly string[]>;
}
/** Absent and null members are kept. */
export type UpdateProjectInput = Partial<Omit<CreateProjectInput, 'name'>> & { readonly name?: Optional<string> };

const nameLengthMax = 200;

/** @throws DomainError NOT_FOUND, also for one that the caller may not see. */
export async function getProject(deps: Deps, caller: Caller, id: string): Promise<Project> {
  const project = isId('project', id) ? await deps.storage.conversations.projects.find(id, visibleProjects(caller)) : undefined;
  if (project === undefined) throw missingProject();
  return project;
}

/** Those among `ids` that the caller may see, in any order. */
export function getProjects(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly Project[]> {
  return deps.storage.conversations.projects.findMany(ids, visibleProjects(caller));
}

/** The caller's projects and those shared with its groups, newest first. @throws DomainError INVALID_VALUE for a search of more than 200 characters. */
export function listProjects(deps: Deps, caller: Caller, search: Optional<string>, page: PageRequest): Promise<Page<Project>> {
  const faults = new Faults();
  faults.requireLength('search', search ?? '', nameLengthMax);
  faults.throwIfAny();
  const text = search?.trim();
  return deps.storage.conversations.projects.list(visibleProjects(caller), text === '' ? undefined : text, page);
}

/** The parts of projects that the caller sees, in the order of the ids. Cost: three statements. */
export async function listProjectParts(deps: Deps, ids: readonly string[]): Promise<readonly ProjectParts[]> {
  const parts = await deps.storage.conversations.projects.partsOf(ids);
  return ids.map((id) => parts.get(id) ?? { groupIds: [], dataSourceIds: [], agentIds: [] });
}

/**
 * Makes a project of the caller.
 *
 * @throws DomainError naming every faulty member; groups, sources and agents must be of those that the caller may see.
 */
export async function createProject(deps: Deps, caller: Caller, input: CreateProjectInput): Promise<Project> {
  const faults = new Faults();
  checkProjectInput(input, faults);
  const parts = await readParts(deps, caller, input, undefined, faults);
  faults.throwIfAny();
  const id = deps.newId('project');
  const { orgId, userId } = caller;
  const project = {
    id,
    createdAt: deps.now(),
    orgId,
    userId,
    name: clean(input.name),
    instructions: clean(input.instructions ?? ''),
  };
  await deps.audit.change(caller, async () => {
    await deps.storage.conversations.projects.create(project, { groupIds: [], dataSourceIds: [], agentIds: [], ...parts });
    return { id };
  });
  return getProject(deps, caller, id);
}

/** @throws DomainError NOT_FOUND; FORBIDDEN for everyone except the owner; naming every faulty member. */
export async function updateProject(deps: Deps, caller: Caller, id: string, input: UpdateProjectInput): Promise<Project> {
  const project = await getProject(deps, caller, id);
  requireOwner(caller, project);
  const faults = new Faults();
  checkProjectInput(input, faults);
  const [before] = await listProjectParts(deps, [id]);
  const parts = await readParts(deps, caller, input, before, faults);
  faults.throwIfAny();
  const changes = {
    ...(typeof input.name === 'string' ? { name: clean(input.name) } : {}),
    ...(typeof input.instructions === 'string' ? { instructions: clean(input.instructions) } : {}),
  };
  await deps.audit.change(caller, () => deps.storage.conversations.projects.update(id, changes, parts));
  return getProject(deps, caller, id);
}

/** Deletes a project; its chats stay, in no project. @returns what it was. @throws DomainError NOT_FOUND; FORBIDDEN for everyone except the owner. */
export async function deleteProject(deps: Deps, caller: Caller, id: string): Promise<Project> {
  const project = await getProject(deps, caller, id);
  requireOwner(caller, project);
  await deps.audit.change(caller, async () => {
    if (!(await deps.storage.conversations.projects.delete(id))) throw missingProject();
  });
  return project;
}

/**
 * What a run gets of the project of its chat: undefined where the asking person may not see it (any more). Of its sources, those that the person may read.
 *
 * Cost: two statements; none for a chat in no project.
 */
export async function projectOfRun(deps: Deps, caller: Caller, projectId: string | null): Promise<ProjectOfRun | undefined> {
  if (projectId === null) return undefined;
  const readable = visibleDataSources(toMember(caller));
  return deps.storage.conversations.projects.ofRun(projectId, visibleProjects(caller), readable);
}

/** Notes the faults of the members that are there. */
export function checkProjectInput(input: UpdateProjectInput, faults: Faults): void {
  if (typeof input.name === 'string') faults.requireName('name', input.name, nameLengthMax);
  faults.requireLength('instructions', input.instructions ?? '', projectInstructionCharsMax);
  for (const member of ['groupIds', 'dataSourceIds', 'agentIds'] as const) {
    faults.requireCount(member, input[member] ?? [], projectPartsMax);
  }
}

/** @param before  parts that stay need not be seen by the caller any more. */
async function readParts(
  deps: Deps,
  caller: Caller,
  { groupIds, dataSourceIds, agentIds }: UpdateProjectInput,
  before: ProjectParts | undefined,
  faults: Faults,
): Promise<Partial<ProjectParts>> {
  const { people, knowledge, agents } = deps.storage;
  const { orgId } = caller;
  const atHome = (things: readonly { readonly id: string; readonly orgId: string }[]) =>
    new Set(things.filter((thing) => thing.orgId === orgId).map(({ id }) => id));
  const readIds = async (
    member: keyof ProjectParts,
    given: Optional<readonly string[]>,
    find: (ids: readonly string[]) => Promise<ReadonlySet<string>>,
  ): Promise<Partial<ProjectParts>> => {
    if (given === undefined || given === null || given.length > projectPartsMax) return {};
    const ids = [...new Set(given)];
    const added = ids.filter((id) => before?.[member].includes(id) !== true);
    const visible = added.length === 0 ? new Set() : await find(added);
    for (const id of added) {
      if (!visible.has(id))
        faults.add(`${member}[${given.indexOf(id)}]`, `${member}[${given.indexOf(id)}] names nothing that you may use`);
    }
    return { [member]: ids };
  };
  return {
    ...(await readIds('groupIds', groupIds, async (ids) => atHome(await people.groups.findMany(ids, visibleGroups(caller))))),
    ...(await readIds('dataSourceIds', dataSourceIds, async (ids) =>
      atHome(await knowledge.sources.findMany(ids, visibleDataSources(caller))),
    )),
    ...(await readIds('agentIds', agentIds, async (ids) => {
      // A key that may not read agents knows none.
      if (!caller.scopes.has('AGENTS:READ')) return new Set();
      return new Set((await agents.findMany(ids, usableAgents(caller), toViewer(caller))).map(({ id }) => id));
    })),
  };
}

function requireOwner(caller: Caller, project: Project): void {
  if (!canEditProject(caller, project)) throw new DomainError('FORBIDDEN', 'Only the owner of a project may change or delete it');
}

function clean(text: string): string {
  return storableText(text).trim();
}

export function missingProject(param = 'projectId'): DomainError {
  return new DomainError('NOT_FOUND', 'There is no such project', { param });
}
