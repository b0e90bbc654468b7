/** A made-up company: people, groups within groups, and documents with those who may open them. Everything follows from the seed. */

export interface Person {
  readonly name: string;
  /** Proven to be the person's; null: the service knows none. */
  readonly email: string | null;
  readonly isMember: boolean;
}
export interface Document {
  readonly id: string;
  /** Any of these may open it, if each of the restrictions names the person too. */
  acl: readonly string[];
  restrictions: readonly (readonly string[])[];
}
export interface World {
  readonly people: readonly Person[];
  /** Members of groups: `user:…` or `group:…`. */
  readonly groups: Map<string, readonly string[]>;
  readonly documents: Map<string, Document>;
}
/** One step in time: what is pushed, so that the world is as it then is. */
export interface Step {
  readonly what: string;
  readonly groups: readonly string[];
  readonly documents: readonly string[];
  readonly removed: readonly string[];
}

const groupCount = 9;
const documentCount = 24;

export type Random = () => number;

/** Pseudo-random numbers from 0 to below 1, the same for the same seed (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export function createWorld(people: readonly Person[], random: Random): World {
  const groups = new Map(Array.from({ length: groupCount }, (_, index) => [`g${index}`, someMembers(people, random, index)]));
  const documents = new Map(
    Array.from({ length: documentCount }, (_, index) => {
      const id = `doc${String(index).padStart(2, '0')}`;
      return [id, { id, ...somePermissions(people, random) }] as const;
    }),
  );
  return { people, groups, documents };
}

/** Changes the world. @returns what has to be pushed for it. */
export function changeWorld({ people, groups, documents }: World, random: Random): Step {
  const kinds = ['close', 'open', 'restrict', 'members', 'merge', 'cycle', 'empty', 'remove'] as const;
  const kind = pick(kinds, random);
  const [group, other] = [pick([...groups.keys()], random), pick([...groups.keys()], random)];
  const document = pick([...documents.values()], random);
  const ofDocument = { what: `${kind} ${document.id}`, groups: [], documents: [document.id], removed: [] };
  const ofGroups = (...changed: readonly string[]) => ({
    what: `${kind} ${changed.join(' ')}`,
    groups: changed,
    documents: [],
    removed: [],
  });
  switch (kind) {
    case 'close':
      document.acl = ['user:nobody@example.org'];
      return ofDocument;
    case 'open':
      document.acl = [...document.acl, somePrincipal(people, random)];
      return ofDocument;
    case 'restrict':
      document.restrictions = [...document.restrictions.slice(0, 2), [somePrincipal(people, random), `group:${group}`]];
      return ofDocument;
    case 'members':
      groups.set(group, someMembers(people, random, groupCount));
      return ofGroups(group);
    case 'merge':
      groups.set(group, [...new Set([...(groups.get(group) ?? []), ...(groups.get(other) ?? [])])]);
      groups.set(other, [`group:${group}`]);
      return ofGroups(group, other);
    case 'cycle':
      groups.set(group, [...(groups.get(group) ?? []), `group:${other}`]);
      groups.set(other, [...(groups.get(other) ?? []), `group:${group}`]);
      return ofGroups(group, other);
    case 'empty':
      groups.set(group, []);
      return ofGroups(group);
    case 'remove':
      if (documents.size <= 2) return ofGroups(group);
      documents.delete(document.id);
      return { what: `remove ${document.id}`, groups: [], documents: [], removed: [document.id] };
  }
}

function somePermissions(people: readonly Person[], random: Random): Pick<Document, 'acl' | 'restrictions'> {
  const list = () => Array.from({ length: 1 + Math.floor(random() * 3) }, () => somePrincipal(people, random));
  const count = random() < 0.5 ? 0 : 1 + Math.floor(random() * 2);
  return { acl: list(), restrictions: Array.from({ length: count }, list) };
}

function somePrincipal(people: readonly Person[], random: Random): string {
  const share = random();
  if (share < 0.04) return 'anyone';
  if (share < 0.1) return 'anyone_in_organization';
  if (share < 0.16) return `domain:${pick(domainsOf(people), random)}`;
  if (share < 0.6) return `group:g${Math.floor(random() * groupCount)}`;
  return somePerson(people, random);
}

/** Groups hold groups with a lower number only, until a change makes a cycle. */
function someMembers(people: readonly Person[], random: Random, below: number): readonly string[] {
  const persons = Array.from({ length: Math.floor(random() * 4) }, () => somePerson(people, random));
  const nested = below > 0 && random() < 0.6 ? [`group:g${Math.floor(random() * below)}`] : [];
  return [...new Set([...persons, ...nested])];
}

function somePerson(people: readonly Person[], random: Random): string {
  const email = pick(people, random).email ?? 'nobody@example.org';
  // Letters of another case name the same mailbox.
  return `user:${random() < 0.3 ? email.toUpperCase() : email}`;
}

function domainsOf(people: readonly Person[]): readonly string[] {
  return ['elsewhere.example', ...new Set(people.flatMap(({ email }) => (email === null ? [] : [email.split('@')[1] ?? ''])))];
}

function pick<T>(all: readonly T[], random: Random): T {
  return all[Math.floor(random() * all.length)] as T;
}
