import type { ModelTool } from '../../models/port.ts';
import type { AgentTools } from '../../tools/agent-tools.ts';
import type { ServerTool, ServerTools } from '../../tools/server-tool.ts';
import type { RunPlan } from '../run-engine.ts';

interface RunToolsDeps {
  readonly tools: ServerTools;
  readonly agentTools?: AgentTools;
}

const none: ServerTools = new Map();

/** Those of the service, and of the agent, that one run may call. */
export class RunTools {
  readonly #plan: RunPlan;
  readonly #deps: RunToolsDeps;
  readonly #ofRun: () => ServerTools;
  #known: ServerTools | undefined;

  /** @param ofRun  tools that are made for one run; of these too, only what its plan names. */
  constructor(plan: RunPlan, deps: RunToolsDeps, ofRun: () => ServerTools) {
    this.#plan = plan;
    this.#deps = deps;
    this.#ofRun = ofRun;
  }

  /** Asked for every read of a stream. */
  get all(): ServerTools {
    if (this.#known === undefined) this.#known = this.#ofService();
    return this.#known;
  }

  /** A function of the caller, and a tool of the service, come before a tool of the agent that has got the same name since. */
  async takeAgentTools(): Promise<void> {
    const { agentId } = this.#plan.charge;
    if (agentId === null || this.#deps.agentTools === undefined) return;
    const names = new Set(this.#plan.tools.map(({ name }) => name));
    const agentTools = [...(await this.#deps.agentTools(agentId))].filter(([name]) => !names.has(name));
    this.#known = new Map([...this.#counted(agentTools), ...this.#ofService()]);
  }

  /** With what the caller brings. */
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

  /** Their calls take places of the organization that the run is charged to. */
  #counted(tools: readonly (readonly [string, ServerTool])[]): readonly (readonly [string, ServerTool])[] {
    return tools.map(([name, tool]) => [name, tool.countedFor?.(this.#plan.charge) ?? tool]);
  }
}
