import {
  deleteBudget,
  getBudget,
  getBudgets,
  listBudgets,
  listKeyBudgets,
  listOwnBudgets,
  loadBudgetStates,
  setBudget,
  setOrganizationTimeZone,
} from '../../../domain/operations/budgets.ts';
import { type Budget, budgetPeriods, budgetSubjects, budgetUnits, moneyUnits } from '../../../entities/operations/budget.ts';
import type { ApiKey } from '../../../entities/people/api-key.ts';
import { loadAgent } from '../../agents/agent-edge.ts';
import { batched } from '../../ground/builder/batched.ts';
import { builder } from '../../ground/builder/builder.ts';
import { reading } from '../../ground/builder/members.ts';
import { loadNode, registerNode } from '../../ground/builder/nodes.ts';
import { makeConnection, pageArgs, pageRequest } from '../../ground/pagination.ts';
import { AgentRef, ApiKeyRef, BudgetRef, GroupRef, UserRef } from '../../ground/refs.ts';
import { createEnum } from '../../ground/types/enums.ts';
import { NodeType } from '../../ground/types/node.ts';
import { OrganizationType } from '../../people/accounts.ts';
import { ViewerLimitsRef } from '../../people/limits.ts';

const BudgetSubjectType = createEnum('BudgetSubject', 'Whose use a budget bounds.', budgetSubjects, {
  ORGANIZATION: 'All calls of the organization.',
  GROUP: 'The calls of all members of a group together.',
  USER: 'The calls of a person, by any key and in the console.',
  KEY: 'The calls by a key.',
  AGENT: 'The calls of an agent, whoever asks it.',
});
const BudgetPeriodType = createEnum('BudgetPeriod', 'When a budget begins again.', budgetPeriods, {
  DAY: "Each day of the organization's time zone.",
  MONTH: "Each month of the organization's time zone.",
});
const BudgetUnitType = createEnum('BudgetUnit', 'What a budget counts.', budgetUnits, {
  TOKENS: 'Tokens that are sent and received.',
  MONEY: 'What calls cost by the prices of their models, in the currency of COST_CURRENCY.',
});

const loadState = batched((budgets: readonly Budget[], { deps }) => loadBudgetStates(deps, budgets));
/** As the API shows an amount: money as a decimal number. */
const toAmount = ({ unit }: Budget, amount: number) => (unit === 'MONEY' ? amount / moneyUnits : amount);

const BudgetType = BudgetRef.implement({
  access: { scope: null },
  description: 'What somebody may use in each day or month. Every budget that counts a call must admit it.',
  interfaces: [NodeType],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the budget.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was first set.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last set.' }),
    subject: t.expose('subject', { type: BudgetSubjectType, description: 'Whose use it bounds.' }),
    subjectId: t.exposeID('subjectId', { description: 'The id of the organization, group, person, key or agent.' }),
    period: t.expose('period', { type: BudgetPeriodType, description: 'When it begins again.' }),
    unit: t.expose('unit', { type: BudgetUnitType, description: 'What it counts.' }),
    limit: t.float({
      description: 'Most tokens or money of one period.',
      resolve: (budget) => toAmount(budget, budget.amount),
    }),
    used: t.float({
      description: 'What was used in this period.',
      resolve: async (budget, _args, context) => toAmount(budget, (await loadState(context, budget)).used),
    }),
    left: t.float({
      description: 'What is left in this period.',
      resolve: async (budget, _args, context) =>
        toAmount(budget, Math.max(0, budget.amount - (await loadState(context, budget)).used)),
    }),
    startsAt: t.field({
      type: 'DateTime',
      description: 'When this period began.',
      resolve: async (budget, _args, context) => (await loadState(context, budget)).startsAt,
    }),
    resetsAt: t.field({
      type: 'DateTime',
      description: 'When the next period begins.',
      resolve: async (budget, _args, context) => (await loadState(context, budget)).endsAt,
    }),
    allowsUnpricedModels: t.exposeBoolean('allowsUnpricedModels', {
      description: 'Of a budget in money: whether models without a price may be used, which cost nothing of it.',
    }),
    group: t.field({
      type: GroupRef,
      nullable: true,
      description: 'The group, for who may see it; null for other subjects.',
      resolve: ({ subject, subjectId }, _args, context) => (subject === 'GROUP' ? loadNode(context, 'group', subjectId) : null),
    }),
    user: t.field({
      type: UserRef,
      nullable: true,
      description: 'The person, for who may see it; null for other subjects.',
      resolve: ({ subject, subjectId }, _args, context) => (subject === 'USER' ? loadNode(context, 'user', subjectId) : null),
    }),
    key: t.field({
      type: ApiKeyRef,
      nullable: true,
      description: 'The key, for who may see it; null for other subjects.',
      resolve: ({ subject, subjectId }, _args, context) => (subject === 'KEY' ? loadNode(context, 'apiKey', subjectId) : null),
    }),
    agent: t.field({
      type: AgentRef,
      nullable: true,
      description: 'The agent, for who may see it; null for other subjects.',
      resolve: ({ subject, subjectId }, _args, context, info) =>
        subject === 'AGENT' ? loadAgent(context, subjectId, info) : null,
    }),
  }),
});
const BudgetConnection = makeConnection(BudgetType, 'Budget', 'Budgets');

registerNode('budget', {
  typeName: 'Budget',
  operation: 'Query.budget',
  otherOperation: 'Query.ownBudgets',
  loadMany: (ids, { deps, caller }) => getBudgets(deps, caller, ids),
});

const ownDescription =
  'The budgets that count the calls of the caller: of the organization, the person with its groups, and the key.';

builder.objectField(ViewerLimitsRef, 'budgets', (t) =>
  t.field({
    type: [BudgetType],
    nullable: true,
    description: `${ownDescription} Null for a key without the scope USAGE:READ.`,
    resolve: (_caller, _args, { deps, caller }) => (caller.scopes.has('USAGE:READ') ? listOwnBudgets(deps, caller) : null),
  }),
);

builder.objectField(ApiKeyRef, 'budgets', (t) =>
  t.field({
    type: [BudgetType],
    description: 'The budgets of the key itself.',
    extensions: reading<ApiKey>('id', 'orgId'),
    resolve: (key, _args, { deps }) => listKeyBudgets(deps, key),
  }),
);

const id = { description: 'The id of the budget.' };

builder.queryFields((t) => ({
  ownBudgets: t.field({
    authScopes: { key: 'USAGE:READ' },
    type: [BudgetType],
    description: ownDescription,
    resolve: (_root, _args, { deps, caller }) => listOwnBudgets(deps, caller),
  }),
  budget: t.field({
    authScopes: { key: 'ADMIN:READ' },
    type: BudgetType,
    nullable: true,
    description: "One budget of the caller's organization, for administrators; null when there is none.",
    args: { id: t.arg.id(id) },
    resolve: (_root, args, { deps, caller }) => getBudget(deps, caller, args.id),
  }),
  budgets: t.field({
    authScopes: { key: 'ADMIN:READ' },
    type: BudgetConnection,
    description: "The budgets of the caller's organization, newest first, for administrators.",
    args: {
      subject: t.arg({ type: BudgetSubjectType, required: false, description: 'Only those of such subjects.' }),
      subjectId: t.arg.id({ required: false, description: 'Only those of this organization, group, person, key or agent.' }),
      ...pageArgs(t.arg),
    },
    resolve: (_root, { subject, subjectId, ...args }, context) =>
      listBudgets(context.deps, context.caller, { subject, subjectId }, pageRequest(context, args)),
  }),
}));

const SetBudgetInput = builder.inputType('SetBudgetInput', {
  description: 'A budget: one for each subject, period and unit.',
  fields: (t) => ({
    subject: t.field({ type: BudgetSubjectType, description: 'Whose use it bounds.' }),
    subjectId: t.id({
      required: false,
      description: "The group, person, key or agent. Default of ORGANIZATION: the caller's organization.",
    }),
    period: t.field({ type: BudgetPeriodType, description: 'When it begins again.' }),
    unit: t.field({ type: BudgetUnitType, description: 'What it counts.' }),
    limit: t.float({
      description: 'Most tokens of one period, a whole number, or most money; 0 refuses every call that costs something.',
    }),
    allowsUnpricedModels: t.boolean({
      required: false,
      description:
        'Of a budget in money: whether models without a price may be used, which cost nothing of it. Default: as before; false for a new one.',
    }),
  }),
});

const TimeZoneInput = builder.inputType('TimeZoneInput', {
  description: 'A time zone.',
  fields: (t) => ({
    timeZone: t.string({ description: 'An IANA name such as Europe/Berlin. Of a new organization: UTC.' }),
  }),
});

builder.mutationFields((t) => ({
  setBudget: t.field({
    authScopes: { key: 'ADMIN:WRITE' },
    type: BudgetType,
    description:
      'Adds a budget, or changes that of the same subject, period and unit. It holds for the calls that begin from then on.',
    args: { input: t.arg({ type: SetBudgetInput, description: 'The budget.' }) },
    resolve: (_root, { input }, { deps, caller }) => setBudget(deps, caller, input),
  }),
  deleteBudget: t.field({
    authScopes: { key: 'ADMIN:WRITE' },
    type: BudgetType,
    description: 'Deletes a budget. Answers what it was.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, { deps, caller }) => deleteBudget(deps, caller, args.id),
  }),
  setOrganizationTimeZone: t.field({
    authScopes: { key: 'ADMIN:WRITE' },
    type: OrganizationType,
    description:
      "Sets by which clock days and months of the caller's organization begin: those of budgets, and of usage by day. Days that were counted stay as they are.",
    args: { input: t.arg({ type: TimeZoneInput, description: 'The time zone.' }) },
    resolve: (_root, { input }, { deps, caller }) => setOrganizationTimeZone(deps, caller, input.timeZone),
  }),
}));
