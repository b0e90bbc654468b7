import { findAgent } from '../agents.ts';
import { failed } from '../failure.ts';
import { harmless } from '../output/screen.ts';
import type { Service } from '../service.ts';
import { sourcesOf } from '../sources.ts';
import { agentOption, type WrittenCommand } from './command.ts';

interface Reason {
  readonly code?: string;
  readonly message: string;
}
interface SourcePermissions {
  readonly id: string;
  readonly access: string;
  readonly linkShared: string;
  readonly recheck: string;
  /** Null for a source that is LENT, and for those who may not see what is known of it. */
  readonly permissions: {
    readonly knownCount: number;
    readonly unknownCount: number;
    readonly reasons: readonly (Reason & { readonly count: number })[];
    readonly readAt: string | null;
    readonly fullAt: string | null;
    readonly missingRights: readonly string[];
    readonly errorMessage: string | null;
    readonly unreadableGroups: readonly (Reason & { readonly key: string; readonly name: string | null })[];
    readonly unidentifiedCount: number;
  } | null;
  /** Absent where the service is of a version that does not say it. */
  readonly reading?: Reading | null;
}

interface Reading {
  readonly isRunning: boolean;
  readonly startedAt: string | null;
  readonly itemCount: number;
  readonly latenessMs: number;
  readonly closesAt: string | null;
}

export const showPermissions: WrittenCommand = {
  name: 'sources permissions',
  takes: '[<source>…]',
  words: [0, Number.POSITIVE_INFINITY],
  summary: 'Says what is known of who may open the documents of sources: of those that are named, or of all of an agent',
  details:
    'Of each source whose permissions are mirrored: documents with and without known permissions and why, groups whose members cannot be read, rights that are missing, how far a reading is that goes on, and when permissions were last read. Ends with 1 when the last reading of one failed, or there was none yet.',
  options: [agentOption],
  example: 'sources permissions --agent "Ask the manual"',
  async run({ service, screen, words, options, switches }) {
    const ids =
      words.length > 0
        ? words
        : (await sourcesOf(service, (await findAgent(service, options.get('agent'))).id)).map(({ id }) => id);
    const names = new Map<string, string>();
    const found: SourcePermissions[] = [];
    for (const id of ids) {
      const source = (await service.send('GET', `/api/v1/data-sources/${encodeURIComponent(id)}`)) as { readonly name: string };
      names.set(id, source.name);
      found.push(await readPermissions(service, id));
    }
    if (switches.has('json')) screen.out(`${JSON.stringify(found, null, 2)}\n`);
    else if (found.length === 0) screen.out('There are no sources.\n');
    else screen.out(`${found.map((one) => shown(one, names.get(one.id) ?? one.id)).join('\n\n')}\n`);
    return found.every(({ permissions }) => permissions === null || isRead(permissions));
  },
};

async function readPermissions(service: Service, id: string): Promise<SourcePermissions> {
  const reply = (await service.send('GET', `/api/v1/data-sources/${encodeURIComponent(id)}/permissions`)) as SourcePermissions;
  if (typeof reply?.access !== 'string')
    throw failed('The service answered without the permissions of the source: it may be of an older version.');
  if (reply.permissions === null) return reply;
  const { permissionReading } = (await service.send(
    'GET',
    `/api/v1/data-sources/${encodeURIComponent(id)}/permissions/reading`,
  )) as { readonly permissionReading: Reading | null };
  return { ...reply, reading: permissionReading };
}

type Known = NonNullable<SourcePermissions['permissions']>;

/** What a program pushes is never read. */
function isRead({ errorMessage, readAt, knownCount }: Known): boolean {
  return errorMessage === null && (readAt !== null || knownCount > 0);
}

function shown({ id, access, linkShared, recheck, permissions, reading }: SourcePermissions, name: string): string {
  const head = `${harmless(name)}  ${id}  ${access}`;
  if (permissions === null) return access === 'LENT' ? `${head}: all that its account reads is found` : head;
  const { knownCount, unknownCount, reasons, unreadableGroups, missingRights, unidentifiedCount } = permissions;
  const rows: readonly (readonly [string, string])[] = [
    ['links', `${linkShared}, recheck ${recheck}`],
    ['known', `${documents(knownCount)} with known permissions`],
    ['not known', unknownCount === 0 ? 'none' : `${documents(unknownCount)}, open to nobody`],
    ...reasons.map(({ code, message, count }) => ['', `${count}: ${code ?? ''} ${harmless(message)}`] as const),
    ['groups', unreadableGroups.length === 0 ? 'all members known' : `${unreadableGroups.length} whose members cannot be read`],
    ...unreadableGroups.map(({ key, name: group, message }) => ['', `${harmless(group ?? key)}: ${harmless(message)}`] as const),
    ...missingRights.map((right, index) => [index === 0 ? 'missing' : '', harmless(right)] as const),
    [
      'persons',
      unidentifiedCount === 0
        ? 'each is known by a verified e-mail or an account'
        : `${unidentifiedCount} without a verified e-mail or an account`,
    ],
    ['last read', lastRead(permissions)],
    ...readingRows(reading ?? null, knownCount + unknownCount),
  ];
  return [head, ...rows.map(([label, text]) => `  ${label.padEnd(9)}  ${text}`)].join('\n');
}

function readingRows(reading: Reading | null, totalCount: number): readonly (readonly [string, string])[] {
  if (reading === null) return [];
  const { isRunning, startedAt, itemCount, latenessMs, closesAt } = reading;
  const rows: (readonly [string, string])[] = [];
  if (startedAt !== null)
    rows.push([
      'reading',
      `${itemCount} of ${documents(totalCount)} so far, since ${startedAt}${isRunning ? '' : '; it goes on later'}`,
    ]);
  rows.push(['changes', latenessMs === 0 ? 'count at once' : `count after ${Math.ceil(latenessMs / 60_000)} minutes at most`]);
  if (closesAt !== null) rows.push(['', `without a reading until ${closesAt}, nobody finds anything`]);
  return rows;
}

function documents(count: number): string {
  return count === 1 ? '1 document' : `${count} documents`;
}

function lastRead({ readAt, fullAt, errorMessage }: Known): string {
  const times = readAt === null ? 'never' : `${readAt}; everything ${fullAt ?? 'not yet'}`;
  return errorMessage === null ? times : `${times}. The last attempt failed: ${harmless(errorMessage)}`;
}
