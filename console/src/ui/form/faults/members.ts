import type { Text } from '../../../text/text.ts';

/** The name that people see of a value, by the last member of its place: `input.tools.0.url` is an address. */
export function labelMember({ t }: Pick<Text, 't'>, path: string | null): string | undefined {
  const member = path?.split('.').findLast((part) => !/^\d+$/.test(part));
  if (member === undefined || member === 'input') return undefined;
  return labels(t)[member] ?? nameInWords(member);
}

const labels = (t: Text['t']): Readonly<Record<string, string>> => ({
  agentId: t('Agent'),
  approval: t('Decision'),
  arguments: t('Arguments'),
  categories: t('Categories'),
  comment: t('Comment'),
  content: t('Text'),
  cron: t('When'),
  current: t('Current password'),
  data: t('Content'),
  description: t('Description'),
  editors: t('Editors'),
  email: t('E-mail address'),
  expiresAt: t('Ends'),
  file: t('File'),
  fileIds: t('Files'),
  groups: t('Groups'),
  instructions: t('Instructions'),
  introduction: t('Greeting'),
  key: t('Key'),
  label: t('Label'),
  level: t('Reach'),
  memberEmails: t('Members'),
  message: t('Message'),
  messages: t('Messages'),
  model: t('Model'),
  modelId: t('Model'),
  name: t('Name'),
  new: t('New password'),
  options: t('Options'),
  origins: t('Origins'),
  password: t('Password'),
  pictureUrl: t('Picture'),
  prompt: t('What it is asked'),
  query: t('Search'),
  reason: t('Reason'),
  role: t('Role'),
  scopes: t('Scopes'),
  search: t('Search'),
  tags: t('Tags'),
  text: t('Text'),
  title: t('Title'),
  url: t('Address'),
  userId: t('Person'),
  value: t('Value'),
  visibility: t('Who may use it'),
});

/** `refreshPeriod` as “Refresh period”. */
function nameInWords(member: string): string {
  const words = member.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
