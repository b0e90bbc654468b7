import type { GraphQLSchema } from 'graphql';
import type { Deps } from '../../domain/deps.ts';
import {
  deleteSavedDocument,
  getSavedDocument,
  getSavedDocuments,
  listSavedDocuments,
  saveDocument,
} from '../../domain/operations/saved-documents.ts';
import type { SavedDocument } from '../../entities/operations/saved-document.ts';
import { builder } from '../ground/builder/builder.ts';
import { registerNode } from '../ground/builder/nodes.ts';
import { makeConnection, pageArgs, pageRequest } from '../ground/pagination.ts';
import { SavedDocumentRef } from '../ground/refs.ts';
import { NodeType } from '../ground/types/node.ts';
import { type CheckedDocument, checkDocument } from '../server/documents/check.ts';
import { inputSchema, outputSchema } from '../server/documents/json-schemas.ts';

/** A document that is shown is validated once. */
const checks = new WeakMap<SavedDocument, CheckedDocument | string>();
/** As much as a statement takes. */
const checkCost = 20;

function check(saved: SavedDocument, schema: GraphQLSchema, { settings }: Deps): CheckedDocument | string {
  const known = checks.get(saved);
  if (known !== undefined) return known;
  const checked = checkDocument(schema, settings, saved.document);
  checks.set(saved, checked);
  return checked;
}

const SavedDocumentType = SavedDocumentRef.implement({
  access: { scope: null },
  description:
    'A query or a mutation that the organization has saved. It is a tool of MCP clients and a route of REST, and runs with the key and the rights of whoever calls it.',
  interfaces: [NodeType],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the document.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was first saved.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last saved.' }),
    name: t.exposeString('name', { description: 'Its name in the organization, of its tool and of its route.' }),
    description: t.exposeString('description', { description: 'What it is for, in words for people and for models.' }),
    document: t.exposeString('document', { description: 'One query or mutation, with its fragments.' }),
    sha256: t.string({
      description: 'The SHA-256 of the text, in hexadecimal: requests may name it in place of the text.',
      resolve: ({ hash }) => hash,
    }),
    fault: t.string({
      nullable: true,
      description: 'Why it cannot be run any more, where the schema has changed since it was saved; null: it can.',
      complexity: checkCost,
      resolve: (saved, _args, { deps }, { schema }) => {
        const checked = check(saved, schema, deps);
        return typeof checked === 'string' ? `The document ${checked}` : null;
      },
    }),
    inputSchema: t.field({
      type: 'JsonSchema',
      nullable: true,
      description: 'Its variables: the arguments of the tool, and the body of the route. Null where there is a fault.',
      complexity: checkCost,
      resolve: (saved, _args, { deps }, { schema }) => {
        const checked = check(saved, schema, deps);
        return typeof checked === 'string' ? null : inputSchema(schema, checked);
      },
    }),
    outputSchema: t.field({
      type: 'JsonSchema',
      nullable: true,
      description: 'The data of its result. Null where there is a fault.',
      complexity: checkCost,
      resolve: (saved, _args, { deps }, { schema }) => {
        const checked = check(saved, schema, deps);
        return typeof checked === 'string' ? null : outputSchema(schema, checked);
      },
    }),
  }),
});
const SavedDocumentConnection = makeConnection(SavedDocumentType, 'SavedDocument', 'Saved documents');

registerNode('savedDocument', {
  typeName: 'SavedDocument',
  operation: 'Query.savedDocument',
  loadMany: (ids, { deps, caller }) => getSavedDocuments(deps, caller, ids),
});

const id = { description: 'The id of the document, or its name.' };

builder.queryFields((t) => ({
  savedDocument: t.field({
    authScopes: { anyKey: true },
    type: SavedDocumentType,
    nullable: true,
    description: "One saved document of the caller's organization; null when there is none.",
    args: { id: t.arg.id(id) },
    resolve: (_root, args, { deps, caller }) => getSavedDocument(deps, caller, args.id),
  }),
  savedDocuments: t.field({
    authScopes: { anyKey: true },
    type: SavedDocumentConnection,
    description: "The documents that the caller's organization has saved, newest first.",
    args: pageArgs(t.arg),
    resolve: (_root, args, context) => listSavedDocuments(context.deps, context.caller, pageRequest(context, args)),
  }),
}));

const SaveDocumentInput = builder.inputType('SaveDocumentInput', {
  description: 'A document to save. One of the same name is replaced.',
  fields: (t) => ({
    name: t.string({
      description:
        'At most 64 lower-case letters, digits and _, the first a letter. Names of tools of agents (ask_…, search_knowledge) are taken.',
    }),
    description: t.string({ description: 'What it is for: at most 1,000 characters, which a model reads to choose its tools.' }),
    document: t.string({
      description:
        'One query or mutation, with its fragments, at most 20,000 characters. It must keep the limits of every request.',
    }),
  }),
});

builder.mutationFields((t) => ({
  saveDocument: t.field({
    authScopes: { key: 'ADMIN:WRITE' },
    type: SavedDocumentType,
    description:
      "Saves a document for the caller's organization, for administrators: a new one, or in place of that of the same name. Its tool and its route are there at once.",
    args: { input: t.arg({ type: SaveDocumentInput, description: 'The document.' }) },
    resolve: (_root, { input }, { deps, caller }, { schema }) =>
      saveDocument(deps, caller, input, (text) => {
        const checked = checkDocument(schema, deps.settings, text);
        return typeof checked === 'string' ? checked : undefined;
      }),
  }),
  deleteSavedDocument: t.field({
    authScopes: { key: 'ADMIN:WRITE' },
    type: SavedDocumentType,
    description: 'Deletes a saved document, with its tool and its route. Answers what it was.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, { deps, caller }) => deleteSavedDocument(deps, caller, args.id),
  }),
}));
