import { atlassianAccount, siteMember } from '../atlassian/account.ts';
import type { SourceKind } from '../kind.ts';
import { type AddFault, accountMember, nameReader, textMember } from '../members.ts';
import { browseTracker } from './browse.ts';
import { fetchIssue } from './fetch.ts';
import { listTracker } from './list.ts';
import { jiraPermissions } from './permissions.ts';

/** The issues of a project in Jira, with their comments. */
export const jiraKind: SourceKind = {
  type: 'TRACKER',
  noun: 'Tracker',
  description: 'An issue tracker.',
  content: 'A project of an issue tracker.',
  members: {
    oauthTokenId: accountMember('TRACKER'),
    projectName: textMember(
      {
        input: 'The name of the project; the source is called so.',
        setting: 'The name of the project.',
        isRequired: true,
      },
      nameReader,
    ),
    projectKey: textMember(
      {
        input: 'Its key: 1 to 100 letters, digits, dots, hyphens or underscores.',
        setting: 'Its key.',
        isRequired: true,
        isEssential: true,
      },
      readProjectKey,
    ),
    cloudId: siteMember(nameReader),
  },
  sourceName: ({ projectName }) => String(projectName),
  account: atlassianAccount('jira', ['read:jira-work', 'read:jira-user']),
  browse: browseTracker,
  site: 'jira',
  permissions: jiraPermissions,
  open: (services) => ({ list: (task) => listTracker(services, task), fetch: (task) => fetchIssue(services, task) }),
  route: {
    path: 'tracker',
    summary: 'Add tracker source',
    description: 'The issues of a project, with their comments. `errorCode` and `errorMessage` say why it cannot be read.',
    isInContract: true,
    example: {
      oauthTokenId: 'oat_01jd0000000000000000000000',
      projectName: 'Help desk',
      projectKey: 'HELP',
      dataRefreshPeriod: 'DAILY',
    },
  },
};

/** The key becomes a part of tracker queries: no character may end a name there. */
function readProjectKey(value: unknown, fault: AddFault): void {
  if (typeof value !== 'string' || !/^[\p{L}\p{N}_.-]{1,100}$/u.test(value)) {
    fault('must be 1 to 100 letters, digits, dots, hyphens or underscores');
  }
}
