export const snippetLanguages = ['javascript', 'python', 'curl'] as const;
export type SnippetLanguage = (typeof snippetLanguages)[number];

interface Call {
  /** Of the service, without a slash at the end. */
  readonly origin: string;
  readonly secret: string;
  /** The id of an agent or a model. */
  readonly model: string;
}

/** A program that asks once, ready to run with the stock client. */
export function buildSnippet(language: SnippetLanguage, { origin, secret, model }: Call): string {
  if (language === 'javascript') {
    return `// npm install openai
import OpenAI from 'openai';

const client = new OpenAI({
  baseURL: '${origin}/v1',
  apiKey: '${secret}',
});
const completion = await client.chat.completions.create({
  model: '${model}',
  messages: [{ role: 'user', content: 'Hello! What can you do?' }],
});
console.log(completion.choices[0].message.content);`;
  }
  if (language === 'python') {
    return `# pip install openai
from openai import OpenAI

client = OpenAI(
    base_url="${origin}/v1",
    api_key="${secret}",
)
completion = client.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": "Hello! What can you do?"}],
)
print(completion.choices[0].message.content)`;
  }
  return `curl ${origin}/v1/chat/completions \\
  -H 'authorization: Bearer ${secret}' \\
  -H 'content-type: application/json' \\
  -d '{"model": "${model}", "messages": [{"role": "user", "content": "Hello! What can you do?"}]}'`;
}
