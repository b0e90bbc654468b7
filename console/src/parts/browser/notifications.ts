/** Held by each tab that can be seen: while one is, nobody needs a notification. */
const seenLock = 'parley-seen';

export const hasNotifications = () => 'Notification' in window;

/** Asks the person, whose press must be the reason. @returns whether the browser may notify. */
export async function askForNotifications(): Promise<boolean> {
  return hasNotifications() && (await Notification.requestPermission()) === 'granted';
}

/** Tells other tabs whether this one can be seen. @returns a function that ends it. */
export function tellWhetherSeen(): () => void {
  let letGo: (() => void) | undefined;
  const look = () => {
    const isSeen = document.visibilityState === 'visible';
    if (!isSeen) {
      letGo?.();
      letGo = undefined;
    } else if (letGo === undefined) {
      const { promise, resolve } = Promise.withResolvers<void>();
      letGo = resolve;
      void navigator.locks?.request(seenLock, { mode: 'shared' }, () => promise);
    }
  };
  look();
  document.addEventListener('visibilitychange', look);
  return () => {
    document.removeEventListener('visibilitychange', look);
    letGo?.();
  };
}

/** Notifies where the browser may and the person sees no tab of the console. @param tag  what is told once, also by several tabs. */
export async function notify(
  title: string,
  { body, tag, onOpen }: { readonly body: string; readonly tag: string; readonly onOpen: () => void },
): Promise<void> {
  if (!hasNotifications() || Notification.permission !== 'granted' || document.visibilityState === 'visible') return;
  const locks = (await navigator.locks?.query())?.held ?? [];
  if (locks.some(({ name }) => name === seenLock)) return;
  try {
    const notification = new Notification(title, { body, tag, icon: '/favicon.svg' });
    notification.onclick = () => {
      window.focus();
      notification.close();
      onOpen();
    };
  } catch {
    // Browsers of telephones notify for service workers only.
  }
}
