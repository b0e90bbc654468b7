import { z } from 'zod';
import type { AgentCatalog } from '../../entities/agents/agent.ts';
import type { EnabledTool } from '../../entities/conversations/runs/tool.ts';
import { body, maybe, readAs } from '../ground/body.ts';
import { flag, list, text } from '../ground/schema.ts';
import { memberShape, resolvedShape } from '../ground/shape.ts';
import { agentOptionsBody, shownOptions, showOptions } from './options.ts';
import { agentProfileBody, shownProfile, showProfile } from './profile.ts';
import { shownTool, showTool, toolBody } from './tools.ts';

/** Agents, as REST shows them. */

/** GraphQL lists the catalogs that list an agent. */
export const agentShapes = {
  listInOrgCatalog: catalogFlag('listInOrgCatalog', 'ORGANIZATION', "Whether the organization's catalog lists it."),
  listInPublicCatalog: catalogFlag('listInPublicCatalog', 'PUBLIC', 'Whether the public catalog lists it.'),
  listInTenantCatalog: catalogFlag('listInTenantCatalog', 'TENANT', "Whether the tenant's catalog lists it."),
  profile: resolvedShape(
    'Agent.profile',
    shownProfile.meta({ description: 'How it is presented; empty members until a profile is made.' }),
    showProfile,
  ),
  enabledTools: resolvedShape(
    'Agent.enabledTools',
    list('The tools of the service that all its runs may use; only their types for callers who may not edit it.', shownTool),
    (tools: readonly EnabledTool[], context) => tools.map((tool) => showTool(tool, context)),
  ),
  options: resolvedShape('Agent.options', shownOptions.meta({ description: 'How the model samples.' }), showOptions),
} as const;

function catalogFlag(name: string, catalog: AgentCatalog, description: string) {
  return memberShape(`Agent.${name}`, flag(description), (catalogs: readonly AgentCatalog[]) => catalogs.includes(catalog));
}

const textsOfAgent = {
  name: text('Shown to users; 1 to 200 characters.'),
  description: text('What it is for; at most 10,000 characters.'),
  instructions: text('The instructions for the model; at most 400,000 characters.'),
};
const src = text('Its picture: an address, or a data URL.');
const optionalMembers = {
  listInOrgCatalog: flag("Whether the organization's catalog lists it.").nullish(),
  listInPublicCatalog: flag('Whether the public catalog lists it.').nullish(),
  listInTenantCatalog: flag("Whether the tenant's catalog lists it.").nullish(),
  options: maybe('How the model samples. Replaced whole.', agentOptionsBody),
  introduction: text('How it greets at the start of a chat.').nullish(),
  seed: text('Text that new chats begin from.').nullish(),
  modelId: text('`provider/name`, or a unique bare name. Null: the default model.').nullish(),
  visibility: typed('AgentVisibility', 'Who may use it. Default PRIVATE.'),
  generateCitations: flag('Whether answers cite passages. Default true.').nullish(),
  chatLogsVisible: flag('Whether its editors may read chats of its organization: those that begin while this is on.').nullish(),
  intermediateStepsVisible: flag('Whether users see the steps between question and answer.').nullish(),
  enabledTools: list('Tools of the service that all its runs may use; at most 20. Replaced whole.', toolBody).nullish(),
  groups: list('Ids of the groups it is shared with; at most 100.', readAs('ID', z.string())).nullish(),
  profile: maybe('How it is presented. Replaced whole.', agentProfileBody),
  editors: list('Users who may edit it besides the owner; at most 100.', readAs('AgentEditorInput', z.unknown())).nullish(),
  publicCategories: list('Where the public catalog lists it.', readAs('PublicCategory', z.unknown())).nullish(),
  orgCategoryIds: list("Where the organization's catalog lists it; at most 100.", z.string()).nullish(),
};

export const newAgentBody = body('CreateAgentInput', 'A new agent.', { src, ...textsOfAgent, ...optionalMembers });
export const agentChangesBody = body(
  'UpdateAgentInput',
  'Changes of an agent: absent members are kept, null clears what can be empty.',
  {
    src: src.nullish(),
    name: textsOfAgent.name.nullish(),
    description: textsOfAgent.description.nullish(),
    instructions: textsOfAgent.instructions.nullish(),
    ...optionalMembers,
  },
);

/** A member of a type that both APIs read. */
export function typed(type: string, description: string) {
  return readAs(type, z.unknown().meta({ description })).nullish();
}
