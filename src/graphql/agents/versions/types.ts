import { canaryKeeps } from '../../../domain/agents/versions/canary.ts';
import type { ContentChange, ContentMember, DiffHunk, DiffLine } from '../../../domain/agents/versions/diff.ts';
import { contentChangeKinds, diffLineKinds } from '../../../domain/agents/versions/diff.ts';
import { listDraftChanges, readMakers } from '../../../domain/agents/versions/versions.ts';
import { canEditAgent } from '../../../domain/ground/access/access.ts';
import type { AgentView } from '../../../entities/agents/agent.ts';
import type { AgentVersion, AgentVersioning, DraftChange } from '../../../entities/agents/version.ts';
import type { Warning } from '../../../entities/ground/warning.ts';
import { batched } from '../../ground/builder/batched.ts';
import { builder } from '../../ground/builder/builder.ts';
import { reading } from '../../ground/builder/members.ts';
import { makeConnection } from '../../ground/pagination.ts';
import { AgentRef } from '../../ground/refs.ts';
import { createEnum } from '../../ground/types/enums.ts';
import { WarningType } from '../../ground/types/warnings.ts';
import { loadAgent } from '../agent-edge.ts';
import { AgentPublishingType } from './args.ts';

export const CanaryKeepType = createEnum('CanaryKeep', 'Which version everybody gets when a canary ends.', canaryKeeps, {
  CANARY: 'The canary.',
  PUBLISHED: 'The published version, as before.',
});

const makerOfVersion = batched((ids: readonly (string | null)[], { deps }) => readMakers(deps, ids));

export const AgentVersionType = builder
  .objectRef<AgentVersion & { readonly warnings?: readonly Warning[] }>('AgentVersion')
  .implement({
    access: { scope: 'AGENTS:READ' },
    description: 'What reached the model of an agent at a time. It never changes. For those who may edit the agent.',
    fields: (t) => ({
      agentId: t.exposeID('agentId', { description: 'The agent.' }),
      agent: t.field({
        type: AgentRef,
        nullable: true,
        description: 'The agent as it is now.',
        resolve: ({ agentId }, _args, context, info) => loadAgent(context, agentId, info),
      }),
      number: t.exposeInt('number', { description: '1, 2, 3, …: the order in which the versions of an agent were made.' }),
      createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
      userId: t.exposeID('userId', { nullable: true, description: 'Who made it; null when that person was erased.' }),
      userName: t.string({
        nullable: true,
        description: 'The name of that person; null when there is none any more.',
        resolve: ({ userId }, _args, context) => makerOfVersion(context, userId),
      }),
      note: t.exposeString('note', { description: 'What it is about, as its maker says; blank for none.' }),
      members: t.exposeStringList('members', {
        description: 'What differs from the version that people got before: `instructions`, `tools.lookup`. At most 100.',
      }),
      isPublished: t.exposeBoolean('isPublished', {
        description:
          'False for a canary that was not kept, and for a draft that a roll back replaced: only a part of the people got it, or nobody.',
      }),
      rolledBackTo: t.exposeInt('rolledBackTo', {
        nullable: true,
        description: 'Of a roll back: the version that it is equal to.',
      }),
      overrideReason: t.exposeString('overrideReason', {
        nullable: true,
        description: 'Why it was published in spite of its gate; null when it was not.',
      }),
      warnings: t.field({
        type: [WarningType],
        nullable: true,
        description: 'After a roll back: what of the old version is gone. Null when there is nothing to say.',
        resolve: ({ warnings = [] }) => (warnings.length === 0 ? null : [...warnings]),
      }),
    }),
  });

export const AgentVersionConnection = makeConnection(AgentVersionType, 'AgentVersion', 'Versions of an agent');

const DiffLineKindType = createEnum('DiffLineKind', 'What became of a line.', diffLineKinds, {
  SAME: 'It is in both.',
  ADDED: 'It is in the later one only.',
  REMOVED: 'It is in the earlier one only.',
});

const DiffLineType = builder.objectRef<DiffLine>('DiffLine').implement({
  access: { scope: 'AGENTS:READ' },
  description: 'A line of a text.',
  fields: (t) => ({
    kind: t.expose('kind', { type: DiffLineKindType, description: 'What became of it.' }),
    text: t.exposeString('text', { description: 'The line, without its end.' }),
  }),
});

const DiffHunkType = builder.objectRef<DiffHunk>('DiffHunk').implement({
  access: { scope: 'AGENTS:READ' },
  description: 'Lines that differ, with three lines around them.',
  fields: (t) => ({
    fromLine: t.exposeInt('fromLine', { description: 'Where it begins in the earlier text; lines count from 1.' }),
    toLine: t.exposeInt('toLine', { description: 'Where it begins in the later text.' }),
    lines: t.field({ type: [DiffLineType], description: 'Its lines.', resolve: ({ lines }) => [...lines] }),
  }),
});

const ContentChangeKindType = createEnum('ContentChangeKind', 'What became of a member.', contentChangeKinds, {
  ADDED: 'It, or its part, is in the later one only.',
  REMOVED: 'It, or its part, is in the earlier one only.',
  CHANGED: 'It is another.',
});

export const ContentChangeType = builder.objectRef<ContentChange>('ContentChange').implement({
  access: { scope: 'AGENTS:READ' },
  description: 'A member of an agent that differs between two versions.',
  fields: (t) => ({
    member: t.exposeString('member', { description: '`instructions`, or the member of a part: `tools.lookup.data`.' }),
    kind: t.expose('kind', { type: ContentChangeKindType, description: 'What became of it.' }),
    hunks: t.field({
      type: [DiffHunkType],
      description: 'What differs by line; a member that is no text as JSON.',
      resolve: ({ hunks }) => [...hunks],
    }),
  }),
});

export const ContentMemberType = builder.objectRef<ContentMember>('ContentMember').implement({
  access: { scope: 'AGENTS:READ' },
  description: 'A member of a version of an agent.',
  fields: (t) => ({
    member: t.exposeString('member', { description: '`instructions`, or the member of a part: `tools.lookup.data`.' }),
    text: t.exposeString('text', { description: 'What it is; a member that is no text as JSON.' }),
  }),
});

const AgentDraftChangeType = builder.objectRef<DraftChange>('AgentDraftChange').implement({
  access: { scope: 'AGENTS:READ' },
  description: 'A change of the draft of an agent.',
  fields: (t) => ({
    revision: t.exposeInt('revision', { description: 'The revision of the draft that it made.' }),
    userId: t.exposeID('userId', { nullable: true, description: 'Who made it; null when that person was erased.' }),
    userName: t.string({
      nullable: true,
      description: 'The name of that person; null when there is none any more.',
      resolve: ({ userId }, _args, context) => makerOfVersion(context, userId),
    }),
    members: t.exposeStringList('members', { description: 'What it changed: `instructions`, `tools.lookup`. At most 100.' }),
  }),
});

const loadDraftChanges = batched((ids: readonly string[], { deps, caller }, after: number) =>
  listDraftChanges(deps, caller, ids, after),
);

const AgentDraftType = builder.objectRef<AgentVersioning & { readonly id: string }>('AgentDraft').implement({
  access: { scope: 'AGENTS:READ' },
  description: 'What its editors see and change of an agent, and people get once it is published.',
  fields: (t) => ({
    revision: t.exposeInt('draftRevision', {
      description: 'Grows with every change. Give it as `expectedDraft`, and a change is refused when somebody was faster.',
    }),
    isChanged: t.exposeBoolean('isDraftChanged', { description: 'Whether it differs from what people get.' }),
    changes: t.field({
      type: [AgentDraftChangeType],
      description: 'Who changed what since a revision, oldest first; the last 200 changes are remembered.',
      args: {
        after: t.arg.int({
          required: false,
          description: 'The revision that the caller saw. Null: 0, so all that are remembered.',
        }),
      },
      resolve: async ({ id }, { after }, context) => [...(await loadDraftChanges(context, id, after ?? 0))],
    }),
  }),
});

interface Canary {
  readonly version: number;
  readonly percent: number;
  readonly startedAt: Date;
}

const AgentCanaryType = builder.objectRef<Canary>('AgentCanary').implement({
  access: { scope: 'AGENTS:READ' },
  description: 'A version that a part of the chats gets which begin.',
  fields: (t) => ({
    version: t.exposeInt('version', { description: 'The number of the version.' }),
    percent: t.exposeInt('percent', { description: 'How many of a hundred chats get it.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'Chats that began earlier do not get it.' }),
  }),
});

const reads = reading<AgentView>;
const editable = ['orgId', 'userId', 'editors'] as const;

builder.objectFields(AgentRef, (t) => ({
  publishing: t.field({
    extensions: reads('publishing'),
    type: AgentPublishingType,
    description: 'When a change of it takes effect.',
    resolve: ({ publishing }) => publishing,
  }),
  publishedVersion: t.int({
    extensions: reads('publishedVersion'),
    description: 'The number of the version that people get.',
    resolve: ({ publishedVersion }) => publishedVersion,
  }),
  draft: t.field({
    extensions: reads('draftRevision', 'isDraftChanged', ...editable),
    type: AgentDraftType,
    nullable: true,
    description: 'Its draft, which the other members show; null for callers who may not edit it.',
    resolve: (agent, _args, { caller }) => (canEditAgent(caller, agent) ? agent : null),
  }),
  canary: t.field({
    extensions: reads('canaryVersion', 'canaryPercent', 'canaryStartedAt', ...editable),
    type: AgentCanaryType,
    nullable: true,
    description: 'The version that a part of the chats gets; null when there is none, and for callers who may not edit it.',
    resolve: (agent, _args, { caller }) => {
      const { canaryVersion: version, canaryPercent: percent, canaryStartedAt: startedAt } = agent;
      if (version === null || percent === null || startedAt === null || !canEditAgent(caller, agent)) return null;
      return { version, percent, startedAt };
    },
  }),
}));
