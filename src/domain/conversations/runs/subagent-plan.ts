import type { Charge, RunPlan } from '../../../engine/plan/plan.ts';
import { withMessages } from '../../../engine/runs/stored/request.ts';
import type { SubagentPlan } from '../../../engine/tools/agents/subagents.ts';
import type { RunnableAgent } from '../../../entities/agents/agent.ts';
import { modelIdOf } from '../../agents/agents.ts';
import type { Deps } from '../../deps.ts';
import { memberOf } from './agent-rights.ts';
import { plainRequest, planRun } from './plan.ts';
import { findFor } from './subagents.ts';

type PlanDeps = Pick<Deps, 'storage' | 'models' | 'now' | 'tools'>;

/**
 * The run of an agent that answers one question as a subagent: with its instructions, model, options, knowledge and tools, and without anything of
 * the run that asks. Nobody can answer a call for approval or a function of a client, so tools that need that are left out.
 */
export function createSubagentPlan(deps: PlanDeps): SubagentPlan {
  return async (charge, agentId, question) => {
    const agent = await findFor(deps, memberOf(charge), agentId);
    return agent === undefined ? undefined : planOf(deps, agent, charge, question);
  };
}

function planOf(deps: PlanDeps, agent: RunnableAgent, charge: Charge, question: string): RunPlan {
  const answerer = { agent, flow: undefined, userInputs: {}, routing: {} };
  const inputTokensMax = agent.options.maxInputTokens?.[0];
  const subject = { question, date: deps.now(), inputTokensMax };
  const planned = planRun(deps, memberOf(charge), plainRequest, answerer, subject);
  // Whoever reads the run that asks sees what that run shows.
  const { hidesSteps: _steps, hidesOutputs: _outputs, ...own } = withMessages(planned, [{ role: 'user', content: question }]);
  return {
    ...own,
    modelId: modelIdOf(deps, agent),
    tools: [],
    mayNotAsk: true,
    isStreaming: true,
    charge: { ...charge, agentId: agent.id },
  };
}
