import { setTimeout as wait } from 'node:timers/promises';
import { type Installation, installationLeaseMs } from '../../support/processes/installation.ts';

/** Something that fails, and is whole again when the promise resolves. */
export interface Fault {
  readonly name: string;
  happen(installation: Installation, turn: number): Promise<void>;
}

/** Longer than a lease: others have taken over what it held when it wakes up. */
const sleepMs = installationLeaseMs + 2_000;
const awayMs = 3_000;

const instanceOf = ({ instances }: Installation, turn: number) => {
  const found = instances[turn % instances.length];
  if (found === undefined) throw new Error('an installation without instances');
  return found;
};

/** One of each kind for each part. */
export const faults: readonly Fault[] = [
  {
    name: 'an instance is killed and started again',
    async happen(installation, turn) {
      const instance = instanceOf(installation, turn);
      await instance.process.kill('SIGKILL');
      await instance.launch();
    },
  },
  {
    name: 'an instance stands still for longer than its leases',
    async happen(installation, turn) {
      const instance = instanceOf(installation, turn);
      instance.process.signal('SIGSTOP');
      await wait(sleepMs);
      instance.process.signal('SIGCONT');
    },
  },
  {
    name: 'an instance is replaced (SIGTERM)',
    async happen(installation, turn) {
      const instance = instanceOf(installation, turn);
      await instance.process.kill('SIGTERM');
      await instance.launch();
    },
  },
  { name: 'PostgreSQL crashes and starts again', happen: ({ postgres }) => postgres.crashAndRestart() },
  {
    name: 'PostgreSQL stands still',
    async happen({ postgres }) {
      postgres.freeze();
      await wait(awayMs);
      postgres.thaw();
    },
  },
  {
    name: 'PostgreSQL is cut off',
    async happen({ database }) {
      database.cut();
      await wait(awayMs);
      database.restore();
    },
  },
  {
    name: 'the file store answers with errors',
    async happen({ store }) {
      store.fault = () => ({ status: 503, code: 'SlowDown' });
      await wait(awayMs);
      store.fault = () => undefined;
    },
  },
  {
    name: 'the file store cuts its connections',
    async happen({ store }) {
      store.fault = () => 'reset';
      await wait(awayMs);
      store.fault = () => undefined;
    },
  },
  {
    name: 'Redis is killed, and comes back empty',
    async happen({ redis }) {
      await redis.kill();
      await wait(awayMs);
      await redis.restart();
    },
  },
  {
    name: 'Redis stands still',
    async happen({ redis }) {
      redis.freeze();
      await wait(awayMs);
      redis.thaw();
    },
  },
  { name: 'the balancer is started again', happen: (installation) => installation.restartBalancer() },
];
