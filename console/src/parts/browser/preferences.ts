import { useSyncExternalStore } from 'react';

/** What a person chooses for one browser, and what holds until then. */
const defaults = { notifications: false, answersInNotifications: false, voice: false, singleKeys: true } as const;
type Preference = keyof typeof defaults;

const listeners = new Set<() => void>();
const storedAs = (name: Preference) => `parley.${name}`;

export function readPreference(name: Preference): boolean {
  const stored = localStorage.getItem(storedAs(name));
  return stored === null ? defaults[name] : stored === 'on';
}

/** A choice, and what changes it; other tabs follow. */
export function usePreference(name: Preference): readonly [isOn: boolean, choose: (isOn: boolean) => void] {
  const isOn = useSyncExternalStore(subscribe, () => readPreference(name));
  const choose = (next: boolean) => {
    localStorage.setItem(storedAs(name), next ? 'on' : 'off');
    for (const listener of listeners) listener();
  };
  return [isOn, choose];
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  addEventListener('storage', listener);
  return () => {
    listeners.delete(listener);
    removeEventListener('storage', listener);
  };
}
