import type { ListedTool } from '../../../entities/conversations/runs/tool.ts';
import { readString } from '../../../lib/json/json.ts';
import { type BuilderTypes, builder } from '../../ground/builder/builder.ts';

export const McpListedToolType = builder.objectRef<ListedTool>('McpListedTool').implement({
  // Whoever may see the list may see what is in it.
  access: { scope: null },
  description: 'A tool that an MCP server offers.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name at the server.' }),
    description: t.exposeString('description', { nullable: true, description: 'What it does, as the server says.' }),
    inputSchema: t.field({
      type: 'JsonSchema',
      description: 'JSON Schema of its arguments.',
      resolve: ({ inputSchema }) => inputSchema,
    }),
    title: t.string({
      nullable: true,
      description: 'Its name for people, as the server says.',
      resolve: ({ annotations }) => readString(annotations?.title) ?? null,
    }),
    isReadOnly: hint(t, 'readOnlyHint', 'Whether it changes nothing, as the server says; null where it says nothing.'),
    isDestructive: hint(t, 'destructiveHint', 'Whether it may delete or overwrite; null where the server says nothing.'),
    isIdempotent: hint(t, 'idempotentHint', 'Whether a repeated call has no further effect; null where the server says nothing.'),
    isOpenWorld: hint(t, 'openWorldHint', 'Whether it reaches beyond the server; null where the server says nothing.'),
  }),
});

/** A hint of the Model Context Protocol. */
function hint(t: PothosSchemaTypes.ObjectFieldBuilder<BuilderTypes, ListedTool>, name: string, description: string) {
  return t.boolean({
    nullable: true,
    description,
    resolve: ({ annotations }) => {
      const value = annotations?.[name];
      return typeof value === 'boolean' ? value : null;
    },
  });
}
