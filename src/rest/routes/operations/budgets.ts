import { pageInfo, pageQuery } from '../../paging.ts';
import type { DeclaredRoute } from '../../route.ts';

const tag = 'Administration';
const path = '/api/v1/admin/budgets';
const one = `${path}/{budgetId}`;
const budgetFields =
  'id createdAt updatedAt subject subjectId period unit limit used left startsAt resetsAt allowsUnpricedModels';

export const budgetRoutes: readonly DeclaredRoute[] = [
  {
    operationId: 'listBudgets',
    method: 'get',
    path,
    summary: 'List budgets',
    description:
      "What the key's organization and its groups, people, keys and agents may use in a day or a month, newest first. For administrators.",
    tag,
    document: `query ($subject: BudgetSubject, $subjectId: ID, $limit: Int = 100, $cursor: String) {
      budgets(subject: $subject, subjectId: $subjectId, first: $limit, after: $cursor) { nodes { ${budgetFields} } ${pageInfo} }
    }`,
    query: {
      subject: 'Only those of such subjects.',
      subjectId: 'Only those of this organization, group, person, key or agent.',
      ...pageQuery,
    },
    wrap: 'data',
    page: 'cursor',
  },
  {
    operationId: 'setBudget',
    method: 'put',
    path,
    summary: 'Set a budget',
    description:
      'One for each subject, period and unit: it is added, or changed. It holds for the calls that begin from then on.',
    tag,
    document: `mutation ($input: SetBudgetInput!) { setBudget(input: $input) { ${budgetFields} } }`,
    body: 'input',
    example: { subject: 'ORGANIZATION', period: 'MONTH', unit: 'MONEY', limit: 250 },
  },
  {
    operationId: 'getBudget',
    method: 'get',
    path: one,
    summary: 'Get budget',
    description: 'With what is used of it in this day or month.',
    tag,
    document: `query ($budgetId: ID!) { budget(id: $budgetId) { ${budgetFields} } }`,
  },
  {
    operationId: 'deleteBudget',
    method: 'delete',
    path: one,
    summary: 'Delete budget',
    description: 'Answers what it was.',
    tag,
    document: `mutation ($budgetId: ID!) { deleteBudget(id: $budgetId) { ${budgetFields} } }`,
  },
  {
    operationId: 'listOwnBudgets',
    method: 'get',
    path: '/api/v1/usage/budgets',
    summary: 'Budgets of the caller',
    description:
      "Those that count the calls of the key: the organization's, the person's with its groups', and the key's, with what is left.",
    tag: 'Usage',
    document: `query { ownBudgets { ${budgetFields} } }`,
    wrap: 'data',
  },
  {
    operationId: 'setOrganizationTimeZone',
    method: 'put',
    path: '/api/v1/admin/time-zone',
    summary: 'Set the time zone of the organization',
    description:
      'By its clock days and months begin: those of budgets, and of usage by day. Days that were counted stay as they are.',
    tag,
    document: `mutation ($input: TimeZoneInput!) { setOrganizationTimeZone(input: $input) { id name timeZone } }`,
    body: 'input',
    schemas: { Organization: 'OrganizationTimeZone' },
    example: { timeZone: 'Europe/Berlin' },
  },
];
