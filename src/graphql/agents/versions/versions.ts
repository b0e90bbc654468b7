import { getAgent } from '../../../domain/agents/agents.ts';
import { endCanary, startCanary } from '../../../domain/agents/versions/canary.ts';
import { listContentMembers } from '../../../domain/agents/versions/diff.ts';
import { discardAgentDraft, publishAgent, rollbackAgent, setAgentPublishing } from '../../../domain/agents/versions/publish.ts';
import {
  diffAgentVersions,
  getAgentVersion,
  listAgentVersions,
  readVersionContent,
  requireVersionName,
} from '../../../domain/agents/versions/versions.ts';
import { builder } from '../../ground/builder/builder.ts';
import { type ArgBuilder, pageArgs, pageRequest } from '../../ground/pagination.ts';
import { AgentType } from '../agents.ts';
import { AgentPublishingType, expectedDraftArg } from './args.ts';
import { AgentVersionConnection, AgentVersionType, CanaryKeepType, ContentChangeType, ContentMemberType } from './types.ts';

const read = { authScopes: { key: 'AGENTS:READ' } } as const;
const write = { authScopes: { key: 'AGENTS:WRITE' } } as const;
const agentId = (arg: ArgBuilder) => arg.id({ description: 'The id of the agent.' });
const versionName = (arg: ArgBuilder, which: string) =>
  arg.string({ description: `${which}: \`draft\`, or the number of a version.` });
const note = (arg: ArgBuilder) =>
  arg.string({ required: false, description: 'What the version is about, for people; at most 2,000 characters.' });
const overrideReason = (arg: ArgBuilder) =>
  arg.string({
    required: false,
    description:
      'Publishes in spite of the gate, for its owner and administrators; at most 2,000 characters, shown on the version.',
  });

builder.queryFields((t) => ({
  agentVersions: t.field({
    ...read,
    type: AgentVersionConnection,
    description: 'The versions of an agent, newest first. For those who may edit it.',
    args: { agentId: agentId(t.arg), ...pageArgs(t.arg) },
    resolve: (_root, { agentId: id, ...page }, context) =>
      listAgentVersions(context.deps, context.caller, id, pageRequest(context, page)),
  }),
  agentVersion: t.field({
    ...read,
    type: AgentVersionType,
    nullable: true,
    description: 'One version of an agent; null when there is none. For those who may edit the agent.',
    args: { agentId: agentId(t.arg), number: t.arg.int({ description: 'Its number.' }) },
    resolve: (_root, { agentId: id, number }, { deps, caller }) => getAgentVersion(deps, caller, id, number),
  }),
  agentVersionContent: t.field({
    ...read,
    type: [ContentMemberType],
    description:
      'All that a version of an agent holds, member by member: texts, model and options, tools, user inputs, skills, flows, the list of sources. For those who may edit the agent.',
    args: { agentId: agentId(t.arg), version: versionName(t.arg, 'The version') },
    resolve: async (_root, { agentId: id, version }, { deps, caller }) => [
      ...listContentMembers(await readVersionContent(deps, caller, id, requireVersionName('version', version))),
    ],
  }),
  agentVersionDiff: t.field({
    ...read,
    type: [ContentChangeType],
    description: 'What differs between two versions of an agent, member by member. For those who may edit it.',
    args: { agentId: agentId(t.arg), from: versionName(t.arg, 'The earlier one'), to: versionName(t.arg, 'The later one') },
    resolve: async (_root, { agentId: id, from, to }, { deps, caller }) => {
      const names = { from: requireVersionName('from', from), to: requireVersionName('to', to) };
      return [...(await diffAgentVersions(deps, caller, id, names))];
    },
  }),
}));

builder.mutationFields((t) => ({
  publishAgent: t.field({
    ...write,
    type: AgentVersionType,
    description:
      'Makes a version of the draft of an agent, which people get from now on. A canary ends. CONFLICT for a draft that does not differ.',
    args: {
      id: agentId(t.arg),
      note: note(t.arg),
      expectedDraft: expectedDraftArg(t.arg),
      overrideReason: overrideReason(t.arg),
    },
    resolve: (_root, { id, ...terms }, { deps, caller }) => publishAgent(deps, caller, id, terms),
  }),
  rollbackAgent: t.field({
    ...write,
    type: AgentVersionType,
    description:
      'Makes a new version equal to an old one, which people get from now on, and the draft too. A draft that was not published stays as a version. Answers that are being given end as they began.',
    args: {
      id: agentId(t.arg),
      version: t.arg.int({ description: 'The number of the old version.' }),
      note: note(t.arg),
      expectedDraft: expectedDraftArg(t.arg),
    },
    resolve: (_root, { id, ...terms }, { deps, caller }) => rollbackAgent(deps, caller, id, terms),
  }),
  discardAgentDraft: t.field({
    ...write,
    type: AgentVersionType,
    description:
      'Makes the draft of an agent what people get: what was changed and not published is gone. Answers the published version.',
    args: { id: agentId(t.arg), expectedDraft: expectedDraftArg(t.arg) },
    resolve: (_root, { id, expectedDraft }, { deps, caller }) => discardAgentDraft(deps, caller, id, expectedDraft),
  }),
  setAgentPublishing: t.field({
    ...write,
    type: AgentType,
    description:
      'Says when changes of an agent take effect. A draft that differs is published, when they take effect at once from now on.',
    args: { id: agentId(t.arg), publishing: t.arg({ type: AgentPublishingType, description: 'When.' }) },
    resolve: async (_root, { id, publishing }, { deps, caller }) => {
      await setAgentPublishing(deps, caller, id, publishing);
      return getAgent(deps, caller, id);
    },
  }),
  startCanary: t.field({
    ...write,
    type: AgentType,
    description:
      'Gives a part of the chats that begin, and of the callers of runs without a chat, another version than the others. A chat keeps its version. For the version that is the canary, the percentage changes. A gate is asked as for `publishAgent`.',
    args: {
      id: agentId(t.arg),
      percent: t.arg.int({ description: 'How many of a hundred, 1 to 99.' }),
      version: t.arg.int({ required: false, description: 'The number of a version. Default: a new one, of the draft.' }),
      note: note(t.arg),
      expectedDraft: expectedDraftArg(t.arg),
      overrideReason: overrideReason(t.arg),
    },
    resolve: async (_root, { id, ...terms }, { deps, caller }) => {
      await startCanary(deps, caller, id, terms);
      return getAgent(deps, caller, id);
    },
  }),
  endCanary: t.field({
    ...write,
    type: AgentType,
    description: 'Ends the canary of an agent: everybody gets the version that is kept. CONFLICT when it has none.',
    args: {
      id: agentId(t.arg),
      keep: t.arg({ type: CanaryKeepType, description: 'Which version everybody gets.' }),
      overrideReason: overrideReason(t.arg),
    },
    resolve: async (_root, { id, keep, overrideReason: reason }, { deps, caller }) => {
      const approval = await endCanary(deps, caller, id, keep, reason);
      return { ...(await getAgent(deps, caller, id)), ...approval };
    },
  }),
}));
