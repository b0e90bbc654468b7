import type { makeFor, Person } from '../make.ts';

/** One tenant with three organizations and twenty keys. */
export async function greedyTenant(make: ReturnType<typeof makeFor>): Promise<readonly Person[]> {
  const tenant = await make.tenant();
  const keys: Person[] = [];
  for (const count of [7, 7, 6]) {
    const person = await make.person({ organization: await make.organization({ tenant }) });
    keys.push(person);
    while (keys.length < 20 && keys.filter(({ orgId }) => orgId === person.orgId).length < count) {
      keys.push(await make.withKey(person, {}));
    }
  }
  return keys;
}

/** The keys send requests in turn until all of them are refused one after the other. @returns the number of admitted requests. */
export async function fillBy(keys: readonly Person[], takesPlace: (who: Person) => Promise<boolean>): Promise<number> {
  let taken = 0;
  for (let refusedInTurn = 0, turn = 0; refusedInTurn < keys.length; turn += 1) {
    const who = keys[turn % keys.length];
    if (who !== undefined && (await takesPlace(who))) {
      taken += 1;
      refusedInTurn = 0;
    } else refusedInTurn += 1;
  }
  return taken;
}
