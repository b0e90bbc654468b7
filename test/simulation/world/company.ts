import { SourceError } from '../../../src/engine/knowledge/connectors/error.ts';
import type { PermissionPage, PermissionReader } from '../../../src/engine/knowledge/connectors/permissions.ts';
import type { AccessEntry, GroupMembers, ItemAccess, ItemPermissions } from '../../../src/entities/knowledge/permissions.ts';
import type { Choices } from './random.ts';

/** Who is named: `person:<account>`, `group:<id>` or `anyone`. */
export type Named = string;
/** Who may open a document: one of each list. `unknown`: by a rule that nobody can express; `untold`: the service does not say. */
export type Rights = readonly (readonly Named[])[] | 'unknown' | 'untold';
/** The members of a group; `unknown`: the service does not say. */
export type Roster = readonly Named[] | 'unknown';

/** What stands in a list, and in a roster, to tell its version apart from others. Nobody has such an account. */
export const versionMark = 'version ';

/**
 * A company with documents at another service, which changes all the time. Each state of a document and of a group is kept under its number, which is told
 * with it: so the oracle knows what was stored without understanding how.
 */
export class Company {
  readonly accounts: readonly string[];
  readonly documents = new Map<string, Rights[]>();
  readonly rosters = new Map<string, Roster[]>();
  readonly #choices: Choices;

  constructor(choices: Choices) {
    this.#choices = choices;
    this.accounts = numbered('account', choices.between(2, 4));
    for (const id of numbered('group', choices.between(1, 3))) this.rosters.set(id, [this.#makeRoster(id)]);
    for (const id of numbered('document', choices.between(4, 7))) this.documents.set(id, [this.#makeRights()]);
  }

  /** Something is shared, taken away, or somebody joins or leaves a group. */
  change(): void {
    const choices = this.#choices;
    if (choices.chance(0.5)) this.documents.get(choices.one([...this.documents.keys()]))?.push(this.#makeRights());
    else {
      const id = choices.one([...this.rosters.keys()]);
      this.rosters.get(id)?.push(this.#makeRoster(id));
    }
  }

  /**
   * The service as a connector reads it: page by page, each as it is when it is asked for, and on its way for a while.
   *
   * @param fails  whether the service refuses this page.
   * @param onTold  a page is under way: what it says may be old when it arrives.
   */
  reader(choices: Choices, fails: () => boolean, onTold: () => void): PermissionReader {
    const company = this;
    return {
      async *read({ place, signal }) {
        const ids = [...company.documents.keys()];
        // A page is a dozen statements, so a world has few of them.
        const pages = [
          { groups: [...company.rosters.keys()], documents: ids.slice(0, 2) },
          { groups: [] as string[], documents: ids.slice(2) },
        ];
        for (let index = typeof place === 'number' ? place : 0; index < pages.length; index += 1) {
          signal.throwIfAborted();
          if (fails()) throw new SourceError('UNREACHABLE', 'The service is away');
          const page = company.#tell(pages[index] ?? { groups: [], documents: [] }, index + 1);
          onTold();
          await new Promise((resolve) => setTimeout(resolve, choices.fraction * 120));
          yield page;
        }
        return { isFull: true };
      },
    };
  }

  #tell({ groups, documents }: { readonly groups: readonly string[]; readonly documents: readonly string[] }, place: number) {
    const items = documents.flatMap((id): readonly ItemAccess[] => {
      const permissions = toPermissions(this.documents.get(id) ?? []);
      return permissions === undefined ? [] : [{ uniqueId: id, permissions }];
    });
    return { items, groups: groups.map((id) => toMembers(id, this.rosters.get(id) ?? [])), place } satisfies PermissionPage;
  }

  #makeRights(): Rights {
    const choices = this.#choices;
    if (choices.chance(0.06)) return choices.one(['unknown', 'untold'] as const);
    const list = () => Array.from({ length: choices.between(0, 3) }, () => this.#name([...this.rosters.keys()], 0.08));
    return choices.chance(0.3) ? [list(), list()] : [list()];
  }

  /** Groups hold groups behind them, and the last one holds the first now and then: a circle, as services have. */
  #makeRoster(id: string): Roster {
    const choices = this.#choices;
    if (choices.chance(0.06)) return 'unknown';
    const others = [...this.rosters.keys()].filter((other) => other !== id);
    return Array.from({ length: choices.between(1, 3) }, () => this.#name(others, 0));
  }

  #name(groups: readonly string[], anyoneShare: number): Named {
    const choices = this.#choices;
    if (choices.chance(anyoneShare)) return 'anyone';
    return groups.length > 0 && choices.chance(0.5) ? `group:${choices.one(groups)}` : `person:${choices.one(this.accounts)}`;
  }
}

function numbered(name: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${name}-${index + 1}`);
}

function toPermissions(states: readonly Rights[]): ItemPermissions | undefined {
  const [rights, mark] = [states.at(-1) ?? 'untold', `${versionMark}${states.length - 1}`];
  if (rights === 'untold') return undefined;
  if (rights === 'unknown') return { unknown: { code: 'INEXPRESSIBLE', message: mark } };
  const [first = [], ...others] = rights.map((list) => list.map(toEntry));
  return { lists: [[...first, { kind: 'user', accountId: mark }], ...others] };
}

function toMembers(id: string, states: readonly Roster[]): GroupMembers {
  const [roster, mark] = [states.at(-1) ?? 'unknown', `${versionMark}${states.length - 1}`];
  if (roster === 'unknown') return { id, members: { unknown: { code: 'UNREADABLE', message: mark } } };
  const members = roster.flatMap((named) => {
    const entry = toEntry(named);
    return entry.kind === 'anyone' ? [] : [entry];
  });
  return { id, members: [...members, { kind: 'user', accountId: mark }] };
}

function toEntry(named: Named): AccessEntry {
  const [kind, id = ''] = named.split(':');
  if (kind === 'anyone') return { kind: 'anyone' };
  return kind === 'group' ? { kind: 'group', id } : { kind: 'user', accountId: id };
}
