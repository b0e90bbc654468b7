import { type AgentContent, type ContentList, contentLists, contentMembers } from '../../../entities/agents/version.ts';

type Entry = AgentContent[ContentList][number];

export function readContent(text: string): AgentContent {
  return JSON.parse(text) as AgentContent;
}

/** A member or a part that differs between two contents. */
export interface ContentDifference {
  /** `instructions`, `tools.lookup`: the list and the name of the part, the later one where it was renamed. */
  readonly member: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** What differs: undefined stands for a part that is not there. The settings of sources are their own: only the list of sources counts. */
export function listDifferences(before: AgentContent, after: AgentContent): readonly ContentDifference[] {
  const members = contentMembers.flatMap((member) =>
    isEqual(before[member], after[member]) ? [] : [{ member, before: before[member], after: after[member] }],
  );
  return [...members, ...contentLists.flatMap((list) => listPartDifferences(list, before[list], after[list]))];
}

function listPartDifferences(list: ContentList, before: readonly Entry[], after: readonly Entry[]): readonly ContentDifference[] {
  const earlier = new Map(before.map((entry) => [entry.id, entry]));
  const later = new Map(after.map((entry) => [entry.id, entry]));
  const isSame = list === 'sources' ? () => true : isEqual;
  const removed = before.filter(({ id }) => !later.has(id));
  const changed = after.filter((entry) => !isSame(earlier.get(entry.id), entry) || !earlier.has(entry.id));
  return [
    ...changed.map((entry) => ({ member: toMember(list, entry), before: earlier.get(entry.id), after: entry })),
    ...removed.map((entry) => ({ member: toMember(list, entry), before: entry, after: undefined })),
  ];
}

function toMember(list: ContentList, entry: Entry): string {
  return `${list}.${nameOf(entry)}`;
}

/** The name of a part in its list. */
export function nameOf(entry: Entry): string {
  return 'variableName' in entry ? entry.variableName : entry.name;
}

/** The order of members counts: that of a schema reaches the model. */
export function isEqual(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

/**
 * Applies what a change did to the draft to the published content, and nothing else of the draft. A part of the published content that would have the name
 * of a changed one, and a flow that would be enabled besides it, becomes what it is in the draft.
 */
export function applyChange(published: AgentContent, before: AgentContent, after: AgentContent): AgentContent {
  const members = contentMembers.flatMap((member) =>
    isEqual(before[member], after[member]) ? [] : [[member, after[member]] as const],
  );
  const lists = contentLists.map((list) => [list, applyToList(list, published[list], before[list], after[list])] as const);
  return { ...published, ...Object.fromEntries(members), ...Object.fromEntries(lists), secrets: after.secrets };
}

function applyToList(
  list: ContentList,
  published: readonly Entry[],
  before: readonly Entry[],
  after: readonly Entry[],
): readonly Entry[] {
  const earlier = new Map(before.map((entry) => [entry.id, entry]));
  const later = new Map(after.map((entry) => [entry.id, entry]));
  const changed = after.filter((entry) => !isEqual(earlier.get(entry.id), entry));
  const untouched = published.filter(({ id }) => isEqual(earlier.get(id), later.get(id)));
  const takenNames = new Set(list === 'sources' ? [] : changed.map(nameOf));
  const enablesFlow = changed.some(isEnabledFlow);
  const others = untouched.flatMap((entry) => {
    const isInTheWay = takenNames.has(nameOf(entry)) || (enablesFlow && isEnabledFlow(entry));
    return isInTheWay ? [later.get(entry.id)].filter((one) => one !== undefined) : [entry];
  });
  return [...others, ...changed].toSorted(compareEntries);
}

/** The order of `parley_agent_content`. */
function compareEntries(left: Entry, right: Entry): number {
  const byIndex = ('orderIndex' in left ? left.orderIndex : 0) - ('orderIndex' in right ? right.orderIndex : 0);
  const [a, b] = 'cite' in left ? [left.id, right.id] : [nameOf(left), nameOf(right)];
  return byIndex || (a < b ? -1 : Number(a > b));
}

function isEnabledFlow(entry: Entry): boolean {
  return 'versions' in entry && entry.enabled;
}
