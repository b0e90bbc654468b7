import { InMemoryServerEventBus, type ServerEventBus } from '@modelcontextprotocol/server';
import type { Signals } from '../storage/ground/signals/signals.ts';

/** Changes that come within this time are told at once. */
const gatherMs = 1_000;
/** All lists show agents. */
const changedLists = ['tools_list_changed', 'prompts_list_changed', 'resources_list_changed'] as const;

/** What clients are told on their open streams in the era of `initialize`; the later revision does it in the SDK. */
export const changeMethods = {
  tools_list_changed: 'notifications/tools/list_changed',
  prompts_list_changed: 'notifications/prompts/list_changed',
  resources_list_changed: 'notifications/resources/list_changed',
} as const;

/**
 * Tells all open streams that agents have changed, here or in another instance. Which agents is not looked up: the client lists them again, and
 * gets those that its key may use.
 */
export function watchChanges(signals: Pick<Signals, 'subscribe' | 'onReset'>): { readonly bus: ServerEventBus; stop(): void } {
  const bus = new InMemoryServerEventBus();
  let timer: NodeJS.Timeout | undefined;
  const tell = () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      for (const kind of changedLists) bus.publish({ kind });
    }, gatherMs).unref();
  };
  const stops = [signals.subscribe('agent-changed', tell), signals.subscribe('group-changed', tell), signals.onReset(tell)];
  return {
    bus,
    stop() {
      clearTimeout(timer);
      for (const stop of stops) stop();
    },
  };
}
