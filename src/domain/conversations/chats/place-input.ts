import { type ChatPlaceChanges, changedChatsMax, tagCharsMax, tagsMax } from '../../../entities/conversations/chats/place.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { oneLine, storableText } from '../../../lib/text/text.ts';
import type { Deps } from '../../deps.ts';
import { Faults } from '../../ground/faults.ts';
import { getProject } from '../projects.ts';

type Optional<T> = T | null | undefined;

/** Absent and null members are kept. */
export interface ChatPlaceInput {
  readonly isArchived?: Optional<boolean>;
  /** In place of all tags before. */
  readonly tags?: Optional<readonly string[]>;
  /** Null: out of its project. */
  readonly projectId?: Optional<string>;
}

/** The place that a chat is to have. @throws DomainError naming every faulty member; NOT_FOUND for a project that the caller may not see. */
export async function readPlace(
  deps: Deps,
  caller: Caller,
  { isArchived, tags, projectId }: ChatPlaceInput,
): Promise<ChatPlaceChanges> {
  const faults = new Faults();
  const readTagNames = readTags(faults, 'tags', tags);
  faults.throwIfAny();
  return {
    ...(typeof isArchived === 'boolean' ? { archivedAt: isArchived ? deps.now() : null } : {}),
    ...(readTagNames === undefined ? {} : { tags: readTagNames }),
    ...(typeof projectId === 'string' ? { projectId: (await getProject(deps, caller, projectId)).id } : {}),
    ...(projectId === null ? { projectId } : {}),
  };
}

/** Each once, in order. @throws DomainError INVALID_VALUE for none, or for more than 100. */
export function readChatIds(chatIds: readonly string[]): readonly string[] {
  const faults = new Faults();
  if (chatIds.length === 0) faults.add('chatIds', 'chatIds must name at least one chat');
  faults.requireCount('chatIds', chatIds, changedChatsMax);
  faults.throwIfAny();
  return [...new Set(chatIds)];
}

/** On one line, each once; undefined when none are given. */
export function readTags(faults: Faults, member: string, tags: Optional<readonly string[]>): readonly string[] | undefined {
  if (tags === undefined || tags === null) return undefined;
  faults.requireCount(member, tags, tagsMax);
  const names = tags.slice(0, tagsMax).map((tag, index) => {
    const name = oneLine(storableText(tag));
    faults.requireName(`${member}[${index}]`, name, tagCharsMax);
    return name;
  });
  return [...new Set(names)];
}
