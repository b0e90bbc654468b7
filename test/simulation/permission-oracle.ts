import type { Named, Rights, Roster } from './world/company.ts';
import type { Seen } from './world/permissions.ts';
import type { World } from './world/world.ts';

/**
 * Who may see what, decided apart from the product: by the states of the company under the numbers that the database noted, with nothing of its SQL.
 *
 * - No search and no list shows a document that was closed to its person all the time, and none lacks one that was open all the time.
 * - What is stored of a document, of a roster never goes back to an older state.
 * - At rest everything is as the company has it, for everybody, at every process.
 */
export async function findPermissionFaults({ server, orgId, permissions }: World): Promise<readonly string[]> {
  if (permissions === undefined) return [];
  const notes = await server.look<Note>(
    `select ms, host, kind, id, version from world.permissions where "orgId" = $1 order by place`,
    [orgId],
  );
  const history = new History(notes);
  const faults: string[] = [];
  for (const [kind, states] of Map.groupBy(
    notes.filter(({ kind }) => kind !== 'account'),
    ({ kind, id }) => `${kind} ${id}`,
  )) {
    // A document that the service no longer tells of has no number.
    const numbers = states.filter(({ version }) => version >= 0);
    const late = numbers.find(({ version }, index) => version < (numbers[index - 1]?.version ?? 0));
    if (late !== undefined) faults.push(`${kind}: ${late.host} wrote state ${late.version} after a newer one`);
  }
  if (!permissions.isRead) faults.push('the permissions of the company were never read to their end');
  for (const seen of permissions.seen) {
    const { person, way, host, fromMs, documents, isAtRest } = seen;
    for (const document of permissions.company.documents.keys()) {
      const bounds = boundsOf(permissions.company, history, seen, document);
      const isShown = documents.has(document);
      const what = `${way} of ${person.account} at ${host}, ${fromMs}${isAtRest ? ', at rest' : ''}: ${document}`;
      if (isShown && !bounds.mayBeOpen) faults.push(`${what} is shown, and was open at no time`);
      if (!isShown && bounds.mustBeOpen) faults.push(`${what} is not shown, and was open all the time`);
    }
  }
  return faults;
}

/**
 * What a person opens is remembered for thirty seconds at most. A change of groups or accounts is told at once; but a process that stands still hears of it
 * when it goes on, and one that died, or did not hear of its own commit, tells nobody.
 */
const rememberedMs = 31_000;

interface Note {
  readonly ms: number;
  readonly host: string;
  readonly kind: 'document' | 'group' | 'account';
  readonly id: string;
  readonly version: number;
}

class History {
  readonly #notes: ReadonlyMap<string, readonly Note[]>;

  constructor(notes: readonly Note[]) {
    this.#notes = Map.groupBy(notes, ({ kind, id }) => `${kind} ${id}`);
  }

  /** The numbers of what was stored at some moment between two; the one that was there before counts too. */
  between(kind: Note['kind'], id: string, fromMs: number, toMs: number, before: number): readonly number[] {
    const notes = this.#notes.get(`${kind} ${id}`) ?? [];
    const earlier = notes.findLast(({ ms }) => ms < fromMs)?.version ?? before;
    return [earlier, ...notes.filter(({ ms }) => ms >= fromMs && ms <= toMs).map(({ version }) => version)];
  }

  last(kind: Note['kind'], id: string, before: number): number {
    return this.#notes.get(`${kind} ${id}`)?.at(-1)?.version ?? before;
  }
}

interface Told {
  readonly documents: ReadonlyMap<string, readonly Rights[]>;
  readonly rosters: ReadonlyMap<string, readonly Roster[]>;
}

function boundsOf(
  company: Told,
  history: History,
  { person, fromMs, toMs, isAtRest }: Seen,
  document: string,
): { readonly mayBeOpen: boolean; readonly mustBeOpen: boolean } {
  const states = company.documents.get(document) ?? [];
  const rightsOf = (version: number): Rights => states[version] ?? 'untold';
  if (isAtRest) {
    const proves = history.last('account', person.userId, 1) === 1;
    const rosters = new Map([...company.rosters].map(([id, all]) => [id, membersOf(all.at(-1))]));
    const isOpen = opens(states.at(-1) ?? 'untold', principalsOf(person.account, proves, rosters));
    return { mayBeOpen: isOpen, mustBeOpen: isOpen };
  }
  const since = fromMs - rememberedMs;
  const proofs = history.between('account', person.userId, since, toMs, 1);
  const rosters = new Map(
    [...company.rosters].map(([id, all]) => [
      id,
      history.between('group', id, since, toMs, -1).map((version) => new Set(membersOf(all[version]))),
    ]),
  );
  const widest = new Map([...rosters].map(([id, sets]) => [id, [...sets.reduce((all, set) => all.union(set), new Set())]]));
  const narrowest = new Map([...rosters].map(([id, sets]) => [id, [...sets.reduce((all, set) => all.intersection(set))]]));
  const most = principalsOf(person.account, proofs.includes(1), widest);
  const least = principalsOf(person.account, !proofs.includes(0), narrowest);
  return {
    mayBeOpen: history.between('document', document, fromMs, toMs, -1).some((version) => opens(rightsOf(version), most)),
    mustBeOpen: history.between('document', document, since, toMs, -1).every((version) => opens(rightsOf(version), least)),
  };
}

function membersOf(roster: Roster | undefined): readonly Named[] {
  return roster === undefined || roster === 'unknown' ? [] : roster;
}

/** Everything that names a person: as itself, by its groups, and by groups of these. */
function principalsOf(account: string, proves: boolean, rosters: ReadonlyMap<string, readonly Named[]>): ReadonlySet<Named> {
  const principals = new Set<Named>(['anyone', ...(proves ? [`person:${account}`] : [])]);
  for (let before = 0; before !== principals.size; ) {
    before = principals.size;
    for (const [id, members] of rosters) if (members.some((named) => principals.has(named))) principals.add(`group:${id}`);
  }
  return principals;
}

function opens(rights: Rights, principals: ReadonlySet<Named>): boolean {
  return typeof rights !== 'string' && rights.every((list) => list.some((named) => principals.has(named)));
}
