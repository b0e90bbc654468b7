import { z } from 'zod';
import { incompleteReasons } from '../../entities/runs/event.ts';
import {
  behaves,
  component,
  described,
  describeMembers,
  integer,
  isExtension,
  list,
  number,
  object,
  reference,
  text,
} from '../schema.ts';
import { compactionItem, inputItem, inputMessage, outputItem } from './items.ts';
import { responseReasoning, responseText } from './request.ts';
import { responseTool, responseToolChoice } from './tools.ts';

/** What a response says beyond what the GraphQL schema tells of it. */

const duration = (description: string) => number(description).min(0);
component(
  'ResponseSelection',
  'Which model answered and how it was chosen.',
  {
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
      queue_ms: duration('Until the model was asked.'),
      first_token_ms: duration('Until its first token; null when there was none.').nullable(),
    }),
  },
  isExtension,
);

describeMembers('Response', {
  status: described({ 'x-parley-extension-values': ['cancelled'], ...behaves('status-cancelled') }),
  output: z.array(outputItem),
  reasoning: responseReasoning,
  text: responseText,
  toolChoice: responseToolChoice,
  tools: z.array(responseTool),
  metadata: z.record(z.string(), z.string()).meta({ description: 'Texts by name, as the request gave them.' }),
  flowSteps: described({ ...isExtension, ...behaves('flow-steps') }),
  warnings: described({ ...isExtension, ...behaves('warnings') }),
  selectionMetadata: reference('ResponseSelection').meta({ ...isExtension, ...behaves('selection-metadata') }),
});
describeMembers('ResponseIncompleteDetails', {
  reason: z.enum(incompleteReasons).meta({
    'x-parley-extension-values': ['paused', 'max_tool_calls', 'timeout'],
    ...behaves('incomplete-reasons'),
  }),
});
describeMembers('ResponseUsage', {
  inputTokensDetails: component('InputTokensDetails', 'Of the tokens read.', {
    cached_tokens: integer('Tokens that the provider read from its cache.'),
  }),
  outputTokensDetails: component('OutputTokensDetails', 'Of the tokens written.', {
    reasoning_tokens: integer('Tokens spent on thinking.'),
  }),
  isEstimated: described({ ...isExtension, ...behaves('estimated-usage') }),
});
describeMembers('ResponseItemList', { data: z.array(inputItem) });
describeMembers('Compaction', { output: z.array(z.xor([inputMessage, compactionItem])) });
