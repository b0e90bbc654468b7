import { GraphQLBoolean, type GraphQLInputFieldMap, GraphQLInputObjectType } from 'graphql';

const completionOptions = new GraphQLInputObjectType({
  name: 'CompletionStreamOptionsInput',
  description: 'How a stream is sent over REST.',
  fields: {
    includeExtensions: {
      type: GraphQLBoolean,
      description: 'Whether the reply has what the common format does not know, such as citations that only the agent asks for.',
    },
    includeUsage: { type: GraphQLBoolean, description: 'Whether a last chunk reports the tokens used.' },
  },
});
const responseOptions = new GraphQLInputObjectType({
  name: 'ResponseStreamOptions',
  fields: { includeExtensions: { type: GraphQLBoolean }, includeObfuscation: { type: GraphQLBoolean } },
  // Its declaration in wire/ says everything.
  extensions: { asJson: true },
});
const stream = { type: GraphQLBoolean, description: 'REST: whether to answer as an event stream.' };

/**
 * Members of bodies that choose the form of the reply, by the input type of the body. The schema has none of them: over GraphQL the operation
 * decides. They are read and described like all others, and become variables of their own.
 */
const types = [
  new GraphQLInputObjectType({
    name: 'CompletionInput',
    fields: { stream, streamOptions: { type: completionOptions, description: 'REST: how the stream is sent.' } },
  }),
  new GraphQLInputObjectType({
    name: 'ResponseInput',
    fields: {
      stream,
      streamOptions: {
        type: responseOptions,
        description:
          'An object: `include_extensions: false` leaves out what the service adds to the format; `include_obfuscation` is ignored.',
      },
    },
  }),
  new GraphQLInputObjectType({
    name: 'ResumeResponseInput',
    fields: {
      stream: { ...stream, description: 'REST: whether to answer as an event stream, with the new events only.' },
    },
  }),
  new GraphQLInputObjectType({ name: 'SendMessageInput', fields: { stream } }),
  new GraphQLInputObjectType({ name: 'SubmitToolOutputsInput', fields: { stream } }),
  new GraphQLInputObjectType({ name: 'EditMessageInput', fields: { stream } }),
  new GraphQLInputObjectType({ name: 'RegenerateMessageInput', fields: { stream } }),
  completionOptions,
];
const byName: ReadonlyMap<string, GraphQLInputObjectType> = new Map(types.map((type) => [type.name, type]));

export function findReplyMembers(typeName: string): GraphQLInputObjectType | undefined {
  return byName.get(typeName);
}

export function findReplyFields(typeName: string): GraphQLInputFieldMap {
  return byName.get(typeName)?.getFields() ?? {};
}

/** Whether the body asks for a reply without what the service adds to a common format. */
export function refusesExtensions({ streamOptions }: Readonly<Record<string, unknown>>): boolean {
  return (streamOptions as { readonly includeExtensions?: unknown } | null | undefined)?.includeExtensions === false;
}
