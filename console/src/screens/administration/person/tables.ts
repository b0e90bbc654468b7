import type { Text } from '../../../text/text.ts';

/** What the rows of a table are, as people call them; reports of exports and erasures name tables. */
export function tableWord(t: Text['t'], table: string): string {
  const words: Readonly<Record<string, string>> = {
    agents: t('Agents'),
    agent_ratings: t('Ratings of agents'),
    api_keys: t('Keys'),
    audit_entries: t('Entries of the audit log'),
    chats: t('Chats'),
    chat_files: t('Files in chats'),
    connections: t('Connections'),
    data_exports: t('Exports'),
    data_sources: t('Knowledge sources'),
    files: t('Files'),
    group_members: t('Memberships in groups'),
    groups: t('Groups'),
    invitations: t('Invitations'),
    knowledge_items: t('Documents'),
    legal_holds: t('Legal holds'),
    memberships: t('Memberships'),
    memories: t('Memories'),
    messages: t('Messages'),
    message_feedback: t('Ratings of answers'),
    organizations: t('Organizations'),
    passkeys: t('Passkeys'),
    passwords: t('Passwords'),
    runs: t('Runs'),
    schedules: t('Schedules'),
    sessions: t('Sessions'),
    usage_entries: t('Entries of usage'),
    users: t('Account'),
    vector_stores: t('Vector stores'),
    webhooks: t('Webhooks'),
  };
  const plain = table.replaceAll('_', ' ');
  return words[table] ?? plain.slice(0, 1).toUpperCase() + plain.slice(1);
}
