import type { ModelTool } from '../../models/port.ts';
import type { AgentTools } from '../../tools/agent-tools.ts';
import type { ServerTool, ServerTools } from '../../tools/server-tool.ts';
import type { RunPlan } from '../run-engine.ts';

interface RunToolsDeps {
  readonly tools: ServerTools;
  readonly agentTools?: AgentTools;
}

const none: ServerTools = new Map();

/** The tools of the service and of the agent that one run may call. */
export class RunTools {
  readonly #plan: RunPlan;
  readonly #deps: RunToolsDeps;
  readonly #ofRun: () => ServerTools;
  #known: ServerTools | undefined;

  /** @param ofRun  makes the tools that belong to one run; only those that its plan names are offered. */
  constructor(plan: RunPlan, deps: RunToolsDeps, ofRun: () => ServerTools) {
    this.#plan = plan;
    this.#deps = deps;
    this.#ofRun = ofRun;
  }

  /** Called for every read of a stream. */
  get all(): ServerTools {
    if (this.#known === undefined) this.#known = this.#ofService();
    return this.#known;
  }

  /** When names collide, the caller's functions and the service's tools win over the agent's tools. */
  async takeAgentTools(): Promise<void> {
    const { agentId } = this.#plan.charge;
    if (agentId === null || this.#deps.agentTools === undefined) return;
    const names = new Set(this.#plan.tools.map(({ name }) => name));
    const agentTools = [...(await this.#deps.agentTools(agentId))].filter(([name]) => !names.has(name));
    this.#known = new Map([...this.#counted(agentTools), ...this.#ofService()]);
  }

  /** All definitions, including the caller's functions. */
  definitions(): readonly ModelTool[] {
    const plan = this.#plan;
    const { all } = this;
    return all.size === 0 ? plan.tools : [...plan.tools, ...Array.from(all.values(), (tool) => tool.definition)];
  }

  #ofService(): ServerTools {
    const names = this.#plan.serverTools ?? [];
    if (names.length === 0) return none;
    const offered = [...this.#deps.tools, ...this.#ofRun()].filter(([name]) => names.includes(name));
    return new Map(this.#counted(offered));
  }

  /** Calls count for the organization that the run is charged to. */
  #counted(tools: readonly (readonly [string, ServerTool])[]): readonly (readonly [string, ServerTool])[] {
    return tools.map(([name, tool]) => [name, tool.countedFor?.(this.#plan.charge) ?? tool]);
  }
}
