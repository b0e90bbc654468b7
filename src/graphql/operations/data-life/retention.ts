import { loadRetentions, updateDataRetention } from '../../../domain/operations/data-life/retention.ts';
import {
  type RetainedKind,
  type Retention,
  type RetentionPeriod,
  retentionDays,
} from '../../../entities/operations/data-life/retention.ts';
import { batched } from '../../ground/builder/batched.ts';
import { builder } from '../../ground/builder/builder.ts';
import { OrganizationRef } from '../../ground/refs.ts';

const retentionOf = batched((orgIds: readonly string[], { deps }) => loadRetentions(deps, orgIds));

/** Whoever sees the organization may know how long it keeps what they say there. */
const RetentionPeriodType = builder.objectRef<RetentionPeriod>('RetentionPeriod').implement({
  access: { scope: null },
  description: 'How long an organization keeps one kind of data.',
  fields: (t) => ({
    days: t.exposeInt('days', { nullable: true, description: 'What the organization chose; null: as the installation does.' }),
    effectiveDays: t.exposeInt('effectiveDays', {
      nullable: true,
      description: 'The days that apply; null: it is kept until somebody deletes it.',
    }),
  }),
});

const keptDescriptions = {
  chats: 'Chats, conversations and threads of responses, with all that is in them, from their last change on.',
  runs: 'Runs, and stored responses with their items and messages, from their end on. Messages of chats stay.',
  events: 'The events of runs of chats, from their end on.',
  usage: 'The single calls of the usage ledger. Its sums by day stay.',
  audit: 'Entries of the audit log.',
} satisfies Record<RetainedKind, string>;

const DataRetentionType = builder.objectRef<Retention>('DataRetention').implement({
  access: { scope: null },
  description: 'How long an organization keeps what it gathers. What a legal hold keeps stays longer.',
  fields: (t) => ({
    chats: t.expose('chats', { type: RetentionPeriodType, description: keptDescriptions.chats }),
    runs: t.expose('runs', { type: RetentionPeriodType, description: keptDescriptions.runs }),
    events: t.expose('events', { type: RetentionPeriodType, description: keptDescriptions.events }),
    usage: t.expose('usage', { type: RetentionPeriodType, description: keptDescriptions.usage }),
    audit: t.expose('audit', { type: RetentionPeriodType, description: keptDescriptions.audit }),
  }),
});

builder.objectField(OrganizationRef, 'dataRetention', (t) =>
  t.field({
    type: DataRetentionType,
    description: 'How long it keeps what it gathers.',
    resolve: ({ id }, _args, context) => retentionOf(context, id),
  }),
);

const describeBounds = (kind: RetainedKind) =>
  `From ${retentionDays[kind].min} to ${retentionDays[kind].max.toLocaleString('en')}`;
const describeChoice = (kind: RetainedKind) =>
  `${keptDescriptions[kind]} ${describeBounds(kind)} days; null: as the installation does.`;

const UpdateDataRetentionInput = builder.inputType('UpdateDataRetentionInput', {
  description: 'How long an organization keeps data from now on: absent members are kept.',
  fields: (t) => ({
    orgId: t.id({ required: false, description: "Default: the caller's organization. Others need a TENANT or INSTANCE key." }),
    chatDays: t.int({ required: false, description: describeChoice('chats') }),
    runDays: t.int({ required: false, description: describeChoice('runs') }),
    eventDays: t.int({ required: false, description: describeChoice('events') }),
    usageDays: t.int({ required: false, description: describeChoice('usage') }),
    auditDays: t.int({ required: false, description: describeChoice('audit') }),
  }),
});

builder.mutationField('updateDataRetention', (t) =>
  t.field({
    authScopes: { key: 'ADMIN:WRITE' },
    type: DataRetentionType,
    description:
      'Says how long an organization keeps data, for its administrators. What is older is deleted within the next hour or two, for good.',
    args: { input: t.arg({ type: UpdateDataRetentionInput, description: 'The days to change.' }) },
    resolve: (_root, { input }, { deps, caller }) => updateDataRetention(deps, caller, input),
  }),
);
