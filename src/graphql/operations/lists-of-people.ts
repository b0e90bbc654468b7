import { listAgents } from '../../domain/agents/agents.ts';
import { listChats } from '../../domain/conversations/chats/chats.ts';
import { getUsage } from '../../domain/operations/usage.ts';
import { AgentConnection } from '../agents/agents.ts';
import { AgentListScopeType } from '../agents/enums.ts';
import { ChatConnection } from '../conversations/chats/chats.ts';
import { builder } from '../ground/builder/builder.ts';
import { membersRead } from '../ground/builder/members.ts';
import { pageArgs, pageRequest } from '../ground/pagination.ts';
import { OrganizationRef } from '../ground/refs.ts';
import { ViewerType } from '../people/viewer.ts';
import { UsageReportType } from './usage/usage.ts';

// What the caller and its organization have. A key without the scope of a list gets null.

builder.objectFields(ViewerType, (t) => ({
  agents: t.field({
    type: AgentConnection,
    nullable: true,
    description: 'Agents that the caller may use, newest first; null for a key without the scope AGENTS:READ.',
    args: {
      scope: t.arg({ type: AgentListScopeType, required: false, description: 'Which agents. Default ALL.' }),
      search: t.arg.string({
        required: false,
        description: 'Only those whose name or description holds this text; at most 200 characters.',
      }),
      ...pageArgs(t.arg),
    },
    resolve: (_caller, { scope, search, ...args }, context, info) => {
      const page = pageRequest(context, args);
      return listAgents(context.deps, context.caller, { scope, search }, page, membersRead(info, 'Agent'));
    },
  }),
  chats: t.field({
    type: ChatConnection,
    nullable: true,
    description: "The caller's chats, the one changed last first; null for a key without the scope CHATS:READ.",
    args: {
      search: t.arg.string({
        required: false,
        description: 'Only those whose name or messages hold this, in any case; at most 200 characters.',
      }),
      ...pageArgs(t.arg),
    },
    resolve: (_caller, { search, ...args }, context) =>
      listChats(context.deps, context.caller, { search }, pageRequest(context, args)),
  }),
  usage: t.field({
    type: UsageReportType,
    nullable: true,
    description: 'What the organization used, in total or in a period; null for a key without the scope USAGE:READ.',
    args: {
      from: t.arg({ type: 'DateTime', required: false, description: 'From this moment on. Default: the beginning.' }),
      to: t.arg({ type: 'DateTime', required: false, description: 'Before this moment. Default: now.' }),
    },
    resolve: (_caller, period, { deps, caller }) => getUsage(deps, caller, period),
  }),
}));

builder.objectField(OrganizationRef, 'agents', (t) =>
  t.field({
    type: AgentConnection,
    nullable: true,
    description:
      "Its agents that the caller may use, newest first: all of them for its administrators. Null for an organization other than the key's own.",
    args: { ...pageArgs(t.arg) },
    resolve: ({ id }, args, context, info) => {
      const { deps, caller } = context;
      if (id !== caller.orgId) return null;
      const page = pageRequest(context, args);
      return listAgents(deps, caller, { isOwnOrganization: true }, page, membersRead(info, 'Agent'));
    },
  }),
);
