import type { Document, Person, World } from './world.ts';

/** The documents that a person may open, by the rules as people would read them: no index, no cache, nothing of the service that is judged. */
export function openDocuments({ groups, documents }: World, person: Person): readonly string[] {
  return [...documents.values()]
    .filter((document) => mayOpen(person, document, groups))
    .map(({ id }) => id)
    .sort();
}

function mayOpen(person: Person, { acl, restrictions }: Document, groups: World['groups']): boolean {
  return [acl, ...restrictions].every((list) => list.some((principal) => isNamed(person, principal, groups, [])));
}

function isNamed(person: Person, principal: string, groups: World['groups'], path: readonly string[]): boolean {
  if (principal === 'anyone') return true;
  // Whoever is of another organization has no name here.
  if (!person.isMember) return false;
  if (principal === 'anyone_in_organization') return true;
  const key = principal.slice(principal.indexOf(':') + 1);
  if (principal.startsWith('group:')) {
    if (path.includes(key)) return false;
    return (groups.get(key) ?? []).some((member) => isNamed(person, member, groups, [...path, key]));
  }
  if (person.email === null) return false;
  const email = person.email.toLowerCase();
  return principal.startsWith('domain:') ? email.endsWith(`@${key.toLowerCase()}`) : email === key.toLowerCase();
}
