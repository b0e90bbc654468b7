import { afterEach, expect, it } from 'vitest';
import { type Followed, follow } from '../../../support/apis/live.ts';
import type { Person } from '../../../support/make.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';

const { make } = await withService('plain', {
  env: { SUBSCRIPTIONS_PER_PERSON_MAX: '3', SUBSCRIPTIONS_PER_ORGANIZATION_MAX: '5' },
});
const open: Followed[] = [];
afterEach(() => {
  for (const stream of open.splice(0)) stream.stop();
});
async function opened(who: Person): Promise<'open' | string> {
  try {
    open.push(await follow(who, 'agentsChanged'));
    return 'open';
  } catch (error) {
    return String(error);
  }
}

it('one person cannot take all live lists of an organization, by several keys either', async () => {
  const ann = await make.person();
  const organization = { id: ann.orgId, tenantId: ann.tenantId };
  const bob = await make.person({ organization });
  const second = await make.withKey(ann, {});
  expect([await opened(ann), await opened(ann), await opened(second)]).toEqual(['open', 'open', 'open']);
  expect(await opened(second)).toContain('429');
  expect(await opened(ann)).toMatch(/One person has as many open subscriptions here as it may/);
  expect([await opened(bob), await opened(bob)]).toEqual(['open', 'open']);
  expect(await opened(bob)).toMatch(/This organization has its share/);
  open.shift()?.stop();
  await eventually(async () => expect(await opened(ann)).toBe('open'));
});

it('a person has as many in each of several organizations', async () => {
  const ann = await make.person();
  const other = await make.person();
  for (const who of [ann, other]) for (let index = 0; index < 3; index += 1) expect(await opened(who)).toBe('open');
});
