import { namesIn, templateForms } from '../../../engine/runs/flow/template.ts';
import type { JsonObject } from '../../../entities/agents/part.ts';
import { isObject } from '../../../lib/json/json.ts';
import type { Faults } from '../../ground/faults.ts';

/** What the texts of a step may name. */
export interface FlowNames {
  readonly userInputs: ReadonlySet<string>;
  /** The place of each step that has an id. */
  readonly places: ReadonlyMap<string, number>;
  /** The place of the step itself: only earlier steps have an output. */
  readonly index: number;
}

/** Refuses names that the texts of a step cannot have, each with its member. */
export function checkTemplates(at: string, step: JsonObject, flowNames: FlowNames, faults: Faults): void {
  for (const [member, value] of Object.entries(step)) {
    if (['query', 'text', 'prompt', 'arguments', 'condition'].includes(member))
      check(`${at}.${member}`, value, flowNames, faults);
  }
}

function check(at: string, value: unknown, flowNames: FlowNames, faults: Faults): void {
  if (Array.isArray(value)) for (const [index, one] of value.entries()) check(`${at}[${index}]`, one, flowNames, faults);
  else if (isObject(value)) for (const [name, one] of Object.entries(value)) check(`${at}.${name}`, one, flowNames, faults);
  else if (typeof value === 'string') {
    const fault = findFault(value, flowNames);
    if (fault !== undefined) faults.add(at, `${at} ${fault}`);
  }
}

function findFault(text: string, { userInputs, places, index }: FlowNames): string | undefined {
  for (const name of namesIn(text)) {
    if (name.kind === 'unknown') return `names {{${name.name.slice(0, 80)}}}, which is unknown; known are ${templateForms}`;
    if (name.kind === 'userInput' && !userInputs.has(name.name)) {
      return `names {{userInputs.${name.name.slice(0, 80)}}}: the AI asks for no user input of this name`;
    }
    if (name.kind === 'step' && (places.get(name.name) ?? index) >= index) {
      return `names {{steps.${name.name}.output}}: there is no earlier step with this id`;
    }
  }
  return undefined;
}
