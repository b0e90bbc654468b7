import type { MemberRole } from '../../../graphql/documents.ts';
import type { Text } from '../../../text/text.ts';

/** Roles as people call them. */
export const roleWords = (t: Text['t']): Readonly<Record<MemberRole, string>> => ({
  ADMIN: t('Administrator'),
  AUDITOR: t('Auditor'),
  MEMBER: t('Member'),
});

/** What a role may do, in a sentence. */
export const roleSentences = (t: Text['t']): Readonly<Record<MemberRole, string>> => ({
  ADMIN: t('Manages people, keys, data and everything that the organization has.'),
  AUDITOR: t('Reads what administrators read, and changes nothing.'),
  MEMBER: t('Chats, builds agents and adds knowledge.'),
});

export const roles: readonly MemberRole[] = ['MEMBER', 'AUDITOR', 'ADMIN'];
