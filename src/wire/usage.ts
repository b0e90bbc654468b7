import { z } from 'zod';
import { text } from './ground/schema.ts';
import { memberShape, shapedType } from './ground/shape.ts';

/** The use of an organization, as REST shows it. */

const count = (description: string) => z.int().min(0).meta({ format: 'int64', description });
const organizationUsage = shapedType('OrganizationUsage', 'The tokens that an organization used.', {
  orgId: text('The id of the organization.'),
  dataTokensUsed: count('Tokens of embedding and indexing.'),
  dataUsageTokenLimit: count('Tokens that embedding and indexing may use in all; null: no limit.').nullable(),
  apiTokensUsed: count('Tokens of runs.'),
  apiUsageTokenLimit: count('Tokens that runs may use in all; null: no limit.').nullable(),
});
type OrganizationUsage = z.output<typeof organizationUsage>;

/** GraphQL has the sums beside the lists of their parts. */
export const usageShapes = {
  orgUsage: memberShape(
    'UsageReport.orgUsage',
    organizationUsage.meta({ description: 'All of it, calls without an agent included.' }),
    (
      orgId: string,
      { dataTokensUsed, dataUsageTokenLimit, apiTokensUsed, apiUsageTokenLimit }: Omit<OrganizationUsage, 'orgId'>,
    ) => ({ orgId, dataTokensUsed, dataUsageTokenLimit, apiTokensUsed, apiUsageTokenLimit }),
  ),
  dataTokensUsed: 'unshown',
  dataUsageTokenLimit: 'unshown',
  apiTokensUsed: 'unshown',
  apiUsageTokenLimit: 'unshown',
} as const;
