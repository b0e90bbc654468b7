import type { OwnTool } from '../../engine/plan/plan.ts';
import { readArguments, wrongArguments } from '../../engine/tools/arguments.ts';
import { isObject } from '../../lib/json/json.ts';

/** The function by which the model changes the state of an application that asks. */
export const stateFunction = 'update_state';

/** An operation of JSON Patch (RFC 6902). */
export type StateChange =
  | { readonly op: 'add'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

type State = Readonly<Record<string, unknown>>;

/** Deeper members are replaced as a whole. */
const depthMax = 32;
/** Of the state as JSON. */
const charsMax = 200_000;

/** A tool of one run. It changes a copy of the state: what the application is told is read from the calls. */
export function createStateTool(state: State): OwnTool {
  let current = state;
  return {
    definition: {
      name: stateFunction,
      description:
        'Changes the state of the application, which the user sees. Members of `changes` are merged into the state: objects member by member, anything else replaces what was there, and null removes a member. Members that are not named stay.',
      parameters: {
        type: 'object',
        properties: { changes: { type: 'object', description: 'What becomes different.' } },
        required: ['changes'],
        additionalProperties: false,
      },
    },
    hint: 'Changing the state',
    run: (args) => {
      const { state: changed } = changeState(current, args);
      if (JSON.stringify(changed).length > charsMax)
        throw wrongArguments(`The state would have more than ${charsMax} characters`);
      current = changed;
      return 'The state is changed.';
    },
  };
}

/**
 * A state after a call, and the operations that make it of the one before.
 *
 * @param args  of the call, as the model wrote them.
 * @throws DomainError for arguments that are wrong.
 */
export function changeState(state: State, args: string): { readonly state: State; readonly operations: readonly StateChange[] } {
  const { changes } = readArguments(args);
  if (!isObject(changes)) throw wrongArguments('changes must be an object');
  const operations: StateChange[] = [];
  return { state: merge(state, changes, '', 0, operations), operations };
}

/** JSON Merge Patch (RFC 7396). */
function merge(before: State, changes: State, path: string, depth: number, operations: StateChange[]): State {
  const merged = new Map(Object.entries(before));
  for (const [name, value] of Object.entries(changes)) {
    if (name === '__proto__') throw wrongArguments('No member can be called __proto__');
    const at = `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const old = merged.get(name);
    if (value === null) {
      if (merged.delete(name)) operations.push({ op: 'remove', path: at });
    } else if (isObject(value) && isObject(old) && depth < depthMax) {
      merged.set(name, merge(old, value, at, depth + 1, operations));
    } else {
      const whole = isObject(value) && depth < depthMax ? merge({}, value, at, depth + 1, []) : value;
      merged.set(name, whole);
      operations.push({ op: 'add', path: at, value: whole });
    }
  }
  return Object.fromEntries(merged);
}
