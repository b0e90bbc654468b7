import { type FragmentDefinitionNode, type GraphQLResolveInfo, type GraphQLSchema, getArgumentValues, Kind } from 'graphql';
import type { RunEvent, RunEventStream } from '../../entities/conversations/runs/event.ts';
import type { SourceContext } from '../../http/context.ts';
import type { Variables } from '../../wire/ground/encoder.ts';
import type { RowDocument } from './document.ts';

/** Opens the source stream of a subscription for one request. @throws whatever its resolver throws. */
export type OpenSource = (variables: Variables, context: SourceContext) => Promise<AsyncIterable<readonly RunEvent[]>>;

/**
 * Compiles a route's subscription, whose events are read directly and never executed. So its resolver is called directly too: of what graphql-js does
 * before it, only the arguments change between calls.
 */
export function compileSource(schema: GraphQLSchema, row: RowDocument): OpenSource {
  const { rootField, rootNode, rootType, operation } = row;
  const { subscribe } = rootField;
  if (operation.operation !== 'subscription' || subscribe === undefined)
    throw new Error(`${rootField.name} is not a subscription`);
  const fixed: Omit<GraphQLResolveInfo, 'variableValues'> = {
    fieldName: rootField.name,
    fieldNodes: [rootNode],
    returnType: rootField.type,
    parentType: rootType,
    path: { prev: undefined, key: row.responseKey, typename: rootType.name },
    schema,
    fragments: fragmentsOf(row),
    rootValue: undefined,
    operation,
  };
  return async (variables, context) => {
    const info = { ...fixed, variableValues: variables };
    const source: unknown = await subscribe(undefined, getArgumentValues(rootField, rootNode, variables), context, info);
    if (isEvents(source)) return toBatches(source);
    throw new Error(`${rootField.name} gives no events`);
  };
}

function fragmentsOf({ document }: RowDocument): Record<string, FragmentDefinitionNode> {
  const fragments = document.definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION);
  return Object.fromEntries(fragments.map((node) => [node.name.value, node]));
}

function isEvents(source: unknown): source is AsyncIterable<RunEvent> {
  return typeof source === 'object' && source !== null && Symbol.asyncIterator in source;
}

/** Events that arrived together stay together. A source without batches gives each event alone. */
function toBatches(source: AsyncIterable<RunEvent>): AsyncIterable<readonly RunEvent[]> {
  return 'batches' in source && typeof source.batches === 'function' ? (source as RunEventStream).batches() : oneByOne(source);
}

async function* oneByOne(source: AsyncIterable<RunEvent>): AsyncIterable<readonly RunEvent[]> {
  for await (const event of source) yield [event];
}
