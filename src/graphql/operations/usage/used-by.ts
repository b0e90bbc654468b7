import {
  maySeeUsage,
  type UsagePeriodInput,
  usageOfAgents,
  usageOfKeys,
  usageOfUsers,
} from '../../../domain/operations/usage.ts';
import type { AgentView } from '../../../entities/agents/agent.ts';
import { batched } from '../../ground/builder/batched.ts';
import { builder } from '../../ground/builder/builder.ts';
import { reading } from '../../ground/builder/members.ts';
import type { ArgBuilder } from '../../ground/pagination.ts';
import { AgentRef, ApiKeyRef, UserRef } from '../../ground/refs.ts';
import { AgentUsageType, ApiKeyUsageType, UserUsageType } from './usage.ts';

// What a thing used, beside the other members of the thing: one statement for a list of them.

const usageOfAgent = batched((ids: readonly string[], { deps, caller }, period: UsagePeriodInput) =>
  usageOfAgents(deps, caller, ids, period),
);
const usageOfUser = batched((ids: readonly string[], { deps, caller }, period: UsagePeriodInput) =>
  usageOfUsers(deps, caller, ids, period),
);
const usageOfKey = batched((ids: readonly string[], { deps }, orgId: string, period: UsagePeriodInput) =>
  usageOfKeys(deps, orgId, ids, period),
);

function periodArgs(arg: ArgBuilder) {
  return {
    from: arg({ type: 'DateTime', required: false, description: 'From this moment on. Default: 30 days back.' }),
    to: arg({ type: 'DateTime', required: false, description: 'Before this moment. Default: now.' }),
  };
}

builder.objectField(AgentRef, 'usage', (t) =>
  t.field({
    type: AgentUsageType,
    nullable: true,
    extensions: reading<AgentView>('id'),
    description: "The tokens that the caller's organization used of it in a period.",
    args: periodArgs(t.arg),
    resolve: async ({ id }, period: UsagePeriodInput, context) => ({
      agentId: id,
      ...(await usageOfAgent(context, id, period)),
    }),
  }),
);

builder.objectField(UserRef, 'usage', (t) =>
  t.field({
    type: UserUsageType,
    nullable: true,
    description:
      "The tokens that the user used in the caller's organization in a period; null for others than its administrators and the user.",
    args: periodArgs(t.arg),
    resolve: async ({ id }, period: UsagePeriodInput, context) =>
      maySeeUsage(context.caller, id) ? { id, ...(await usageOfUser(context, id, period)) } : null,
  }),
);

builder.objectField(ApiKeyRef, 'usage', (t) =>
  t.field({
    type: ApiKeyUsageType,
    nullable: true,
    description: 'The tokens that calls with the key used in a period.',
    args: periodArgs(t.arg),
    resolve: async ({ id, orgId }, period: UsagePeriodInput, context) => ({
      id,
      ...(await usageOfKey(context, id, orgId, period)),
    }),
  }),
);
