import type { BudgetRowFragment } from '../../../parts/budgets/documents.ts';
import type { Text } from '../../../text/text.ts';

type Subject = BudgetRowFragment['subject'];

export const subjectKinds: readonly Subject[] = ['ORGANIZATION', 'GROUP', 'USER', 'KEY', 'AGENT'];

/** Whose use a budget bounds. */
export const subjectWords = (t: Text['t']): Readonly<Record<Subject, string>> => ({
  ORGANIZATION: t('The organization'),
  GROUP: t('Group'),
  USER: t('Person'),
  KEY: t('Key'),
  AGENT: t('Agent'),
});
