// Raw SQL: interning. Rows are added unless they are there, thousands in one statement.
import type { AccessEntry, IdentityService } from '../../../entities/knowledge/permissions.ts';
import type { Transaction } from '../../ground/database.ts';

/** Where principals are known: the groups of one connection, or of one API source. */
export interface PrincipalPlace {
  readonly orgId: string;
  readonly directory: string;
  /** Whose account ids these are; undefined: people are known by e-mail only. */
  readonly service?: IdentityService;
}

/** Kinds of rows. A person is known by an account or by an e-mail; `link-…` opens for those who have a link. */
export const principalKinds = [
  'account',
  'email',
  'group',
  'domain',
  'organization',
  'anyone',
  'link-domain',
  'link-organization',
  'link-anyone',
] as const;
export type PrincipalKind = (typeof principalKinds)[number];

/** A principal as a row says it. */
export interface PrincipalKey {
  readonly kind: PrincipalKind;
  readonly key: string;
}

/** The rows that stand for a principal: for a person with an account and an e-mail both, either of which opens. */
export function toPrincipalKeys(entry: AccessEntry, service: IdentityService | undefined): readonly PrincipalKey[] {
  const isByLink = 'isByLink' in entry && entry.isByLink === true;
  switch (entry.kind) {
    case 'user':
      return [
        ...(entry.accountId === undefined || service === undefined
          ? []
          : [{ kind: 'account', key: `${service} ${entry.accountId}` } as const]),
        ...(entry.email === undefined ? [] : [{ kind: 'email', key: entry.email.toLowerCase() } as const]),
      ];
    case 'group':
      return [{ kind: 'group', key: entry.id }];
    case 'domain':
      return [{ kind: isByLink ? 'link-domain' : 'domain', key: entry.domain.toLowerCase() }];
    case 'anyone_in_organization':
      return [{ kind: isByLink ? 'link-organization' : 'organization', key: '' }];
    case 'anyone':
      return [{ kind: isByLink ? 'link-anyone' : 'anyone', key: '' }];
  }
}

/** Ids of principals by what they are. */
export class InternedPrincipals {
  readonly #ids: ReadonlyMap<string, number>;
  readonly #service: IdentityService | undefined;

  constructor(rows: readonly (PrincipalKey & { readonly id: number })[], service: IdentityService | undefined) {
    this.#service = service;
    this.#ids = new Map(rows.map((row) => [toText(row), row.id]));
  }

  /** In rising order, each once. */
  idsOf(entries: readonly AccessEntry[]): readonly number[] {
    const ids = entries
      .flatMap((entry) => toPrincipalKeys(entry, this.#service))
      .flatMap((key) => this.#ids.get(toText(key)) ?? []);
    return [...new Set(ids)].sort((a, b) => a - b);
  }
}

/** Finds the rows of principals, and adds those that are not there. Cost: two statements for any number. */
export async function internPrincipals(
  tx: Transaction,
  { orgId, directory, service }: PrincipalPlace,
  entries: readonly AccessEntry[],
): Promise<InternedPrincipals> {
  const keys = [
    ...new Map(entries.flatMap((entry) => toPrincipalKeys(entry, service)).map((key) => [toText(key), key])).values(),
  ];
  if (keys.length === 0) return new InternedPrincipals([], service);
  // In one order, so that two that add the same rows wait for each other instead of both failing.
  keys.sort((a, b) => (toText(a) < toText(b) ? -1 : 1));
  const values = [orgId, directory, keys.map(({ kind }) => kind), keys.map(({ key }) => key)];
  await tx.execute(addSql, values);
  return new InternedPrincipals(await tx.query(findSql, values), service);
}

function toText({ kind, key }: PrincipalKey): string {
  return `${kind} ${key}`;
}

const givenSql = 'unnest($3::text[], $4::text[]) as given(kind, key)';

const addSql = `
insert into permission_principals ("orgId", directory, kind, key)
select $1, $2, given.kind, given.key from ${givenSql}
where not exists (
  select from permission_principals as known
  where known."orgId" = $1 and known.directory = $2 and known.kind = given.kind and known.key = given.key)
on conflict do nothing`;

const findSql = `
select known.id, known.kind, known.key from ${givenSql}
join permission_principals as known on known."orgId" = $1 and known.directory = $2 and known.kind = given.kind and known.key = given.key`;
