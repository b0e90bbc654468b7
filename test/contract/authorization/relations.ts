import { operationScopes } from '../../../src/domain/ground/access/operation-scopes.ts';
import { type AgentVisibility, agentVisibilities } from '../../../src/entities/agents/agent.ts';

/** Who calls. All but the last three belong to the organization of the things, or act in it. */
export const principals = [
  /** Without any key. */
  'nobody',
  'revokedKey',
  'expiredKey',
  /** The owner, with every scope but the one that the operation needs. */
  'keyWithoutScope',
  'owner',
  'editor',
  'groupMember',
  'colleague',
  'orgAdmin',
  /** Reads what `orgAdmin` reads, and changes nothing; with a key of every scope. */
  'auditor',
  /** Level TENANT, acting in the organization; its user is a plain member. */
  'tenantKey',
  /** Level TENANT, acting in another organization of the tenant. */
  'tenantKeyElsewhere',
  /** Level INSTANCE, acting in an organization of another tenant. */
  'instanceKey',
  /** An administrator of another organization of the tenant. */
  'otherOrganization',
  /** An administrator of an organization of another tenant. */
  'otherTenant',
] as const;
export type Principal = (typeof principals)[number];
/** Principals with a valid key; for the others the answer does not depend on the thing. */
export type Standing = Exclude<Principal, 'nobody' | 'revokedKey' | 'expiredKey' | 'keyWithoutScope'>;
export const standing = principals.slice(4) as readonly Standing[];
export const isStanding = (who: Principal): who is Standing => (standing as readonly Principal[]).includes(who);

/** 400: a foreign thing named in a body, which the error treats as missing. */
export type Outcome = 'allowed' | 400 | 401 | 403 | 404;

/** A relation to a thing: what each principal with a valid key and scope gets. */
export interface Relation {
  readonly outcome: (who: Standing, visibility: AgentVisibility) => Outcome;
  /** Whether to try every visibility of the agent: the visibility decides, or must not decide. */
  readonly varies: boolean;
}

/** The auditor is one for what only reads: see `outcomeOf`. */
const administrators: readonly Standing[] = ['orgAdmin', 'auditor', 'tenantKey', 'instanceKey'];
const family: readonly Standing[] = ['owner', 'editor', ...administrators];
const members: readonly Standing[] = ['owner', 'editor', 'groupMember', 'colleague'];
const insiders: readonly Standing[] = [...members, 'orgAdmin', 'auditor', 'tenantKey'];
const seers: Record<AgentVisibility, readonly Standing[]> = {
  PRIVATE: family,
  GROUP: [...family, 'groupMember'],
  ORGANIZATION: [...family, 'groupMember', 'colleague'],
  ANYONE_WITH_LINK: standing,
};

/** Allowed for `may`, 403 for principals who see the agent, 404 for all others. */
const agentIs = (may: readonly Standing[]): Relation => ({
  varies: true,
  outcome: (who, visibility) => (!seers[visibility].includes(who) ? 404 : may.includes(who) ? 'allowed' : 403),
});
const thingIs = (may: readonly Standing[], seen: readonly Standing[] = may, varies = false): Relation => ({
  varies,
  outcome: (who) => (may.includes(who) ? 'allowed' : seen.includes(who) ? 403 : 404),
});
const onlyFor = (may: readonly Standing[], missingFor: readonly Standing[] = []): Relation => ({
  varies: false,
  outcome: (who) => (may.includes(who) ? 'allowed' : missingFor.includes(who) ? 404 : 403),
});

const elsewhere: readonly Standing[] = ['otherOrganization', 'otherTenant'];
const aboveOrganizations: readonly Standing[] = ['tenantKey', 'tenantKeyElsewhere', 'instanceKey'];

/** The relations that the table names. */
export const relations = {
  /** Any valid key. */
  anyone: onlyFor(standing),

  /** To what the organization shows everybody who acts in it. */
  actsInOrganization: thingIs(insiders),

  // to an agent
  sees: agentIs(standing),
  edits: agentIs(family),
  /** As the person whose key it is: a key of a higher level gives the person no further rights. */
  usesAsPerson: {
    varies: true,
    outcome: (who, visibility) => {
      const person = who === 'tenantKey' ? 'colleague' : who === 'instanceKey' ? 'otherTenant' : who;
      return agentIs(standing).outcome(person, visibility);
    },
  },
  /** Whoever may use it and acts in its organization. */
  exports: agentIs([...family, 'groupMember', 'colleague']),
  manages: agentIs(['owner', ...administrators]),
  approves: agentIs(administrators),
  /** Also to a data source of the owner, which editors of the agent see and may not attach elsewhere. */
  attaches: agentIs(['owner', ...administrators]),
  /** Also to a connection of the owner, which nobody else may use, whatever their other rights. */
  editsWithConnection: {
    varies: true,
    outcome: (who, visibility) => {
      const outcome = agentIs(family).outcome(who, visibility);
      return outcome === 'allowed' && who !== 'owner' ? 400 : outcome;
    },
  },

  // to a chat of the owner, whose agent shows its logs
  readsChat: thingIs(family, family, true),
  writesChat: thingIs(['owner'], family, true),
  /** Administrators stop what runs away, whosever it is. */
  stopsRun: thingIs(['owner', ...administrators], family, true),

  /** It is shared with the organization: who acts there opens it. */
  opensSharedChat: thingIs(insiders),
  /** And may use its agent. */
  goesOnWithSharedChat: {
    varies: true,
    outcome: (who, visibility) => (insiders.includes(who) && seers[visibility].includes(who) ? 'allowed' : 404),
  },

  // to a data source of the owner, attached to an agent and not open to the organization
  readsSource: thingIs(family, family, true),
  /** Whoever may use the agent may open what its answers cite. */
  opensSource: agentIs(standing),
  /** Not even to its owner. */
  administersSource: thingIs(administrators, family, true),
  changesSource: thingIs(['owner', ...administrators], family, true),

  /** And to a file of the owner, which nobody else may hand on. */
  changesStoreWithFile: {
    varies: false,
    outcome: (who) => (who === 'owner' ? 'allowed' : administrators.includes(who) ? 400 : 404),
  },

  // to a RESTRICTED group of the owner
  seesGroup: thingIs(['owner', 'groupMember', ...administrators]),
  changesGroup: thingIs(['owner', ...administrators], ['owner', 'groupMember', ...administrators]),

  // to things that belong to the owner alone
  administersOwners: thingIs(['owner', ...administrators]),
  /** The link was signed for the owner's key; it also works without any key. */
  holdsLink: thingIs(['owner']),
  ownsMemory: thingIs(['owner']),
  /** To a project of the owner that is shared with a group. */
  seesProject: thingIs(['owner', 'groupMember']),
  changesProject: thingIs(['owner'], ['owner', 'groupMember']),
  ownsResponse: thingIs(['owner'], ['owner'], true),
  isOwner: thingIs(['owner'], ['owner', ...administrators]),
  administersOwnersKeys: thingIs(['owner', ...administrators, 'tenantKeyElsewhere']),

  // to the organization; a 403 tells plain members nothing that they could not find out otherwise
  administersOrganization: onlyFor([...administrators, 'tenantKeyElsewhere'], elsewhere),
  administersFromAbove: onlyFor(aboveOrganizations, elsewhere),
  /** To an organization of the tenant that none of the principals is a member of. */
  administersTenant: onlyFor(aboveOrganizations, ['orgAdmin', ...elsewhere]),
  /** To the organization that the key acts in. */
  administersItsOwn: onlyFor(standing.filter((who) => !members.includes(who))),
  isAboveOrganizations: onlyFor(aboveOrganizations),
  isInstance: onlyFor(['instanceKey']),
  /** To what the organization shows its members; a TENANT key reaches it only in the organization where it acts. */
  administersContent: onlyFor(administrators, ['tenantKeyElsewhere', ...elsewhere]),
  /** To what an organization keeps for itself: a key reaches only that of the organization where it acts. */
  administersWhereItActs: onlyFor(
    administrators.filter((who) => who !== 'instanceKey'),
    ['tenantKeyElsewhere', 'instanceKey', ...elsewhere],
  ),
} as const satisfies Record<string, Relation>;
export type RelationName = keyof typeof relations;

/**
 * The outcome that the table promises for a call, on both APIs.
 *
 * @param isWrite  as `isWrite` says of the operation.
 */
export function outcomeOf(
  name: RelationName,
  who: Principal,
  visibility: AgentVisibility,
  needsScope: boolean,
  isWrite = false,
): Outcome {
  if (who === 'auditor' && isWrite) return 403;
  if (who === 'nobody' || who === 'revokedKey' || who === 'expiredKey') return 401;
  if (who === 'keyWithoutScope') return needsScope ? 403 : relations[name].outcome('owner', visibility);
  return relations[name].outcome(who, visibility);
}

/** Whether an operation changes something or runs a model: an auditor may not, whatever it names. */
export function isWrite(operation: string): boolean {
  return operation.startsWith('Mutation.') || operationScopes[operation]?.endsWith(':WRITE') === true;
}

/** The visibilities to try. */
export function visibilitiesOf(name: RelationName): readonly AgentVisibility[] {
  return relations[name].varies ? agentVisibilities : ['PRIVATE'];
}
