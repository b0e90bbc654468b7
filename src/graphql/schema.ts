import {
  type GraphQLNamedType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedScalarType,
} from 'graphql';
import { builder } from './ground/builder/builder.ts';
import { withFlatForms } from './ground/builder/flat-inputs.ts';
import { accessFaults, guardNested } from './ground/builder/nested-access.ts';
import { placeScalarErrors } from './ground/builder/scalar-places.ts';
import { findScope, rootFields } from './ground/builder/scopes.ts';
import { readLargeNumbers } from './ground/builder/whole-numbers.ts';
import { notePlaces } from './ground/errors/places.ts';
import './ground/types/scalars.ts';
import './ground/types/node.ts';
import './people/accounts.ts';
import './people/viewer.ts';

// The features; each import adds its types and fields.
import './conversations/completions/completions.ts';
import './agents/models.ts';
import './operations/installation.ts';
import './agents/tools/service-tools.ts';
import './agents/tools/enabled-tools.ts';
import './agents/agents.ts';
import './agents/versions/versions.ts';
import './agents/catalog.ts';
import './agents/tools.ts';
import './conversations/runs/tool-trials.ts';
import './agents/user-inputs.ts';
import './agents/skills.ts';
import './agents/flows.ts';
import './agents/secrets.ts';
import './agents/grants.ts';
import './agents/guards.ts';
import './operations/bundles/bundles.ts';
import './people/api-keys.ts';
import './people/sign-in/sessions.ts';
import './people/sign-in/invitations.ts';
import './people/connected-apps.ts';
import './people/sign-in/passkeys.ts';
import './knowledge/connections.ts';
import './knowledge/mcp-oauth-clients.ts';
import './people/groups.ts';
import './people/tenants.ts';
import './people/organizations.ts';
import './people/users.ts';
import './people/deactivation.ts';
import './people/operators.ts';
import './people/sign-in/identities.ts';
import './people/memberships.ts';
import './operations/ownership.ts';
import './operations/audit.ts';
import './operations/data-life/erasures.ts';
import './operations/data-life/exports.ts';
import './operations/data-life/holds.ts';
import './operations/data-life/retention.ts';
import './operations/usage/usage.ts';
import './operations/usage/used-by.ts';
import './operations/lists-of-people.ts';
import './people/limits.ts';
import './conversations/chats/chats.ts';
import './conversations/chats/changes.ts';
import './conversations/chats/branches.ts';
import './conversations/chats/bin.ts';
import './conversations/chats/places.ts';
import './conversations/chats/feedback.ts';
import './conversations/chats/queue.ts';
import './conversations/chats/contexts.ts';
import './conversations/chats/comparisons.ts';
import './conversations/chats/files.ts';
import './conversations/imports/imports.ts';
import './conversations/shares/shares.ts';
import './conversations/shares/shared-chat.ts';
import './conversations/prompts.ts';
import './conversations/evaluation/datasets.ts';
import './conversations/evaluation/case-changes.ts';
import './conversations/evaluation/experiments.ts';
import './conversations/evaluation/pairs.ts';
import './conversations/evaluation/gates.ts';
import './knowledge/source-changes.ts';
import './knowledge/sources.ts';
import './knowledge/source-kinds.ts';
import './knowledge/source-runs.ts';
import './knowledge/permissions/report.ts';
import './knowledge/permissions/identities.ts';
import './knowledge/permissions/open-documents.ts';
import './knowledge/permissions/unidentified.ts';
import './knowledge/pushes.ts';
import './knowledge/uploads.ts';
import './knowledge/items.ts';
import './knowledge/search.ts';
import './knowledge/vector-stores.ts';
import './knowledge/vector-store-batches.ts';
import './knowledge/vector-store-files.ts';
import './conversations/runs/history.ts';
import './conversations/runs/runs.ts';
import './conversations/runs/tags.ts';
import './conversations/runs/statistics.ts';
import './conversations/runs/steps.ts';
import './conversations/runs/events/subagent-events.ts';
import './conversations/runs/unanswered.ts';
import './conversations/schedules.ts';
import './conversations/responses/responses.ts';
import './conversations/conversations/conversations.ts';
import './conversations/memories.ts';
import './conversations/projects.ts';
import './conversations/files/files.ts';
import './conversations/files/uploads.ts';
import './conversations/agent-edges.ts';
import './knowledge/embeddings.ts';
import './conversations/citations.ts';
import './operations/live/changes.ts';
import './operations/saved-documents.ts';
import './operations/search.ts';
import './operations/usage/budgets.ts';
import './operations/webhooks.ts';

/** It never changes. */
let schema: GraphQLSchema | undefined;

/**
 * Builds the schema of all features, once in a process.
 *
 * @throws Error naming every root field without `authScopes`, every type without a rule, and everything without a description.
 */
export function buildSchema(): GraphQLSchema {
  schema ??= makeSchema();
  return schema;
}

function makeSchema(): GraphQLSchema {
  builder.queryType({ description: 'All queries.' });
  builder.mutationType({ description: 'All mutations.' });
  builder.subscriptionType({ description: 'All subscriptions.' });
  const made = withFlatForms(builder.toSchema());
  const faults = [...fieldsWithoutScope(made), ...accessFaults(made), ...undescribed(made)];
  if (faults.length > 0) throw new Error(`the schema is not complete\n${faults.join('\n')}`);
  readLargeNumbers(made);
  guardNested(made);
  notePlaces(made);
  placeScalarErrors(made);
  return made;
}

/** Root fields that do not say what a key needs. */
function fieldsWithoutScope(schema: GraphQLSchema): string[] {
  return rootFields(schema).flatMap(([operation, field]) =>
    findScope(field) === undefined ? [`${operation} has no authScopes`] : [],
  );
}

/** Every own type, field, argument, input field and enum value that has no description. */
export function undescribed(schema: GraphQLSchema): string[] {
  const types = Object.values(schema.getTypeMap()).filter((type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type));
  return types
    .flatMap((type) => [{ place: type.name, description: type.description }, ...listParts(type)])
    .filter(({ description }) => description === undefined || description === null || description.trim() === '')
    .map(({ place }) => `${place} has no description`);
}

function listParts(type: GraphQLNamedType): { place: string; description: string | null | undefined }[] {
  if (isEnumType(type)) {
    return type.getValues().map(({ name, description }) => ({ place: `${type.name}.${name}`, description }));
  }
  if (isInputObjectType(type)) {
    return Object.values(type.getFields()).map(({ name, description }) => ({ place: `${type.name}.${name}`, description }));
  }
  if (!isObjectType(type) && !isInterfaceType(type)) return [];
  return Object.values(type.getFields()).flatMap((field) => [
    { place: `${type.name}.${field.name}`, description: field.description },
    ...field.args.map(({ name, description }) => ({ place: `${type.name}.${field.name}(${name})`, description })),
  ]);
}
