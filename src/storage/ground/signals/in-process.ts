import { SignalHub } from './hub.ts';
import type { Signals } from './signals.ts';

/** Signals within a single process. `publish` calls the listeners before it returns. */
export function createInProcessSignals(): Signals {
  const hub = new SignalHub();
  return {
    publish(topic, payload) {
      hub.deliver(topic, payload);
      if (topic === 'run-changed') hub.tell(payload, '');
    },
    subscribe: (topic, listener) => hub.subscribe(topic, listener),
    tell: (runId) => hub.tell(runId, ''),
    watch: (runId, listener) => hub.watch(runId, listener),
    onGap: (listener) => hub.onGap(listener),
    onReset: (listener) => hub.onReset(listener),
    isHealthy: () => true,
    state: () => 'live',
    problem: () => undefined,
    get counts() {
      return { sent: 0, heard: 0, instances: 1, watched: hub.watchedCount };
    },
    close: async () => hub.clear(),
  };
}
