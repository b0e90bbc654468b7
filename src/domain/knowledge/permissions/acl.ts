import type { AccessEntry, AccessList } from '../../../entities/knowledge/permissions.ts';
import type { Faults } from '../../ground/faults.ts';

export const principalsMax = 10_000;
const keyCharsMax = 200;
const emailPattern = /^[^\s@]{1,64}@[^\s@]{1,255}$/;
const domainPattern = /^(?=.{1,253}$)[a-z0-9-]+(?:\.[a-z0-9-]+)+$/i;
const forms = 'user:<e-mail>, group:<key>, domain:<name>, anyone_in_organization or anyone';

/**
 * Reads a list of principals: `user:ann@example.org`, `group:staff`, `domain:example.org`, `anyone_in_organization`, `anyone`.
 *
 * @param groupKeys  gets the keys of groups that it names, by their places.
 */
export function readAccessList(texts: readonly string[], at: string, faults: Faults, groupKeys: Map<string, string>): AccessList {
  if (texts.length === 0) {
    faults.add(at, `${at} must name at least one principal: a document that nobody may open is not pushed`, 'EMPTY_ARRAY');
  }
  faults.requireCount(at, texts, principalsMax);
  return texts.slice(0, principalsMax).flatMap((text, index) => {
    const entry = readPrincipal(text);
    if (entry === undefined) {
      const shown = text.length > 100 ? `${text.slice(0, 100)}…` : text;
      faults.add(`${at}[${index}]`, `${at}[${index}] must be one of ${forms}; it is "${shown}"`);
      return [];
    }
    if (entry.kind === 'group' && !groupKeys.has(entry.id)) groupKeys.set(entry.id, `${at}[${index}]`);
    return [entry];
  });
}

export function readPrincipal(text: string): AccessEntry | undefined {
  if (text === 'anyone_in_organization' || text === 'anyone') return { kind: text };
  const [form, key] = [text.slice(0, text.indexOf(':')), text.slice(text.indexOf(':') + 1)];
  if (form === 'user' && emailPattern.test(key)) return { kind: 'user', email: key };
  if (form === 'domain' && domainPattern.test(key)) return { kind: 'domain', domain: key };
  if (form === 'group' && isGroupKey(key)) return { kind: 'group', id: key };
  return undefined;
}

export function isGroupKey(key: string): boolean {
  return key.trim() !== '' && key.length <= keyCharsMax && !/\p{Cc}/u.test(key);
}
