import {
  getAgentGuard,
  getOrganizationGuard,
  listGuardCounts,
  setAgentGuard,
  setOrganizationGuard,
} from '../../domain/agents/guards.ts';
import { type Guard, type GuardCount, type GuardPattern, guardKinds, maskedKinds } from '../../entities/agents/guard.ts';
import { builder } from '../ground/builder/builder.ts';
import { createEnum } from '../ground/types/enums.ts';

const kinds = {
  EMAIL: 'E-mail addresses.',
  PHONE: 'Phone numbers that begin with + or 00.',
  IBAN: 'Numbers of bank accounts whose check digits hold.',
  CARD: 'Numbers of cards that pass the check of Luhn.',
  IP_ADDRESS: 'Addresses of IPv4 and IPv6.',
  API_KEY: 'Keys of well-known services, and JSON Web Tokens.',
  PRIVATE_KEY: 'Blocks of private keys.',
} as const;
const GuardKindType = createEnum('GuardKind', 'What the patterns of a guard find.', guardKinds, kinds);
const MaskedKindType = createEnum('MaskedKind', 'What a value is that was masked.', maskedKinds, {
  ...kinds,
  CUSTOM: 'What a pattern of the organization or the agent finds.',
  PERSONAL: 'What the model of the guard has named.',
});

const access = { scope: 'AGENTS:READ' } as const;

const GuardPatternType = builder.objectRef<GuardPattern>('GuardPattern').implement({
  access,
  description: 'A pattern of a guard.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'What stands in place of a value, before its number.' }),
    pattern: t.exposeString('pattern', { description: 'A regular expression of RE2.' }),
    lengthMax: t.exposeInt('lengthMax', { description: 'Most characters that it finds. A stream holds back little more.' }),
  }),
});

const GuardType = builder.objectRef<Guard>('Guard').implement({
  access,
  description:
    'What is masked in runs: models get `[EMAIL_1]` in place of a value. Nothing where all lists are empty and there is no model.',
  fields: (t) => ({
    agentId: t.exposeID('agentId', { nullable: true, description: 'The agent; null: the whole organization.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last set; 1970 where it never was.' }),
    kinds: t.field({
      type: [GuardKindType],
      description: 'What is masked by patterns of the service.',
      resolve: ({ kinds: own }) => [...own],
    }),
    patterns: t.field({
      type: [GuardPatternType],
      description: 'Further patterns; at most 20.',
      resolve: ({ patterns }) => [...patterns],
    }),
    putsBack: t.exposeBoolean('putsBack', {
      description: 'Whether answers and calls of tools have the values. If not, nothing that leaves a run has them.',
    }),
    modelId: t.exposeString('modelId', { nullable: true, description: 'A model that finds names and addresses; null: none.' }),
  }),
});

const GuardCountType = builder.objectRef<GuardCount>('GuardCount').implement({
  access: { scope: 'ADMIN:READ' },
  description: 'How many values were masked. A value counts once for each run.',
  fields: (t) => ({
    kind: t.expose('kind', { type: MaskedKindType, description: 'What they are.' }),
    count: t.exposeInt('count', { description: 'How many.' }),
  }),
});

const GuardPatternInput = builder.inputType('GuardPatternInput', {
  description: 'A pattern of a guard.',
  fields: (t) => ({
    name: t.string({ description: 'Capital letters, digits and `_`, at most 40: `[ORDER_1]` stands in the text for `ORDER`.' }),
    pattern: t.string({ description: 'A regular expression of RE2; at most 500 characters.' }),
    lengthMax: t.int({ required: false, description: 'Most characters that it finds, from 1 to 1000. Default: 100.' }),
  }),
});

const GuardInput = builder.inputType('GuardInput', {
  description: 'What is masked. It replaces what stood before: absent members mask nothing.',
  fields: (t) => ({
    kinds: t.field({ type: [GuardKindType], required: false, description: 'What is masked by patterns of the service.' }),
    patterns: t.field({ type: [GuardPatternInput], required: false, description: 'Further patterns; at most 20.' }),
    putsBack: t.boolean({ required: false, description: 'Whether answers and calls of tools have the values. Default: true.' }),
    modelId: t.string({
      required: false,
      description: 'A model that finds names and addresses in what users say. Default: none.',
    }),
  }),
});

const agentId = { description: 'The id of an agent that the caller may edit.' };
const input = { type: GuardInput, description: 'What is masked.' };

builder.queryFields((t) => ({
  agentGuard: t.field({
    authScopes: { key: 'AGENTS:READ' },
    type: GuardType,
    description: 'What is masked in the runs of an agent, besides what its organization masks.',
    args: { agentId: t.arg.id(agentId) },
    resolve: (_root, args, { deps, caller }) => getAgentGuard(deps, caller, args.agentId),
  }),
  organizationGuard: t.field({
    authScopes: { key: 'AGENTS:READ' },
    type: GuardType,
    description: 'What is masked in all runs of the organization.',
    resolve: (_root, _args, { deps, caller }) => getOrganizationGuard(deps, caller),
  }),
  guardCounts: t.field({
    authScopes: { key: 'ADMIN:READ' },
    type: [GuardCountType],
    description: 'How many values the runs of the organization have masked, by kind; at most 9.',
    args: {
      since: t.arg({ type: 'DateTime', description: 'The first day, in UTC.' }),
      until: t.arg({ type: 'DateTime', description: 'The last day, in UTC; at most 400 days later.' }),
    },
    resolve: async (_root, args, { deps, caller }) => [...(await listGuardCounts(deps, caller, args))],
  }),
}));

builder.mutationFields((t) => ({
  setAgentGuard: t.field({
    authScopes: { key: 'AGENTS:WRITE' },
    type: GuardType,
    description:
      'Says what is masked in the runs of an agent, besides what its organization masks. It holds for runs that begin.',
    args: { agentId: t.arg.id(agentId), input: t.arg(input) },
    resolve: (_root, args, { deps, caller }) => setAgentGuard(deps, caller, args.agentId, args.input),
  }),
  setOrganizationGuard: t.field({
    authScopes: { key: 'AGENTS:WRITE' },
    type: GuardType,
    description: 'Says what is masked in all runs of the organization. It holds for runs that begin. For administrators.',
    args: { input: t.arg(input) },
    resolve: (_root, args, { deps, caller }) => setOrganizationGuard(deps, caller, args.input),
  }),
}));
