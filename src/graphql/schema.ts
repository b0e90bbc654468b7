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
import { builder } from './builder/builder.ts';
import { withFlatForms } from './builder/flat-inputs.ts';
import { accessFaults, guardNested } from './builder/nested-access.ts';
import { placeScalarErrors } from './builder/scalar-places.ts';
import { rootFields, scopeOf } from './builder/scopes.ts';
import { readLargeNumbers } from './builder/whole-numbers.ts';
import { notePlaces } from './errors/places.ts';
import './types/scalars.ts';
import './types/node.ts';
import './accounts/accounts.ts';
import './accounts/viewer.ts';

// The features; each import adds its types and fields.
import './completions/completions.ts';
import './models/models.ts';
import './installation/installation.ts';
import './tools/service-tools.ts';
import './tools/enabled-tools.ts';
import './agents/agents.ts';
import './agents/catalog.ts';
import './agents/tools.ts';
import './agents/tool-trials.ts';
import './agents/user-inputs.ts';
import './agents/skills.ts';
import './agents/flows.ts';
import './agents/secrets.ts';
import './agents/grants.ts';
import './bundles/bundles.ts';
import './accounts/api-keys.ts';
import './accounts/sessions.ts';
import './accounts/invitations.ts';
import './accounts/passkeys.ts';
import './knowledge/connections.ts';
import './accounts/groups.ts';
import './accounts/tenants.ts';
import './accounts/organizations.ts';
import './accounts/users.ts';
import './accounts/deactivation.ts';
import './accounts/operators.ts';
import './accounts/identities.ts';
import './accounts/memberships.ts';
import './accounts/ownership.ts';
import './audit/log.ts';
import './data-life/erasures.ts';
import './data-life/exports.ts';
import './data-life/holds.ts';
import './data-life/retention.ts';
import './usage/usage.ts';
import './usage/used-by.ts';
import './accounts/lists.ts';
import './accounts/limits.ts';
import './chats/chats.ts';
import './chats/changes.ts';
import './chats/branches.ts';
import './chats/feedback.ts';
import './chats/files.ts';
import './knowledge/source-changes.ts';
import './knowledge/sources.ts';
import './knowledge/source-kinds.ts';
import './knowledge/source-runs.ts';
import './knowledge/uploads.ts';
import './knowledge/items.ts';
import './knowledge/search.ts';
import './knowledge/vector-stores.ts';
import './knowledge/vector-store-batches.ts';
import './knowledge/vector-store-files.ts';
import './runs/history.ts';
import './runs/runs.ts';
import './runs/statistics.ts';
import './runs/steps.ts';
import './runs/subagent-events.ts';
import './runs/unanswered.ts';
import './schedules/schedules.ts';
import './responses/responses.ts';
import './conversations/conversations.ts';
import './memories/memories.ts';
import './files/files.ts';
import './files/uploads.ts';
import './agents/edges.ts';
import './embeddings/embeddings.ts';
import './knowledge/citations.ts';
import './live/changes.ts';
import './search/search.ts';
import './webhooks/webhooks.ts';

/**
 * Builds the schema of all features.
 *
 * @throws Error naming every root field without `authScopes`, every type without a rule, and everything without a description.
 */
export function buildSchema(): GraphQLSchema {
  builder.queryType({ description: 'All queries.' });
  builder.mutationType({ description: 'All mutations.' });
  builder.subscriptionType({ description: 'All subscriptions.' });
  const schema = withFlatForms(builder.toSchema());
  const faults = [...fieldsWithoutScope(schema), ...accessFaults(schema), ...undescribed(schema)];
  if (faults.length > 0) throw new Error(`the schema is not complete\n${faults.join('\n')}`);
  readLargeNumbers(schema);
  guardNested(schema);
  notePlaces(schema);
  placeScalarErrors(schema);
  return schema;
}

/** Root fields that do not say what a key needs. */
function fieldsWithoutScope(schema: GraphQLSchema): string[] {
  return rootFields(schema).flatMap(([operation, field]) =>
    scopeOf(field) === undefined ? [`${operation} has no authScopes`] : [],
  );
}

/** Every own type, field, argument, input field and enum value that has no description. */
export function undescribed(schema: GraphQLSchema): string[] {
  const types = Object.values(schema.getTypeMap()).filter((type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type));
  return types
    .flatMap((type) => [{ place: type.name, description: type.description }, ...partsOf(type)])
    .filter(({ description }) => description === undefined || description === null || description.trim() === '')
    .map(({ place }) => `${place} has no description`);
}

function partsOf(type: GraphQLNamedType): { place: string; description: string | null | undefined }[] {
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
