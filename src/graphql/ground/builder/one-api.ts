import { MapperKind, mapSchema } from '@graphql-tools/utils';
import { GraphQLSchema, isObjectType } from 'graphql';

/**
 * For `extensions` of a field, an argument or a member of an input that only REST has, where its contract shows something in another form than
 * GraphQL: a number as text, a missing text as an empty one. Documents of routes select it, with the same rules of access as any other field;
 * `/graphql` does not know it.
 */
export const restOnly = { api: 'rest' } as const;

/** The same for members of inputs that only GraphQL has: REST neither reads nor describes them. */
export const graphqlOnly = { api: 'graphql' } as const;

/** What OpenAPI says of a type or a field, in place of a description that only readers of GraphQL need. */
export function describedOnRest(restDescription: string) {
  return { restDescription };
}

/** For `extensions` of a type or an enum: the name that OpenAPI goes on having for it. */
export function restNamed(restName: string) {
  return { restName };
}

interface Extended {
  readonly extensions?: Readonly<Record<string, unknown>> | null | undefined;
}

export function isRestOnly({ extensions }: Extended): boolean {
  return extensions?.api === restOnly.api;
}

/** The schema that `/graphql` serves: without what only REST has, and without types that nothing leads to then. */
export function servedSchema(schema: GraphQLSchema): GraphQLSchema {
  const servedApi = mapSchema(schema, {
    [MapperKind.COMPOSITE_FIELD]: (field) => {
      if (isRestOnly(field)) return null;
      const all = Object.entries(field.args ?? {});
      const args = all.filter(([, argument]) => !isRestOnly(argument));
      return args.length === all.length ? undefined : { ...field, args: Object.fromEntries(args) };
    },
    [MapperKind.INPUT_OBJECT_FIELD]: (member) => (isRestOnly(member) ? null : undefined),
  });
  return reachable(servedApi);
}

/** Types that the root types lead to, and the objects that implement an interface. `pruneSchema` finds the same ones with seven times the work. */
function reachable(schema: GraphQLSchema): GraphQLSchema {
  const { types, ...config } = schema.toConfig();
  const implementers = types.filter((type) => isObjectType(type) && type.getInterfaces().length > 0);
  return new GraphQLSchema({ ...config, types: implementers });
}
