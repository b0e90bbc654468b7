import { fullMemory } from '../../engine/tools/memory/memory.ts';
import { searchWords } from '../../engine/tools/memory/words.ts';
import { type Memory, type MemoryScope, memoryKeyMaxChars } from '../../entities/conversations/memory.ts';
import { DomainError } from '../../entities/ground/errors.ts';
import { isId } from '../../entities/ground/ids.ts';
import { emptyPage, type Page, type PageRequest } from '../../entities/ground/page.ts';
import type { Caller } from '../../entities/people/caller.ts';
import { oneLine, storableText } from '../../lib/text/text.ts';
import type { MemoryFilter } from '../../storage/conversations/memories/owner.ts';
import { agentForRun } from '../agents/agents.ts';
import type { Deps } from '../deps.ts';
import { Faults } from '../ground/faults.ts';

type Optional<T> = T | null | undefined;

/** Which of the caller's memories; absent members: all. */
export interface MemoryQuery {
  readonly scope?: Optional<MemoryScope>;
  readonly agentId?: Optional<string>;
}
export interface CreateMemoryInput {
  readonly text: string;
  readonly key?: Optional<string>;
  readonly agentId?: Optional<string>;
}
/** Absent members are kept; `key: null` takes the key away. */
export interface UpdateMemoryInput {
  readonly text?: Optional<string>;
  readonly key?: Optional<string>;
}

/** A memory of the caller. @throws DomainError NOT_FOUND, also for one of another user or organization. */
export async function getMemory(deps: Deps, caller: Caller, id: string): Promise<Memory> {
  const memory = isId('memory', id) ? await deps.storage.conversations.memories.find(id, toOwner(caller)) : undefined;
  if (memory === undefined) throw missingMemory();
  return memory;
}

/** The caller's memories among `ids`, in any order. */
export function getMemories(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly Memory[]> {
  return deps.storage.conversations.memories.findMany(ids, toOwner(caller));
}

/** The caller's memories, newest first. @throws DomainError MUTUALLY_EXCLUSIVE_PARAMETERS for scope `user` with an agent. */
export async function listMemories(deps: Deps, caller: Caller, query: MemoryQuery, page: PageRequest): Promise<Page<Memory>> {
  return deps.storage.conversations.memories.list(toFilter(caller, query), page);
}

/** A page of the caller's memories with each agent alone, in the order of the agents. Cost: two statements. */
export async function pageMemoriesOfAgents(
  deps: Deps,
  caller: Caller,
  agentIds: readonly string[],
  page: PageRequest,
): Promise<readonly Page<Memory>[]> {
  const pages = await deps.storage.conversations.memories.pagesOfAgents(toOwner(caller), agentIds, page);
  return agentIds.map((id) => pages.get(id) ?? emptyPage(page));
}

/**
 * Remembers something of the caller. A memory with the same key and agent is replaced.
 *
 * @throws DomainError naming every faulty member; NOT_FOUND for an agent that the caller may not use; CONFLICT when it has as many as one may have.
 */
export async function createMemory(deps: Deps, caller: Caller, input: CreateMemoryInput): Promise<Memory> {
  const { settings, newId, now } = deps;
  const faults = new Faults();
  checkMemoryInput(input, faults, settings.MEMORY_MAX_CHARS);
  faults.throwIfAny();
  const agentId = typeof input.agentId === 'string' ? (await agentForRun(deps, caller, input.agentId)).id : null;
  const text = cleanText(input.text);
  const key = cleanKey(input.key);
  const memory = { ...toOwner(caller), id: newId('memory'), createdAt: now(), agentId, key, text, callKey: null };
  return deps.audit.change(caller, async () => {
    const rememberResult = await deps.storage.conversations.memories.remember(
      { ...memory, ...searchWords(key, text) },
      settings.MEMORIES_MAX,
    );
    if (rememberResult.kind === 'full') throw fullMemory(settings.MEMORIES_MAX);
    return rememberResult.memory;
  });
}

/** @throws DomainError NOT_FOUND; naming every faulty member; CONFLICT when another memory with the same agent has the key. */
export async function updateMemory(deps: Deps, caller: Caller, id: string, input: UpdateMemoryInput): Promise<Memory> {
  const before = await getMemory(deps, caller, id);
  const faults = new Faults();
  checkMemoryInput(input, faults, deps.settings.MEMORY_MAX_CHARS);
  faults.throwIfAny();
  const text = typeof input.text === 'string' ? cleanText(input.text) : before.text;
  const key = input.key === undefined ? before.key : cleanKey(input.key);
  return deps.audit.change(caller, async () => {
    const updateResult = await deps.storage.conversations.memories.update(id, toOwner(caller), {
      text,
      key,
      ...searchWords(key, text),
    });
    if (updateResult === undefined) throw missingMemory();
    if (updateResult === 'conflict') throw new DomainError('CONFLICT', `Another memory has the key ${key}`, { param: 'key' });
    return updateResult;
  });
}

/** Deletes a memory. @returns what it was. @throws DomainError NOT_FOUND. */
export async function deleteMemory(deps: Deps, caller: Caller, id: string): Promise<Memory> {
  const memory = await getMemory(deps, caller, id);
  await deps.audit.change(caller, async () => {
    if (!(await deps.storage.conversations.memories.delete(id, toOwner(caller)))) throw missingMemory();
  });
  return memory;
}

/** Deletes the caller's memories. @returns how many there were. @throws DomainError as `listMemories`. */
export async function deleteMemories(deps: Deps, caller: Caller, query: MemoryQuery): Promise<{ readonly deletedCount: number }> {
  return {
    deletedCount: await deps.audit.change(caller, () => deps.storage.conversations.memories.deleteAll(toFilter(caller, query))),
  };
}

/** Notes the faults of the members that are there. */
export function checkMemoryInput(input: UpdateMemoryInput, faults: Faults, textMaxChars?: number): void {
  const { text, key } = input;
  if (typeof text === 'string') {
    if (text.trim() === '') faults.add('text', 'text must not be blank');
    else if (textMaxChars !== undefined) faults.requireLength('text', text, textMaxChars);
  }
  if (typeof key === 'string') faults.requireLength('key', key, memoryKeyMaxChars);
}

function toFilter(caller: Caller, { scope, agentId }: MemoryQuery): MemoryFilter {
  const owner = toOwner(caller);
  const isNamed = typeof agentId === 'string';
  if (scope === 'user') {
    if (!isNamed) return { ...owner, agentId: null };
    throw new DomainError(
      'MUTUALLY_EXCLUSIVE_PARAMETERS',
      'Memories of the scope user belong to no agent: leave one of both out',
      {
        param: 'scope',
      },
    );
  }
  if (isNamed) return { ...owner, agentId };
  return scope === 'agent' ? { ...owner, agentId: 'any' } : owner;
}

function toOwner({ orgId, userId }: Caller) {
  return { orgId, userId };
}

/** Without surrounding white space. */
function cleanText(text: string): string {
  return storableText(text).trim();
}

/** On one line; a blank key is none. */
function cleanKey(key: Optional<string>): string | null {
  const plain = oneLine(storableText(key ?? ''));
  return plain === '' ? null : plain;
}

function missingMemory(): DomainError {
  return new DomainError('NOT_FOUND', 'There is no such memory', { param: 'memoryId' });
}
