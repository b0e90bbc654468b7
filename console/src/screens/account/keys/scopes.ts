import type { MemberRole, Scope } from '../../../graphql/documents.ts';
import type { Text } from '../../../text/text.ts';

/** What keys may do, in words. */
export interface ScopeGroup {
  readonly title: string;
  readonly read: Scope;
  readonly write: Scope;
  /** What is read, and what is changed. */
  readonly hint: string;
}

export function scopeGroups(t: Text['t']): readonly ScopeGroup[] {
  return [
    {
      title: t('Chats'),
      read: 'CHATS_READ',
      write: 'CHATS_WRITE',
      hint: t('Ask agents and models; chats, runs, files and memories.'),
    },
    { title: t('Agents'), read: 'AGENTS_READ', write: 'AGENTS_WRITE', hint: t('Agents with their tools, flows and secrets.') },
    { title: t('Skills'), read: 'SKILLS_READ', write: 'SKILLS_WRITE', hint: t('What agents can be taught to do.') },
    {
      title: t('Knowledge'),
      read: 'DATA_SOURCES_READ',
      write: 'DATA_SOURCES_WRITE',
      hint: t('Knowledge sources, their documents, and vector stores.'),
    },
    { title: t('Connections'), read: 'CONNECTIONS_READ', write: 'CONNECTIONS_WRITE', hint: t('Accounts at other services.') },
    { title: t('Groups'), read: 'GROUPS_READ', write: 'GROUPS_WRITE', hint: t('Lists of people to share with.') },
    { title: t('Usage'), read: 'USAGE_READ', write: 'USAGE_WRITE', hint: t('Tokens and costs.') },
    { title: t('Keys'), read: 'API_KEYS_READ', write: 'API_KEYS_WRITE', hint: t('Keys such as this one.') },
    { title: t('Administration'), read: 'ADMIN_READ', write: 'ADMIN_WRITE', hint: t('People, roles, data and the audit log.') },
  ];
}

export interface Preset {
  readonly id: 'ask' | 'build' | 'read' | 'all' | 'scim' | 'own';
  readonly title: string;
  readonly hint: string;
  /** Undefined: the reader chooses. */
  readonly scopes: readonly Scope[] | undefined;
}

/** Sets of scopes that fit what people make keys for, as far as the reader has the scopes. */
export function listPresets(t: Text['t'], scopes: readonly Scope[], role: MemberRole): readonly Preset[] {
  const has = (needs: readonly Scope[]) => needs.every((scope) => scopes.includes(scope));
  const ask: readonly Scope[] = ['CHATS_READ', 'CHATS_WRITE', 'AGENTS_READ'];
  const build: readonly Scope[] = [
    ...ask,
    'AGENTS_WRITE',
    'SKILLS_READ',
    'SKILLS_WRITE',
    'DATA_SOURCES_READ',
    'DATA_SOURCES_WRITE',
    'CONNECTIONS_READ',
    'GROUPS_READ',
  ];
  const presets: readonly (Preset | undefined)[] = [
    has(ask)
      ? {
          id: 'ask',
          title: t('Ask agents'),
          hint: t('For applications and OpenAI clients: asks agents and models, keeps chats.'),
          scopes: ask,
        }
      : undefined,
    has(build)
      ? { id: 'build', title: t('Build agents'), hint: t('Also makes agents and adds knowledge.'), scopes: build }
      : undefined,
    {
      id: 'read',
      title: t('Read only'),
      hint: t('For reports and monitoring: sees what you see, changes nothing.'),
      scopes: scopes.filter((scope) => scope.endsWith('_READ')),
    },
    { id: 'all', title: t('Everything that you may'), hint: t('Whoever has the key can do what you can.'), scopes },
    role === 'ADMIN'
      ? {
          id: 'scim',
          title: t('Identity provider'),
          hint: t('Keeps people and groups by SCIM, and can do nothing else.'),
          scopes: ['SCIM_WRITE'],
        }
      : undefined,
    { id: 'own', title: t('Choose one by one'), hint: t('Writing does not include reading.'), scopes: undefined },
  ];
  return presets.filter((preset) => preset !== undefined);
}

/** Scopes as a short sentence: what is read alone, and what is changed too. */
export function scopeSummary(t: Text['t'], scopes: readonly Scope[]): string {
  if (scopes.includes('SCIM_WRITE')) return t('Identity provider');
  const groups = scopeGroups(t);
  if (groups.every(({ read, write }) => scopes.includes(read) && scopes.includes(write))) return t('Everything');
  const parts = groups.flatMap(({ title, read, write }) => {
    const mayRead = scopes.includes(read);
    if (scopes.includes(write)) return mayRead ? [title] : [t('{title} (write only)', { title })];
    return mayRead ? [t('{title} (read)', { title })] : [];
  });
  const isReadOnly = scopes.every((scope) => scope.endsWith('_READ'));
  if (isReadOnly && parts.length > 3) return t('Reads {count, plural, one {# area} other {# areas}}', { count: parts.length });
  return parts.join(', ');
}
