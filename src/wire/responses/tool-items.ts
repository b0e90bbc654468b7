import { z } from 'zod';
import { constant, list, object, oneOfTexts, openComponent, record, text } from '../ground/schema.ts';

/**
 * Items of hosted tools that a request may hold: calls with what they gave, as an earlier response showed them. They are kept and listed whole;
 * the model is told of the call and its output.
 */

const id = text('The id it had before; one is given when there is none.', 'must be a string of 1 to 200 characters')
  .min(1)
  .max(200)
  .nullish();
const status = text('How the call went, as it was received.').nullish();
const callsMax = 1_000;
const toolsMax = 128;

export const webSearchCallParam = openComponent('WebSearchCallParam', 'A search of the web, or a page that was read.', {
  type: constant('web_search_call'),
  id,
  status,
  action: record('What was done: `type`, and `query`, `url`, `sources`. Without it the model is not told of the call.').nullish(),
});
export const fileSearchCallParam = openComponent('FileSearchCallParam', 'A search of documents.', {
  type: constant('file_search_call'),
  id,
  status,
  queries: list('What was searched for.', z.string()).max(callsMax).nullish(),
  results: list('What was found; the model reads it. Null where it was not included.', record('`filename`, `score`, `text`.'))
    .max(callsMax)
    .nullish(),
});
export const codeInterpreterCallParam = openComponent('CodeInterpreterCallParam', 'A program that was run.', {
  type: constant('code_interpreter_call'),
  id,
  status,
  code: text('The program.').nullish(),
  outputs: list('What it printed: parts with `logs`; images are named only.', record('`type`, and `logs` or `url`.'))
    .max(callsMax)
    .nullish(),
});
export const imageGenerationCallParam = openComponent('ImageGenerationCallParam', 'An image that was made.', {
  type: constant('image_generation_call'),
  id,
  status,
  result: text('The image in base64. A model that sees images gets it.').nullish(),
  revised_prompt: text('What it was made from.').nullish(),
  output_format: oneOfTexts('The format of the image; `png` when there is none.', ['png', 'jpeg', 'webp']).nullish(),
});
export const mcpCallParam = openComponent('McpCallParam', 'A call of a tool of an MCP server.', {
  type: constant('mcp_call'),
  id,
  status,
  server_label: text('The name of the server in the request.'),
  name: text('The name of the tool.'),
  arguments: text('The arguments as JSON text.'),
  approval_request_id: text('The request that approved it: that call is not made again.').nullish(),
  output: text('What the tool gave.').nullish(),
  error: z
    .union([z.string(), record('As the server told it.')])
    .nullish()
    .meta({ description: 'Why the call failed.' }),
});
export const mcpListToolsParam = openComponent(
  'McpListToolsParam',
  'The tools of an MCP server. A tool `mcp` of the request with the same label uses them, and the server is not asked for its tools again. No model is told of the item itself: it gets the tools as functions.',
  {
    type: constant('mcp_list_tools'),
    id,
    server_label: text('The name of the server in the request.'),
    tools: list(
      'The tools.',
      object('A tool.', {
        name: text('Its name at the server.').min(1).max(200),
        description: text('What it does.').nullish(),
        input_schema: record('JSON Schema of its arguments.').nullish(),
        annotations: record('What the server says of it.').nullish(),
      }),
    ).max(toolsMax),
    error: text('Why there are none.').nullish(),
  },
);

/** By type. */
export const toolItemParams = {
  web_search_call: webSearchCallParam,
  file_search_call: fileSearchCallParam,
  code_interpreter_call: codeInterpreterCallParam,
  image_generation_call: imageGenerationCallParam,
  mcp_call: mcpCallParam,
  mcp_list_tools: mcpListToolsParam,
} as const satisfies Readonly<Record<string, z.ZodType>>;
