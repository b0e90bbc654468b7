/** The first request to an instance, by three clients. `address`: of the instance, without a slash at the end. */
export function curlExample(address: string): string {
  return `export PARLEY_KEY='<your key>'
curl ${address}/api/v1/chat/completions \\
  -H "Authorization: Bearer $PARLEY_KEY" -H 'Content-Type: application/json' \\
  -d '{"model": "parley/offline", "messages": [{"role": "user", "content": "What can you do?"}]}'`;
}

export function pythonExample(address: string): string {
  return `import os
from openai import OpenAI

client = OpenAI(base_url="${address}/api/v1", api_key=os.environ["PARLEY_KEY"])
completion = client.chat.completions.create(
    model="parley/offline",
    messages=[{"role": "user", "content": "What can you do?"}],
)
print(completion.choices[0].message.content)`;
}

export function javascriptExample(address: string): string {
  return `import OpenAI from "openai";

const client = new OpenAI({ baseURL: "${address}/api/v1", apiKey: process.env.PARLEY_KEY });
const completion = await client.chat.completions.create({
  model: "parley/offline",
  messages: [{ role: "user", content: "What can you do?" }],
});
console.log(completion.choices[0].message.content);`;
}
