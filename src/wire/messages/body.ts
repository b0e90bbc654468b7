import { z } from 'zod';
import { samplingMembers } from '../agents/options.ts';
import { unservedMembers } from '../ground/body.ts';
import {
  choiceByType,
  closedComponent,
  constant,
  described,
  flag,
  integerRange,
  isExtension,
  list,
  oneOfTexts,
  record,
  reference,
  text,
  tokensMax,
} from '../ground/schema.ts';
import { unservedInMessages } from '../ground/unserved-members.ts';
import { secrets } from '../responses/request.ts';
import { assistantBlock, cached, textBlock, userBlock } from './blocks.ts';

/** The Messages format: the body of a request. Its blocks are read one by one, so that an error names the block. */

const messagesMax = 100_000;

const contentRule = 'must be a string or an array of content blocks';
const content = <Block extends z.ZodType>(block: Block) =>
  z.union([z.string(), z.array(block)], contentRule).meta({ description: 'A text, or blocks.' });
const userMessage = closedComponent('MessagesUserMessage', 'What the user says, with the results of calls.', {
  role: constant('user'),
  content: z
    .union([z.string(), z.array(userBlock).min(1, 'must hold at least one block')], contentRule)
    .meta({ description: 'A text, or blocks.' }),
});
const assistantMessage = closedComponent('MessagesAssistantMessage', 'An earlier answer.', {
  role: constant('assistant'),
  content: content(assistantBlock),
});
const systemMessage = closedComponent('MessagesSystemMessage', 'What the model is instructed to do from here on.', {
  role: constant('system'),
  content: content(textBlock),
});
export const message = z.discriminatedUnion('role', [userMessage, assistantMessage, systemMessage]);
export type Message = z.output<typeof message>;

const display = oneOfTexts('Whether a reply shows the text of thoughts; `omitted` leaves it in the signature.', [
  'summarized',
  'omitted',
]).nullish();
const thinking = choiceByType('Whether the model thinks first.', [
  closedComponent('MessagesThinkingEnabled', 'It thinks.', {
    type: constant('enabled'),
    budget_tokens: integerRange(1_024, tokensMax, { description: 'Tokens to think with; they count to `max_tokens`.' }),
    display,
  }),
  closedComponent('MessagesThinkingAdaptive', 'It decides by itself how long it thinks.', {
    type: constant('adaptive'),
    display,
  }),
  closedComponent('MessagesThinkingDisabled', 'It does not think, where the model can be told so.', {
    type: constant('disabled'),
  }),
]);
const parallel = { disable_parallel_tool_use: flag('Whether one turn has at most one call.').nullish() };
const toolChoice = choiceByType('How the model chooses among the tools.', [
  closedComponent('MessagesToolChoiceAuto', 'As it likes.', { type: constant('auto'), ...parallel }),
  closedComponent('MessagesToolChoiceAny', 'It must call one.', { type: constant('any'), ...parallel }),
  closedComponent('MessagesToolChoiceTool', 'It must call this one.', {
    type: constant('tool'),
    name: text('The tool.'),
    ...parallel,
  }),
  closedComponent('MessagesToolChoiceNone', 'It calls none.', { type: constant('none') }),
]);
const outputConfig = closedComponent('MessagesOutputConfig', 'What the answer is.', {
  effort: oneOfTexts('How hard the model works.', ['low', 'medium', 'high', 'xhigh', 'max']).nullish(),
  format: closedComponent('MessagesJsonFormat', 'JSON that follows a schema.', {
    type: constant('json_schema'),
    schema: record('A JSON Schema.'),
  }).nullish(),
});

const prompt = {
  model: text('A model, or an agent that the caller may use.').min(1),
  messages: list('The conversation so far; at least one message.', message)
    .min(1, 'must hold at least one message')
    .max(messagesMax),
  system: z
    .union([z.string(), z.array(textBlock).max(1_000)], contentRule)
    .nullish()
    .meta({ description: 'What the model is instructed to do.' }),
  thinking: thinking.nullish(),
  tool_choice: toolChoice.nullish(),
  // Each is read by the schema of its type.
  tools: list(
    'What the model may call: functions of the caller, and the search of the web of the service.',
    described({ anyOf: [reference('MessagesTool').meta(), reference('MessagesWebSearchTool').meta()] }),
  )
    .max(1_000)
    .nullish(),
  output_config: outputConfig.nullish(),
  secrets: described({ ...secrets, ...isExtension }).nullish(),
  ...cached,
  ...unservedMembers(unservedInMessages),
};
const sampling = {
  temperature: samplingMembers.temperature,
  top_p: samplingMembers.topP,
  top_k: samplingMembers.topK,
};

export const messagesBody = closedComponent('MessagesRequest', 'A request of the Messages format.', {
  ...prompt,
  max_tokens: integerRange(1, tokensMax, { description: 'Most tokens of the answer, thoughts included.' }),
  stop_sequences: z
    .array(z.string())
    .max(16, 'must have at most 16 items')
    .nullish()
    .meta({ description: 'Texts before which the answer ends.' }),
  stream: flag('Whether to answer as an event stream.').nullish(),
  metadata: closedComponent('MessagesMetadata', 'About the request.', {
    user_id: text('The end user, as the caller names them; not a name or an address.').max(512).nullish(),
  }).nullish(),
  service_tier: oneOfTexts('The class of service.', ['auto', 'standard_only']).nullish(),
  ...sampling,
});
/** The members of most requests. A schema of all members asks for each absent one too, which costs several times as much. */
export const usualBody = messagesBody.pick({
  ...{ model: true, messages: true, system: true, max_tokens: true, stream: true, temperature: true, metadata: true },
  ...{ tools: true, tool_choice: true },
});
export const countBody = closedComponent('MessagesCountRequest', 'A request whose input tokens are counted.', prompt);
export type MessagesBody = z.output<typeof messagesBody>;
