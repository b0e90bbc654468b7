import { afterAll, expect, inject, it } from 'vitest';
import { type JudgedServer, judge } from '../../../../bench/leak-test/judge.ts';
import { createParley } from '../../../../bench/leak-test/parley.ts';
import { makeFor } from '../../../support/make.ts';
import { killProcesses, type ParleyProcess, startProcess } from '../../../support/processes/process.ts';
import { seededRandom } from '../../../support/property/random.ts';
import { propertySeed, triesAll } from '../../../support/property/sample.ts';
import { startService } from '../../../support/service.ts';
import { copyOf } from '../../../support/storage/databases.ts';

/** KILLS=20 PROPERTY_SEED=7 looks for rare faults. */
const kills = Number(process.env.KILLS ?? (triesAll ? 5 : 1));
const killWithinMs = 25;
/** Each start of a process takes seconds of a busy machine. */
const timeout = (kills + 1) * 60_000;

afterAll(killProcesses);

it(`shows nobody what that person may not open, through ${kills} kills while permissions change (seed ${propertySeed})`, {
  timeout,
}, async () => {
  const place = await copyOf(inject('template'));
  const env = { ...place.env, LOG_LEVEL: 'fatal' };
  const first = await startService({ env });
  const make = makeFor(first);
  const [organization, elsewhere] = [await make.organization(), await make.organization()];
  const members = await Promise.all(Array.from({ length: 4 }, () => make.person({ organization })));
  const [owner] = members;
  if (owner === undefined) throw new Error('nobody was made');
  const clients = [...members, await make.person({ organization: elsewhere })];
  const ids = clients.map(({ userId }) => userId);
  await first.deps.storage.db.prisma.user.updateMany({ where: { id: { in: ids } }, data: { emailVerifiedAt: new Date() } });
  const agentId = (await make.agent({ owner, visibility: 'ANYONE_WITH_LINK' })).id;
  await first.close();

  let parley: ParleyProcess | undefined;
  let url = '';
  const start = async () => {
    parley = startProcess(env);
    url = await parley.url();
  };
  await start();
  const people = clients.map(({ email, orgId }, index) => ({ name: `p${index}`, email, isMember: orgId === organization.id }));
  const keys = new Map(clients.map(({ key }, index) => [`p${index}`, key]));
  const keyOf = ({ name }: { readonly name: string }) => keys.get(name) ?? '';
  const server = await createParley({
    get url() {
      return url;
    },
    ownerKey: owner.key,
    agentId,
    keyOf,
  });
  const random = seededRandom(propertySeed);
  let changeCount = 0;
  let killCount = 0;
  /** Makes a change; of some, the process is killed in its middle, and whoever pushes does it once more. */
  const change = async (make: () => Promise<void>) => {
    changeCount += 1;
    if (changeCount <= 2 || killCount >= kills) return make();
    killCount += 1;
    const making = make().catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, random() * killWithinMs));
    await parley?.kill('SIGKILL');
    await making;
    await start();
    await make();
  };
  const killed: JudgedServer = {
    ...server,
    putGroups: (groups) => change(() => server.putGroups(groups)),
    putDocuments: (documents, removed) => change(() => server.putDocuments(documents, removed)),
  };
  const verdict = await judge(killed, people, { seed: propertySeed, stepCount: kills + 1 });
  expect(verdict).toMatchObject({ leaks: [], missing: [] });
  expect([killCount, verdict.caseCount > 200]).toEqual([kills, true]);
  await killProcesses();
  await place.remove();
});
