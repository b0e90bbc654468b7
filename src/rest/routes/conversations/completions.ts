import { completionEncoder } from '../../../wire/completions/chunks.ts';
import { completionReply } from '../../../wire/completions/reply.ts';
import { toModelInfo, toModelPage } from '../../../wire/messages/models.ts';
import { modelListReply, modelReply } from '../../../wire/models.ts';
import type { DeclaredRoute } from '../../route.ts';
import { messagesClient } from './messages.ts';

const path = '/api/v1/chat/completions';

const completion: Omit<DeclaredRoute, 'operationId' | 'path' | 'summary' | 'spec'> = {
  method: 'post',
  tag: 'Completions',
  description:
    'Stateless: the request carries the whole conversation, and nothing of it is kept. Follows the common chat completions format, also as a stream of chunks.',
  document: 'subscription ($input: CompletionInput!) { completionEvents(input: $input) { sequence } }',
  body: 'input',
  bodyCase: 'snake',
  camelMembers: ['generateCitations', 'includeXSearch'],
  reply: completionReply,
  stream: {
    when: 'stream',
    document: 'subscription ($input: CompletionInput!) { completionEvents(input: $input) { sequence } }',
    encoder: completionEncoder,
    event: 'CompletionFrame',
  },
  example: {
    model: 'parley/offline',
    messages: [
      { role: 'system', content: 'You are helpful.' },
      { role: 'user', content: [{ type: 'text', text: 'What is the weather in Paris?' }] },
    ],
    tools: [
      {
        type: 'function',
        function: {
          name: 'get_weather',
          description: 'Tells the weather of a city',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
      },
    ],
    tool_choice: 'auto',
    parallel_tool_calls: true,
    generateCitations: false,
    max_tokens: 200,
    temperature: 0.5,
    stream: false,
  },
};

export const completionRoutes: readonly DeclaredRoute[] = [
  {
    ...completion,
    operationId: 'createChatCompletion',
    path,
    forClients: true,
    summary: 'Chat completions',
    spec: 'Chat completions (threadless)',
  },
  {
    ...completion,
    operationId: 'createThreadlessCompletion',
    path: '/api/v1/completions/threadless',
    spec: 'Chat completions (threadless), deprecated twin',
    summary: 'Chat completions, by their former path',
    isDeprecated: true,
    headers: { deprecation: '@1795219200', link: `<${path}>; rel="successor-version"` },
  },
  {
    operationId: 'listModels',
    method: 'get',
    path: '/api/v1/models',
    forClients: true,
    summary: 'Models and agents',
    description: 'What `model` may name: the models of this installation, and the agents that the caller may use.',
    tag: 'Completions',
    document: '{ modelCatalog { id } }',
    client: { ...messagesClient, isOptional: true, encode: toModelPage },
    reply: modelListReply,
  },
  {
    operationId: 'getModel',
    method: 'get',
    path: '/api/v1/models/{modelId}',
    forClients: true,
    slashesIn: 'modelId',
    summary: 'Retrieve a model or agent',
    description: 'By its id or the bare name of a model. The slash of `provider/name` may be escaped or not.',
    tag: 'Completions',
    document: 'query ($modelId: String!) { modelCatalogEntry(id: $modelId) { id } }',
    client: { ...messagesClient, isOptional: true, encode: toModelInfo },
    reply: modelReply,
  },
  {
    operationId: 'listTools',
    method: 'get',
    path: '/api/v1/tools',
    summary: 'Tools of the service',
    description: 'What this instance can run, and which setting would switch on the rest.',
    tag: 'Completions',
    document: '{ tools { type description isAvailable setting reason isReadOnly functions } }',
    wrap: 'data',
  },
];
