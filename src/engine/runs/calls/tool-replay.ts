import { skillFunction } from '../../../entities/agents/skill-offer.ts';
import type { RecordedCall } from '../../../entities/conversations/evaluation/dataset.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { parseJson } from '../../../lib/json/json.ts';
import type { ReplayPlan } from '../../plan/plan.ts';
import type { ServerTool } from '../../tools/server-tool.ts';

/**
 * What the tools of a run give that must not change anything: tools that only read are called, the others give what a run before recorded. Made for each
 * run: every recorded call is given once, while others of the tool are left.
 */
export class ToolReplay {
  readonly #calls: readonly RecordedCall[];
  readonly #callsEffects: boolean;
  readonly #given = new Set<RecordedCall>();

  constructor({ calls, callsEffects }: ReplayPlan) {
    this.#calls = calls;
    this.#callsEffects = callsEffects;
  }

  /** @param isReader  all functions of the tool only read. */
  toReplayed(tool: ServerTool, isReader: boolean): ServerTool {
    const { name } = tool.definition;
    const mayCall = isReader || tool.isReadOnly === true || name === skillFunction || this.#callsEffects;
    if (mayCall && tool.requiresApproval !== true) return tool;
    const { requiresApproval: _approval, countedFor: _counted, ...rest } = tool;
    return { ...rest, ifLost: 'repeat', run: async (args) => this.#outputFor(name, args) };
  }

  /** What the same call gave; else another call of the tool. @throws DomainError when it gave an error, and when none is recorded. */
  #outputFor(name: string, args: string): string {
    const ofTool = this.#calls.filter((call) => call.name === name);
    const same = ofTool.filter((call) => isSameText(call.arguments, args));
    const fresh = (calls: readonly RecordedCall[]) => calls.find((call) => !this.#given.has(call));
    const call = fresh(same) ?? same.at(-1) ?? fresh(ofTool) ?? ofTool.at(-1);
    if (call === undefined) {
      const message = `No output of ${name} is recorded for this case, and an experiment does not call what changes something`;
      throw new DomainError('TOOL_NOT_AVAILABLE', message);
    }
    this.#given.add(call);
    if (call.error !== null) throw new DomainError('UPSTREAM_ERROR', call.error);
    return call.output;
  }
}

function isSameText(left: string, right: string): boolean {
  return left === right || JSON.stringify(parseJson(left)) === JSON.stringify(parseJson(right));
}
