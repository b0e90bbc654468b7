import fc from 'fast-check';
import { expect, it } from 'vitest';
import { agentVisibilities } from '../../../../src/entities/agents/agent.ts';
import type { AgentFilter } from '../../../../src/entities/people/access.ts';
import { agentCondition, branches } from '../../../../src/storage/agents/conditions.ts';
import { fewAgentsWhere } from '../../../../src/storage/agents/few.ts';
import { agentWhere } from '../../../../src/storage/agents/filter.ts';
import { Parameters } from '../../../../src/storage/ground/sql/where.ts';
import { propertyRuns, sampleSeed } from '../../../support/property/sample.ts';
import { withService } from '../../../support/service.ts';

// A rule about agents is written twice, for Prisma and in SQL, and in SQL also as alternatives that are read one by one.

// Its own: everyone's lists show some of these agents.
const { service, make } = await withService('plain', {});

const home = await make.organization();
const abroad = await make.organization();
const people = await Promise.all([
  make.person({ organization: home }),
  make.person({ organization: home }),
  make.person({ organization: abroad }),
]);
const userIds = people.map(({ userId }) => userId);
const groupIds: string[] = [];
for (const [place, owner] of people.entries()) {
  const { body } = await owner.post('/api/v1/groups', {
    name: `Group ${place}`,
    availability: 'EVERYONE',
    memberEmails: people
      .map(({ email }) => email)
      .slice(place)
      .join(','),
  });
  groupIds.push(body.id);
}
const { db } = service.deps.storage;
for (let number = 0; number < 48; number += 1) {
  const owner = people[number % 3] ?? people[0];
  const agent = await make.agent({ owner: owner as never, name: number % 5 === 0 ? `Lamp ${number}` : `Agent 50%_${number}` });
  await db.pool.query(
    `update agents set visibility = $2, "listInOrgCatalog" = $3, "listInTenantCatalog" = $4, "listInPublicCatalog" = $5, "isApprovedByOrg" = $6,
       description = $7, "orgCategoryIds" = $8, "publicCategories" = $9, "categoryId" = $10 where id = $1`,
    [
      agent.id,
      agentVisibilities[number % agentVisibilities.length],
      number % 2 === 0,
      number % 3 === 0,
      number % 7 === 0,
      number % 4 === 0,
      number % 6 === 0 ? 'Gives light' : 'Helps',
      number % 5 === 0 ? ['cat_1'] : [],
      number % 8 === 0 ? ['cat_1', 'cat_2'] : [],
      number % 9 === 0 ? 'cat_2' : null,
    ],
  );
  const chosen = (offset: number) => userIds[(number + offset) % 3];
  if (number % 2 === 0)
    await db.pool.query('insert into agent_editors ("agentId", "userId") values ($1, $2)', [agent.id, chosen(1)]);
  if (number % 3 !== 0)
    await db.pool.query('insert into agent_groups ("agentId", "groupId") values ($1, $2)', [agent.id, groupIds[number % 2]]);
  if (number % 4 === 0)
    await db.pool.query('insert into agent_users ("agentId", "userId") values ($1, $2)', [agent.id, chosen(2)]);
}
const userId = fc.constantFrom(...userIds);
const orgId = fc.constantFrom(home.id, abroad.id);
const text = fc.constantFrom('lamp', '50%_', 'light', 'Agent', 'zebrafinch', 'a');
const leaf = fc.oneof(
  fc.record({ agent: fc.constant('in-organization' as const), orgId }),
  fc.record({ agent: fc.constant('in-tenant' as const), tenantId: fc.constantFrom(home.tenantId, abroad.tenantId) }),
  fc.record({ agent: fc.constantFrom('owned-by', 'not-owned-by', 'edited-by', 'grouped-with', 'has-chat-of'), userId }),
  fc.record({ agent: fc.constant('has-group' as const), groupId: fc.constantFrom(...groupIds) }),
  fc.record({ agent: fc.constant('visible-as' as const), visibility: fc.constantFrom(...agentVisibilities) }),
  fc.record({ agent: fc.constant('in-catalog' as const), catalog: fc.constantFrom('organization', 'tenant', 'public') }),
  fc.record({ agent: fc.constant('in-category' as const), categoryId: fc.constantFrom('cat_1', 'cat_2') }),
  fc.record({ agent: fc.constant('approved' as const), isApproved: fc.boolean() }),
  fc.record({ agent: fc.constantFrom('named', 'mentions'), text }),
);

async function read(condition: (parameters: Parameters) => string): Promise<readonly string[]> {
  const parameters = new Parameters();
  const text = `select id from agents where ${condition(parameters)}`;
  return (await service.deps.storage.db.queryPlanned<{ readonly id: string }>(text, parameters.values))
    .map(({ id }) => id)
    .toSorted();
}

it('a rule holds for the same agents in Prisma, in SQL, as alternatives in SQL, and where it names the few', async () => {
  const { filter } = fc.letrec<{ filter: AgentFilter }>((tie) => ({
    filter: fc.oneof(
      { depthSize: 'small' },
      leaf,
      fc.record({ all: fc.array(tie('filter'), { maxLength: 3 }) }),
      fc.record({ any: fc.array(tie('filter'), { maxLength: 3 }) }),
    ),
  }));
  const { prisma } = service.deps.storage.db;
  const idsOf = async (where: object) =>
    (await prisma.agent.findMany({ where, select: { id: true } })).map(({ id }) => id).toSorted();
  let matchingCount = 0;
  await fc.assert(
    fc.asyncProperty(filter, async (rule) => {
      const each = branches(rule);
      // Prisma cannot say a rule that holds for nothing.
      if (each.length === 0) {
        expect(() => agentWhere(rule)).toThrow('nothing matches');
        expect(await read((parameters) => agentCondition(rule, parameters))).toEqual([]);
        return;
      }
      const expected = await idsOf(agentWhere(rule));
      if (expected.length > 0) matchingCount += 1;
      expect(await read((parameters) => agentCondition(rule, parameters))).toEqual(expected);
      const found = await Promise.all(each.map((branch) => read((parameters) => agentCondition(branch, parameters))));
      expect([...new Set(found.flat())].toSorted()).toEqual(expected);
      expect(await idsOf({ AND: [await fewAgentsWhere(service.deps.storage.db, rule)] })).toEqual(expected);
    }),
    { seed: sampleSeed, numRuns: propertyRuns(800) },
  );
  expect(matchingCount).toBeGreaterThan(20);
});
