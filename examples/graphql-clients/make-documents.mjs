// Relay and gql.tada read documents in sources, not in files of their own: this writes a module for each page query of @parley/client.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';

const pages = new URL('../../clients/typescript/documents/pages/', import.meta.url);
const made = new URL('src/__generated__/', import.meta.url);
// relay-compiler passes over folders with the name __generated__, so its modules stand beside.
const relayPages = new URL('src/relay-pages/', import.meta.url);
for (const folder of [new URL('relay/', made), new URL('tada/', made), relayPages]) mkdirSync(folder, { recursive: true });

for (const file of readdirSync(pages)) {
  const text = readFileSync(new URL(file, pages), 'utf8');
  // Relay names a module after its operations: SidebarQuery and SidebarSubscription stand in Sidebar.ts.
  const name = /^query (\w+)Query|^subscription (\w+)Subscription/m.exec(text)?.slice(1).find(Boolean);
  const parts = text.split(/^(?=query |subscription |fragment )/m).slice(1);
  const fragments = parts.filter((part) => part.startsWith('fragment '));
  const operations = parts.filter((part) => !part.startsWith('fragment '));
  const relay = parts.map((part) => `graphql\`\n${part.replace(/^#.*$/gm, '')}\`;\n`).join('\n');
  writeFileSync(new URL(`${name}.ts`, relayPages), `import { graphql } from 'relay-runtime';\n\n${relay}`);
  const tada = operations.map((part) => {
    const used = fragments.filter((fragment) => part.includes(`...${/^fragment (\w+)/.exec(fragment)[1]}`));
    const [, kind, operation] = /^(query|subscription) (\w+)/.exec(part);
    const constant = operation[0].toLowerCase() + operation.slice(1);
    return `/** The ${kind} ${operation}. */\nexport const ${constant} = graphql(\`\n${[part, ...used].join('\n').replace(/^#.*$/gm, '')}\`);\n`;
  });
  writeFileSync(new URL(`tada/${name}.ts`, made), `import { graphql } from '../../graphql.ts';\n\n${tada.join('\n')}`);
}
