import { SignalHub } from './hub.ts';
import type { Signals } from './signals.ts';

/** Signals within a single process. `publish` calls the listeners before it returns. */
export function createInProcessSignals(): Signals {
  const hub = new SignalHub();
  return {
    publish: (topic, payload) => hub.deliver(topic, payload),
    subscribe: (topic, listener) => hub.subscribe(topic, listener),
    onGap: (listener) => hub.onGap(listener),
    onReset: (listener) => hub.onReset(listener),
    isHealthy: () => true,
    state: () => 'live',
    close: async () => hub.clear(),
  };
}
