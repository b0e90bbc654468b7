import type { Charge, RunPlan } from '../../../engine/plan/plan.ts';
import { withMessages } from '../../../engine/runs/stored/request.ts';
import type { SubagentPlan } from '../../../engine/tools/agents/subagents.ts';
import type { RunnableAgent } from '../../../entities/agents/agent.ts';
import { findModelId } from '../../agents/agents.ts';
import type { Deps } from '../../deps.ts';
import { toMember } from './agent-rights.ts';
import { plainRequest, planRun } from './plan.ts';
import { findFor } from './subagents.ts';

type PlanDeps = Pick<Deps, 'storage' | 'models' | 'now' | 'tools'>;

/**
 * The run of an agent that answers one question as a subagent: with its instructions, model, options, knowledge and tools, and without anything of
 * the run that asks. Nobody can answer a call for approval or a function of a client, so tools that need that are left out.
 */
export function createSubagentPlan(deps: PlanDeps): SubagentPlan {
  return async (charge, agentId, question) => {
    const agent = await findFor(deps, toMember(charge), agentId);
    return agent === undefined ? undefined : planSubagent(deps, agent, charge, question);
  };
}

function planSubagent(deps: PlanDeps, agent: RunnableAgent, charge: Charge, question: string): RunPlan {
  const answerer = { agent, flow: undefined, userInputs: {}, routing: {} };
  const inputTokensMax = agent.options.maxInputTokens?.[0];
  const subject = { question, date: deps.now(), inputTokensMax };
  const storedRequest = planRun(deps, toMember(charge), plainRequest, answerer, subject);
  // Whoever reads the run that asks sees what that run shows.
  const {
    hidesSteps: _steps,
    hidesOutputs: _outputs,
    ...own
  } = withMessages(storedRequest, [{ role: 'user', content: question }]);
  return {
    ...own,
    modelId: findModelId(deps, agent),
    tools: [],
    mayNotAsk: true,
    isStreaming: true,
    charge: { ...charge, agentId: agent.id, agentVersion: agent.version },
  };
}
