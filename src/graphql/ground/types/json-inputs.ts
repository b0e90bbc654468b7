import { chatOptions } from '../../../wire/responses/request.ts';
import { builder } from '../builder/builder.ts';
import { flatInput } from '../builder/flat-inputs.ts';

/**
 * Inputs of which REST refuses members that they do not have, with all inputs inside them. Other inputs ignore such members, as the contract says.
 *
 * @param taken  members of the reply, which clients send back with what they changed; not used.
 */
export function strictInput(...takenNames: readonly string[]) {
  return { takenMembers: takenNames } as const;
}

const FlowChoiceInput = flatInput<object>(
  builder.inputType('FlowChoiceInput', {
    description: "Another flow than the agent's own, or another version of it.",
    fields: (t) => ({
      id: t.id({ required: false, description: 'The flow.' }),
      version: t.int({ required: false, description: 'Its version, from 1.' }),
      isForced: t.boolean({
        required: false,
        description: 'Whether it is taken even where the agent says otherwise. Default false.',
      }),
    }),
  }),
  { members: { isForced: 'force' } },
);

const ProviderChoiceInput = flatInput<object>(
  builder.inputType('ProviderChoiceInput', {
    description: 'Which providers may answer.',
    fields: (t) => ({
      order: t.stringList({ required: false, description: 'Their ids, the first one first.' }),
      allowFallbacks: t.boolean({
        required: false,
        description: 'Whether others may answer when these do not. Default true.',
      }),
    }),
  }),
  { members: { allowFallbacks: 'allow_fallbacks' } },
);

/** Of a message of a chat, a completion or a response. */
export const ChatOptionsInput = flatInput(
  builder.inputType('RunOptionsInput', {
    description: 'How a run is made.',
    fields: (t) => ({
      flow: t.field({ type: FlowChoiceInput, required: false, description: "The flow; default: the agent's own." }),
      isTraced: t.boolean({
        required: false,
        description: 'Whether its steps are shown to callers who may edit the agent. Default: as the agent is set up.',
      }),
      providers: t.field({ type: ProviderChoiceInput, required: false, description: 'Which providers may answer.' }),
    }),
  }),
  { body: chatOptions, members: { flow: 'flow.override', isTraced: 'tracing.enabled', providers: 'provider' } },
);
