import { type JsonObject, membersOf, readElements, readString } from '../../../../lib/json/json.ts';
import { oneLine, printableName } from '../../../../lib/text/text.ts';
import { adfMarkdown } from '../atlassian/adf/markdown.ts';
import { readAdf } from '../atlassian/adf/node.ts';
import type { Comment, Issue } from './api.ts';

const titleMax = 1_000;

/** What of an issue becomes text. */
export const issueFields = [
  'summary',
  'description',
  'status',
  'assignee',
  'reporter',
  'labels',
  'issuetype',
  'priority',
  'resolution',
  'created',
  'updated',
  'parent',
  'components',
  'fixVersions',
  'attachment',
  'issuelinks',
];

/** An issue as Markdown: its key and summary, a head line, its description, links to other issues, and the names of its files. */
export function issueMarkdown({ key, fields }: Issue): string {
  const parts = [
    `# ${key}: ${printableName(readString(fields.summary) ?? '', titleMax)}`,
    headLine(fields),
    contentMarkdown(fields.description, 1),
  ];
  const links = readElements(fields.issuelinks).flatMap(linkLine);
  if (links.length > 0) parts.push(`## Linked issues\n\n${links.join('\n')}`);
  const files = joinNames(fields.attachment, 'filename');
  if (files !== '') parts.push(`Attachments: ${files}`);
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

/** A comment, with its author and day as a heading below that of the comments. */
export function commentMarkdown({ author, created, body }: Comment): string {
  const head = [author || 'Somebody', created.slice(0, 10)].filter(Boolean).join(', ');
  return `\n### ${oneLine(head)}\n\n${contentMarkdown(body, 3)}\n`;
}

/** Older instances send plain text. */
function contentMarkdown(content: unknown, levelsBelow: number): string {
  return typeof content === 'string' ? content.trim() : adfMarkdown(readAdf(content), levelsBelow);
}

function headLine(fields: JsonObject): string {
  const readName = (value: unknown) => readString(membersOf(value).name) ?? '';
  const readPerson = (value: unknown) => readString(membersOf(value).displayName) ?? '';
  const { key: parentKey, fields: parent } = membersOf(fields.parent);
  const members: readonly (readonly [string, string])[] = [
    ['Type', readName(fields.issuetype)],
    ['Status', readName(fields.status)],
    ['Resolution', readName(fields.resolution)],
    ['Assignee', readPerson(fields.assignee) || 'nobody'],
    ['Reporter', readPerson(fields.reporter)],
    ['Priority', readName(fields.priority)],
    [
      'Labels',
      readElements(fields.labels)
        .filter((label) => typeof label === 'string')
        .join(', '),
    ],
    ['Components', joinNames(fields.components, 'name')],
    ['Fix versions', joinNames(fields.fixVersions, 'name')],
    ['Parent', [readString(parentKey), readString(membersOf(parent).summary)].filter(Boolean).join(' ')],
    ['Created', (readString(fields.created) ?? '').slice(0, 10)],
    ['Updated', (readString(fields.updated) ?? '').slice(0, 10)],
  ];
  return members
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}: ${oneLine(value)}`)
    .join(' · ');
}

function linkLine(link: unknown): readonly string[] {
  const { type, inwardIssue, outwardIssue } = membersOf(link);
  const isOutward = outwardIssue !== undefined && outwardIssue !== null;
  const { key, fields } = membersOf(isOutward ? outwardIssue : inwardIssue);
  const relation = readString(membersOf(type)[isOutward ? 'outward' : 'inward']) ?? 'relates to';
  const id = readString(key);
  return id === undefined ? [] : [`- ${relation} ${id} ${oneLine(readString(membersOf(fields).summary) ?? '')}`.trimEnd()];
}

function joinNames(values: unknown, member: string): string {
  return readElements(values)
    .flatMap((value) => readString(membersOf(value)[member]) ?? [])
    .join(', ');
}
