import { skillFunction } from '../../../entities/agents/skill-offer.ts';
import type { EnabledTool } from '../../../entities/conversations/runs/tool.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { Warning } from '../../../entities/ground/warning.ts';
import type { ModelTool } from '../../models/port.ts';
import type { RunPlan } from '../../plan/plan.ts';
import type { AgentTools } from '../../tools/agents/agent-tools.ts';
import type { AgentServers } from '../../tools/mcp/agent-servers.ts';
import { isUnavailable } from '../../tools/mcp/unavailable.ts';
import { freeFunctionName } from '../../tools/names.ts';
import type { ToolRegistry } from '../../tools/registry.ts';
import type { RunMask } from '../../tools/secrets/masking.ts';
import type { ServerTool, ServerTools } from '../../tools/server-tool.ts';
import type { McpListing, OpenedTool, ToolKind, ToolRun } from '../../tools/tool-kind.ts';
import { ToolReplay } from './tool-replay.ts';

interface RunToolsDeps {
  readonly tools: ToolRegistry;
  readonly agentTools?: AgentTools;
  readonly agentServers?: AgentServers;
  /** Of the secrets of the request: servers may tell them in what they list. */
  readonly mask?: RunMask;
}

/** What opening the tools of a run adds to its beginning. */
export interface Opening {
  /** Added to the end of the instructions. */
  readonly instructions: readonly string[];
  readonly listings: readonly McpListing[];
}

const none: ServerTools = new Map();

/** The tools of the service and of the agent that one run may call. */
export class RunTools {
  readonly #plan: RunPlan;
  readonly #deps: RunToolsDeps;
  #known: ServerTools = none;
  /** Names of the functions of the tool that the request forces. */
  #forced: readonly string[] = [];
  /** Names of the functions of the service's tools. */
  #ofService: ReadonlySet<string> = new Set();
  #warnings: readonly Warning[] = [];
  /** Undefined for a run that calls its tools. */
  readonly #replay: ToolReplay | undefined;

  constructor(plan: RunPlan, deps: RunToolsDeps) {
    this.#plan = plan;
    this.#deps = deps;
    this.#replay = plan.replay === undefined ? undefined : new ToolReplay(plan.replay);
  }

  /** Called for every read of a stream; empty until `open`. */
  get all(): ServerTools {
    return this.#known;
  }

  /** For the last event of the run: what of its tools has no effect, as far as it was found when they were opened. */
  get endWarnings(): readonly Warning[] {
    return this.#warnings;
  }

  /** Whether the run has tools to open. */
  get mustOpen(): boolean {
    const { offersAgentTools, offersSkills, serviceTools = [], ownTools = [] } = this.#plan;
    return offersAgentTools === true || offersSkills === true || serviceTools.length + ownTools.length > 0;
  }

  /**
   * Opens the service's tools, and loads those of the agent. Functions of the caller with a name that is known before
   * the run were refused. When other names collide, as those that MCP servers list, the second gets `_2`; a tool of the service wins over one of the agent.
   *
   * @throws DomainError when a part that a tool names is missing; MCP_UNAVAILABLE when the request forces a call of a server that cannot be used.
   */
  async open(run: ToolRun): Promise<Opening> {
    const plan = this.#plan;
    const takenNames = new Set(plan.tools.map(({ name }) => name));
    const knownTools = new Map<string, ServerTool>();
    const instructions: string[] = [];
    const listings: McpListing[] = [];
    for (const tool of plan.ownTools ?? []) {
      const { definition, hint } = tool;
      if (takenNames.has(definition.name)) continue;
      takenNames.add(definition.name);
      const run = (args: string) => Promise.resolve().then(() => tool.run(args));
      knownTools.set(definition.name, this.#counted({ definition, hint, ifLost: 'repeat', isSequential: true, run }));
    }
    const openedTools = await Promise.all(
      (plan.serviceTools ?? []).map(async (tool) => ({ tool, ...(await this.#open(tool, run)) })),
    );
    for (const { tool, functions, ...more } of openedTools) {
      if (more.instructions !== undefined) instructions.push(more.instructions);
      listings.push(...(more.listings ?? []));
      for (const one of functions) {
        if (tool.onlyReads === true && one.isReadOnly !== true) continue;
        const approvableTool = this.#replayed(tool.requireApproval === true ? { ...one, requiresApproval: true } : one, tool);
        if (!this.#mayOffer(approvableTool)) continue;
        const name = freeFunctionName(one.definition.name, takenNames);
        takenNames.add(name);
        const namedTool =
          name === one.definition.name ? approvableTool : { ...approvableTool, definition: { ...one.definition, name } };
        knownTools.set(name, this.#counted(namedTool));
        if (this.#isForced(tool, one)) this.#forced = [...this.#forced, name];
      }
    }
    this.#ofService = new Set(knownTools.keys());
    const { offersAgentTools, offersSkills } = plan;
    const ofAgent = offersAgentTools === true || offersSkills === true ? await this.#agentTools() : none;
    const isOffered = (name: string) => (name === skillFunction ? offersSkills : offersAgentTools) === true;
    for (const [name, agentTool] of ofAgent) {
      const tool = this.#replayed(agentTool);
      if (!isOffered(name) || takenNames.has(name) || !this.#mayOffer(tool)) continue;
      takenNames.add(name);
      knownTools.set(name, this.#counted(tool));
    }
    const servers = offersAgentTools === true ? await this.#agentServers(run) : [];
    for (const { functions, ...more } of servers) {
      if (more.instructions !== undefined) instructions.push(more.instructions);
      for (const serverFunction of functions) {
        const one = this.#replayed(serverFunction);
        if (!this.#mayOffer(one)) continue;
        const name = freeFunctionName(one.definition.name, takenNames);
        takenNames.add(name);
        knownTools.set(name, this.#counted({ ...one, definition: { ...one.definition, name } }));
      }
    }
    this.#known = knownTools;
    const { mask } = this.#deps;
    const warnings = [...openedTools, ...servers].flatMap((one) => one.warnings ?? []);
    this.#warnings = mask?.value(warnings) ?? warnings;
    this.#requireForced(openedTools.filter(({ tool }) => this.#isChosen(tool)).flatMap((one) => one.warnings ?? []));
    return { instructions: mask?.value(instructions) ?? instructions, listings };
  }

  /** All definitions, including the caller's functions. @param isForcing  only those of the tool that the request forces. */
  definitions(isForcing = false): readonly ModelTool[] {
    const plan = this.#plan;
    const { all } = this;
    if (all.size === 0) return plan.tools;
    const own = Array.from(all.values(), (tool) => tool.definition);
    return isForcing ? own.filter(({ name }) => this.#forced.includes(name)) : [...plan.tools, ...own];
  }

  /** The only functions that the model may call; undefined: no limit. */
  get only(): readonly string[] | undefined {
    const { onlyTools, toolChoice, mayNotAsk } = this.#plan;
    // Nobody is there to answer a call of another function.
    if (mayNotAsk === true) return [...this.#known.keys()];
    if (toolChoice === 'none') return onlyTools;
    return onlyTools === undefined || this.#ofService.size === 0 ? onlyTools : [...onlyTools, ...this.#ofService];
  }

  #open(enabledTool: EnabledTool, run: ToolRun) {
    const kind = this.#deps.tools.find(enabledTool.type);
    if (kind === undefined) return { functions: [] };
    return kind.unavailable === undefined ? kind.open(enabledTool, run) : { functions: unavailableFunctions(kind, enabledTool) };
  }

  #agentTools(): ServerTools | Promise<ServerTools> {
    const { agentId, agentVersion } = this.#plan.charge;
    return agentId === null || this.#deps.agentTools === undefined ? none : this.#deps.agentTools(agentId, agentVersion);
  }

  #agentServers(run: ToolRun): readonly OpenedTool[] | Promise<readonly OpenedTool[]> {
    const { offersAgentTools, charge } = this.#plan;
    const { agentServers } = this.#deps;
    return offersAgentTools !== true || charge.agentId === null
      ? []
      : (agentServers?.(charge.agentId, run, charge.agentVersion) ?? []);
  }

  /** A function whose name holds a secret of the request is not offered: a model would read it. */
  #mayOffer({ requiresApproval, definition: { name } }: ServerTool): boolean {
    const { mask } = this.#deps;
    if (mask !== undefined && mask.text(name) !== name) return false;
    return this.#plan.mayNotAsk !== true || requiresApproval !== true;
  }

  /** @param ofChosen  what has no effect of the tool that the request forces. @throws DomainError when a call is forced that cannot be made. */
  #requireForced(ofChosen: readonly Warning[]): void {
    const { forcedTool, toolChoice } = this.#plan;
    const { only } = this;
    const isMissing =
      forcedTool === undefined
        ? toolChoice === 'required' && !this.definitions().some(({ name }) => only?.includes(name) !== false)
        : this.#forced.length === 0;
    if (!isMissing) return;
    const lossWarning = (forcedTool === undefined ? this.#warnings : ofChosen).find(isUnavailable);
    const { mask } = this.#deps;
    if (lossWarning !== undefined) {
      const message = `tool_choice forces a call that cannot be made. ${mask?.text(lossWarning.message) ?? lossWarning.message}`;
      throw new DomainError('MCP_UNAVAILABLE', message, { param: 'toolChoice' });
    }
    if (forcedTool === undefined) return;
    throw new DomainError('INVALID_VALUE', `tool_choice forces ${forcedTool.type}, which offers no such tool now`, {
      param: 'toolChoice',
    });
  }

  /** Whether it is the tool that the request forces. */
  #isChosen({ type, options }: EnabledTool): boolean {
    const forcedChoice = this.#plan.forcedTool;
    if (forcedChoice === undefined || forcedChoice.type !== type) return false;
    return forcedChoice.label === undefined || forcedChoice.label === (options.server_label ?? options.server);
  }

  #isForced(tool: EnabledTool, { form }: ServerTool): boolean {
    if (!this.#isChosen(tool)) return false;
    const forcedChoice = this.#plan.forcedTool;
    const callForm = form?.('{}');
    return forcedChoice?.tool === undefined || callForm?.type !== 'mcp' || callForm.tool === forcedChoice.tool;
  }

  /** @param ofService  the tool of the service that it is a function of. */
  #replayed(tool: ServerTool, ofService?: EnabledTool): ServerTool {
    const isReader = ofService !== undefined && this.#deps.tools.isReadOnly(ofService);
    return this.#replay?.toReplayed(tool, isReader) ?? tool;
  }

  /** Calls count for the organization that the run is charged to. */
  #counted(tool: ServerTool): ServerTool {
    const countedTool = tool.countedFor?.(this.#plan.charge) ?? tool;
    const { mask } = this.#deps;
    const { name } = tool.definition;
    const shownDefinition = mask === undefined ? tool.definition : { ...mask.value(tool.definition), name };
    if (tool.requiresApproval === true) return { ...countedTool, requiresApproval: true, definition: shownDefinition };
    return mask === undefined ? countedTool : { ...countedTool, definition: shownDefinition };
  }
}

/** A standing tool of an agent that this instance cannot run: the model learns so when it calls it. */
function unavailableFunctions(
  { type, description, unavailable, functionNames }: ToolKind,
  { options }: EnabledTool,
): readonly ServerTool[] {
  return functionNames(options).map((name) => ({
    definition: { name, description, parameters: { type: 'object', properties: {} } },
    hint: `Using ${type}`,
    ifLost: 'repeat',
    run() {
      throw new DomainError('TOOL_NOT_AVAILABLE', `${type} cannot be used here: ${unavailable?.reason ?? 'it is switched off'}`);
    },
  }));
}
