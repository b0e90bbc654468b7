import { ChatOpenAI } from '@langchain/openai';
import { AIMessage, createAgent } from 'langchain';
import { getStock } from './tools.ts';

const { PARLEY_URL = 'http://127.0.0.1:4000', PARLEY_KEY, PARLEY_MODEL = 'parley/offline' } = process.env;
if (PARLEY_KEY === undefined) throw new Error('PARLEY_KEY is missing: set it to a key of your Parley');
const question = process.argv[2] ?? 'How many are in stock of the part "brake pads"?';

// `model` is a model or an agent of Parley (`ai_…`): an agent adds its instructions and its knowledge.
const model = new ChatOpenAI({ model: PARLEY_MODEL, apiKey: PARLEY_KEY, configuration: { baseURL: `${PARLEY_URL}/v1` } });
const agent = createAgent({ model, tools: [getStock] });

// The steps of the agent as they are done: the model asks for a tool, the tool answers, the model speaks.
for await (const step of await agent.stream({ messages: [{ role: 'user', content: question }] }, { streamMode: 'updates' })) {
  for (const message of Object.values(step).flatMap(({ messages }) => messages ?? [])) {
    if (AIMessage.isInstance(message))
      for (const { name, args } of message.tool_calls ?? []) console.log(`→ ${name} ${JSON.stringify(args)}`);
    if (message.text !== '') console.log(message.text);
  }
}
