import { CitedFindings } from '../../foreign/cited-findings.ts';
import type { ToolKind } from '../../tool-kind.ts';
import type { AskingRun } from '../agent-rights.ts';
import { type AskableAgent, createAskTool } from './ask-tool.ts';

export interface SubagentKindDeps {
  /**
   * Those of the agents that the user who is charged may use, as a plain member of the organization. When an agent names them, its owner must be able
   * to use them too, or the user has granted it.
   */
  askableAgents(run: AskingRun, agentIds: readonly string[], ofAgent: string | undefined): Promise<readonly AskableAgent[]>;
}

/** Most agents of one tool. */
const agentsMax = 20;

/** `subagent`: the model asks other agents, each by a function of its own. Agents that the user may not use are not offered. */
export function createSubagentKind({ askableAgents }: SubagentKindDeps): ToolKind {
  return {
    type: 'subagent',
    // An agent may have tools that act.
    isReadOnly: false,
    description: 'Asks other agents, which answer with their own instructions, knowledge and tools.',
    // Their names are those of the agents.
    functionNames: () => [],
    check: ({ agents }, at, faults) => {
      const count = Array.isArray(agents) ? agents.length : 0;
      if (count === 0) {
        faults.add(`${at}.agents`, `${at}.agents must hold the id of at least one AI`, 'MISSING_REQUIRED_PARAMETER');
      } else if (count > agentsMax) faults.add(`${at}.agents`, `${at}.agents must hold at most ${agentsMax} ids`);
    },
    async open({ options, ofAgent }, run) {
      const ids = Array.isArray(options.agents) ? options.agents.filter((id) => typeof id === 'string') : [];
      if (!run.subagents.mayStart || ids.length === 0) return { functions: [] };
      const agents = await askableAgents(run.plan, [...new Set(ids)], ofAgent);
      const citedFindings = new CitedFindings(run);
      return { functions: agents.map((agent) => createAskTool(agent, run.subagents, citedFindings)) };
    },
  };
}
