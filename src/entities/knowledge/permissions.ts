/** Whose rights decide what is found in a source: of the account that reads it (LENT), or of each person at the source (MIRRORED). */
export const sourceAccesses = ['LENT', 'MIRRORED'] as const;
export type SourceAccess = (typeof sourceAccesses)[number];

/** Whether a document that is shared by a link, with whoever has the link, is found by those who never had it. */
export const linkSharings = ['HIDDEN', 'FINDABLE'] as const;
export type LinkSharing = (typeof linkSharings)[number];

/** Whether passages are asked for at the other service before a model gets them. */
export const recheckModes = ['NEVER', 'ON_ANSWER'] as const;
export type RecheckMode = (typeof recheckModes)[number];

/** How the permissions of a source decide what is found in it. */
export interface SourcePermissions {
  readonly access: SourceAccess;
  readonly linkShared: LinkSharing;
  readonly recheck: RecheckMode;
}

/**
 * Who an access list names.
 *
 * - `user`: a person, by the id of the account at the service, by e-mail, or by both: whoever proves one of them. E-mails are compared in lower case.
 * - `group`: its members, and those of its member groups. An id is unique among the groups of a source's directory.
 * - `domain`: whoever has a verified e-mail there: `example.com`, without subdomains.
 * - `anyone_in_organization`: every member of the organization of Parley that has the source. A service that means its own organization names its
 *   domains, or a group with its members.
 * - `anyone`: everybody, also a caller who is no person.
 */
export type Principal =
  | { readonly kind: 'user'; readonly accountId?: string; readonly email?: string }
  | { readonly kind: 'group'; readonly id: string }
  | { readonly kind: 'domain'; readonly domain: string }
  | { readonly kind: 'anyone_in_organization' }
  | { readonly kind: 'anyone' };

/** A principal in an access list. */
export type AccessEntry =
  | Extract<Principal, { kind: 'user' | 'group' }>
  | (Extract<Principal, { kind: 'domain' | 'anyone_in_organization' | 'anyone' }> & {
      /** It opens for those who have a link: found only in a source with `linkShared: FINDABLE`. */
      readonly isByLink?: true;
    });

/** Any of its entries opens it; `[]` is open to nobody. */
export type AccessList = readonly AccessEntry[];

/**
 * Who may open an item: who is named by every one of the lists, of which there is at least one. Or it is not known, and nobody finds the item.
 *
 * A deny entry, a condition, a time bound, a list that was read in part: `unknown`, with a reason for an administrator.
 */
export type ItemPermissions =
  | { readonly lists: readonly [AccessList, ...AccessList[]] }
  | { readonly unknown: UnknownPermissions };

/**
 * - INEXPRESSIBLE: the service has a rule that Parley does not have, such as a deny entry or a condition.
 * - UNREADABLE: the account may not read the permissions of this item, or the members of this group.
 * - INCOMPLETE: the service gave a part of them.
 * - UNREPORTED: the service did not say anything about this item.
 */
export const unknownCodes = ['INEXPRESSIBLE', 'UNREADABLE', 'INCOMPLETE', 'UNREPORTED'] as const;
export type UnknownCode = (typeof unknownCodes)[number];

export interface UnknownPermissions {
  readonly code: UnknownCode;
  /** For an administrator: what is missing, and which right would help. No secret, at most 500 characters. */
  readonly message: string;
}

/** Who may open one item. */
export interface ItemAccess {
  /** The id at the other service, as listings say it. */
  readonly uniqueId: string;
  readonly permissions: ItemPermissions;
}

/** All members of a group, in place of those before. Members that are groups are named by id, and told as groups of their own. */
export interface GroupMembers {
  readonly id: string;
  /** For administrators. */
  readonly name?: string;
  readonly members:
    | readonly Extract<Principal, { kind: 'user' | 'group' | 'domain' | 'anyone_in_organization' }>[]
    | { readonly unknown: UnknownPermissions };
}

/**
 * Services whose accounts have one id each, whatever kind of source they are read for: `wiki` and `tracker` share theirs. An id is proven by a
 * connection of the person to the service.
 */
export const identityServices = ['google', 'microsoft', 'atlassian', 'github'] as const;
export type IdentityService = (typeof identityServices)[number];

/** Services that name people by e-mail too: a verified one counts there. The others hide e-mails, and people are known by their accounts alone. */
export const emailServices: ReadonlySet<IdentityService> = new Set(['google', 'microsoft']);
