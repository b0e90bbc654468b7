import { incompleteReasons } from '../../../entities/runs/event.ts';
import type { JsonSchema } from '../declarations.ts';
import { added, addedValues, integer, list, number, object, orNull, record, ref, text } from './schema.ts';

/** What a response says beyond what the GraphQL schema tells of it. */

export const replySchemas: Readonly<Record<string, JsonSchema>> = {
  InputTokensDetails: object('Of the tokens read.', { cached_tokens: integer('Those the model had read before.') }),
  OutputTokensDetails: object('Of the tokens written.', { reasoning_tokens: integer('Those spent on thinking.') }),
  ResponseSelection: added(
    object('Which model answered and how it was chosen.', {
      provider: text('The provider that answered.'),
      model: text('Its model.'),
      fallback_chain: list(
        'Models that were asked before it and failed, in order.',
        object('A model that failed.', {
          provider: text('Its provider.'),
          model: text('The model.'),
          reason: text('Why it failed.'),
        }),
      ),
      latency_hints: object('How long it took, in milliseconds.', {
        queue_ms: number('Until the model was asked.', { minimum: 0 }),
        first_token_ms: orNull(number('Until its first token; null when there was none.', { minimum: 0 })),
      }),
    }),
  ),
};

const outputItems = { type: 'array', items: ref('OutputItem') };

/** By schema coordinate. */
export const replyMembers: Readonly<Record<string, JsonSchema>> = {
  'Response.status': addedValues({}, ['cancelled'], 'status-cancelled'),
  'Response.output': outputItems,
  'Response.reasoning': ref('ResponseReasoning'),
  'Response.text': ref('ResponseText'),
  'Response.toolChoice': ref('ResponseToolChoice'),
  'Response.tools': { type: 'array', items: ref('ResponseTool') },
  'Response.metadata': record('Texts by name, as the request gave them.', { type: 'string' }),
  'Response.selectionMetadata': added(ref('ResponseSelection'), 'selection-metadata'),
  'ResponseIncompleteDetails.reason': addedValues(
    { enum: [...incompleteReasons] },
    ['paused', 'max_tool_calls', 'timeout'],
    'incomplete-reasons',
  ),
  'ResponseUsage.inputTokensDetails': ref('InputTokensDetails'),
  'ResponseUsage.outputTokensDetails': ref('OutputTokensDetails'),
  'ResponseItemList.data': { type: 'array', items: ref('InputItem') },
  'Compaction.output': {
    type: 'array',
    items: { oneOf: [ref('InputMessage'), ref('CompactionItem')] },
  },
};
