import { type FieldNode, type GraphQLNamedType, type GraphQLResolveInfo, getNamedType } from 'graphql';
import { collectFields, type SelectedField } from '../../../../lib/selections.ts';

/** Fields of events, besides the run, that say nothing of a whole text. */
const eventFields: ReadonlySet<string> = new Set(['__typename', 'sequence', 'runId', 'itemId', 'outputIndex', 'delta']);
/** The same of a run. A field that is missing here costs memory only. */
const runFields: ReadonlySet<string> = new Set([
  ...['__typename', 'id', 'status', 'error', 'usage', 'cost', 'incompleteReason', 'isStored', 'agentId', 'modelId'],
  ...['answeredModelId', 'createdAt', 'endedAt', 'durationMs', 'firstTokenMs'],
]);

/**
 * Whether a subscription to the events of a run reads texts by their deltas alone, so that the run need not keep them for its last events.
 *
 * @param info  of the field of the events.
 */
export function readsDeltasAlone(info: GraphQLResolveInfo): boolean {
  const event = getNamedType(info.returnType);
  const fields = fieldsBelow(info, info.fieldNodes, event);
  const runs = fields.filter(({ node }) => node.name.value === 'run').map(({ node }) => node);
  const others = fields.filter(({ node }) => node.name.value !== 'run');
  const run = info.schema.getType('Run');
  // All together, so that a fragment that stands in each of them is walked once.
  const ofRuns = run === undefined ? [] : fieldsBelow(info, runs, run);
  return (
    others.every(({ node }) => eventFields.has(node.name.value)) && ofRuns.every(({ node }) => runFields.has(node.name.value))
  );
}

function fieldsBelow(
  { schema, fragments }: GraphQLResolveInfo,
  nodes: readonly FieldNode[],
  type: GraphQLNamedType,
): readonly SelectedField[] {
  const places = nodes.flatMap(({ selectionSet }) => (selectionSet === undefined ? [] : [{ selectionSet, type }]));
  return collectFields(schema, fragments, places);
}
