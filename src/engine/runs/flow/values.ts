import type { FlowPlan, FlowStepResult } from '../../../entities/agents/flow.ts';
import type { JsonObject } from '../../../entities/agents/part.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { fill, fillValue, type TemplateName } from './template.ts';

/** Most characters of a text after its names were filled in. */
const filledCharsMax = 1_000_000;

/** For people and tools, outputs are plain; in texts for models, foreign text stands in marks. */
type Audience = 'people' | 'models';

/** What the texts of a flow may name, with its values so far. */
export class FlowValues {
  readonly #flow: FlowPlan;
  readonly #charsMax: number;
  readonly #results = new Map<string, FlowStepResult>();
  #chars = 0;

  /** @param charsMax  most characters that the outputs of all steps have together. */
  constructor(flow: FlowPlan, charsMax: number) {
    this.#flow = flow;
    this.#charsMax = charsMax;
  }

  /** @throws DomainError FLOW_FAILED when the outputs are longer than a run may keep. */
  add(result: FlowStepResult): void {
    this.#chars += result.text.length + (result.marked?.length ?? 0);
    if (this.#chars > this.#charsMax) throw tooLong(`The outputs of the flow have more than ${this.#charsMax} characters`);
    const id = this.#flow.steps[result.place]?.id ?? '';
    if (id !== '') this.#results.set(id, result);
  }

  /** @throws DomainError FLOW_FAILED for a text of more than a million characters. */
  fill(template: string, audience: Audience): string {
    return fill(template, this.#valueOf(audience, template.length));
  }

  fillArguments(argumentTemplates: JsonObject): JsonObject {
    return fillValue(argumentTemplates, this.#valueOf('people', 0)) as JsonObject;
  }

  #valueOf(audience: Audience, length: number): (name: TemplateName) => string | undefined {
    let chars = length;
    return (name) => {
      const value = this.#value(name, audience);
      chars += value?.length ?? 0;
      if (chars > filledCharsMax) throw tooLong(`A text of the flow has more than ${filledCharsMax} characters`);
      return value;
    };
  }

  #value(name: TemplateName, audience: Audience): string | undefined {
    switch (name.kind) {
      case 'input':
        return this.#flow.input;
      case 'date':
        return this.#flow.date;
      case 'userInput':
        return Object.hasOwn(this.#flow.userInputs, name.name) ? this.#flow.userInputs[name.name] : '';
      case 'step': {
        const result = this.#results.get(name.name);
        if (result === undefined) return '';
        return audience === 'models' ? (result.marked ?? result.text) : result.text;
      }
      case 'unknown':
        return undefined;
    }
  }
}

function tooLong(message: string): DomainError {
  return new DomainError('FLOW_FAILED', message);
}
