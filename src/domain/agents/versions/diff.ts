import { structuredPatch } from 'diff';
import { type AgentContent, contentLists, contentMembers } from '../../../entities/agents/version.ts';
import { isEqual, listDifferences, nameOf } from './content.ts';

export const diffLineKinds = ['SAME', 'ADDED', 'REMOVED'] as const;
export type DiffLineKind = (typeof diffLineKinds)[number];
export const contentChangeKinds = ['ADDED', 'REMOVED', 'CHANGED'] as const;
export type ContentChangeKind = (typeof contentChangeKinds)[number];

export interface DiffLine {
  readonly kind: DiffLineKind;
  readonly text: string;
}

/** Lines around a change. Lines count from 1. */
export interface DiffHunk {
  readonly fromLine: number;
  readonly toLine: number;
  readonly lines: readonly DiffLine[];
}

/** A member that differs between two versions. */
export interface ContentChange {
  /** `instructions`, or the member of a part: `tools.lookup.data`. */
  readonly member: string;
  readonly kind: ContentChangeKind;
  readonly hunks: readonly DiffHunk[];
}

const contextLines = 3;
/** A text that differs in more lines is shown as replaced as a whole: the search for the smallest difference grows with its square. */
const editsMax = 2_000;
/** Members of parts that say nothing to people. */
const hiddenMembers: ReadonlySet<string> = new Set(['id', 'createdAt']);

/**
 * What differs between two contents, member by member. Texts are compared by line, everything else as JSON with two spaces.
 *
 * Cost: a few milliseconds; texts that have nothing in common are not searched for the smallest difference.
 */
export function diffContents(from: AgentContent, to: AgentContent): readonly ContentChange[] {
  const changes = listDifferences(from, to).flatMap(({ member, before, after }) =>
    contentLists.some((list) => member.startsWith(`${list}.`))
      ? listMemberChanges(member, before, after)
      : [toChange(member, before, after)],
  );
  return [...changes, ...listSourceChanges(from, to)];
}

/** A member of a content as a text. */
export interface ContentMember {
  /** As in `ContentChange`. */
  readonly member: string;
  readonly text: string;
}

/** All members of a content that are not empty, in the form in which `diffContents` compares them. */
export function listContentMembers(content: AgentContent): readonly ContentMember[] {
  const parts = contentLists.flatMap((list) =>
    content[list].flatMap((entry) =>
      Object.entries(entry)
        .filter(([name]) => !hiddenMembers.has(name))
        .map(([name, value]) => ({ member: `${list}.${nameOf(entry)}.${name}`, text: toText(value) })),
    ),
  );
  return [...contentMembers.map((member) => ({ member, text: toText(content[member]) })), ...parts].filter(
    ({ text }) => text !== '',
  );
}

/** The settings of sources that both have. */
function listSourceChanges(from: AgentContent, to: AgentContent): readonly ContentChange[] {
  const earlier = new Map(from.sources.map((source) => [source.id, source]));
  return to.sources.flatMap((source) => {
    const before = earlier.get(source.id);
    return before === undefined || isEqual(before, source) ? [] : listMemberChanges(`sources.${source.name}`, before, source);
  });
}

function listMemberChanges(part: string, before: unknown, after: unknown): readonly ContentChange[] {
  const [earlier, later] = [toMembers(before), toMembers(after)];
  const names = new Set([...Object.keys(earlier), ...Object.keys(later)]);
  return [...names]
    .filter((name) => !hiddenMembers.has(name) && !isEqual(earlier[name], later[name]))
    .map((name) => ({
      ...toChange(`${part}.${name}`, earlier[name], later[name]),
      kind: before === undefined ? 'ADDED' : after === undefined ? 'REMOVED' : 'CHANGED',
    }));
}

function toMembers(part: unknown): Readonly<Record<string, unknown>> {
  return (part ?? {}) as Readonly<Record<string, unknown>>;
}

function toChange(member: string, before: unknown, after: unknown): ContentChange {
  const kind = isEmpty(before) ? 'ADDED' : isEmpty(after) ? 'REMOVED' : 'CHANGED';
  return { member, kind, hunks: diffTexts(toText(before), toText(after)) };
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

function toText(value: unknown): string {
  if (isEmpty(value)) return '';
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

/** Differences of two texts by line, with three lines around each. */
export function diffTexts(before: string, after: string): readonly DiffHunk[] {
  const [from, to] = [withLineEnd(before), withLineEnd(after)];
  const patch = structuredPatch('', '', from, to, '', '', { context: contextLines, maxEditLength: editsMax });
  if (patch === undefined) return [replacedText(from, to)];
  return patch.hunks.map(({ oldStart, newStart, lines }) => ({
    fromLine: oldStart,
    toLine: newStart,
    lines: lines.map((line) => ({ kind: kinds[line.charAt(0)] ?? 'SAME', text: line.slice(1) })),
  }));
}

const kinds: Readonly<Record<string, DiffLineKind>> = { '+': 'ADDED', '-': 'REMOVED', ' ': 'SAME' };

/** Without it a text that gains a line would seem to change its last one. */
function withLineEnd(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

function replacedText(before: string, after: string): DiffHunk {
  const toLines = (text: string, kind: DiffLineKind) =>
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => ({ kind, text: line }));
  return { fromLine: 1, toLine: 1, lines: [...toLines(before, 'REMOVED'), ...toLines(after, 'ADDED')] };
}
