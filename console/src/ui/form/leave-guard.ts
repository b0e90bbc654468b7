import { useEffect, useRef } from 'react';

/**
 * Asks before the reader leaves what is not saved: by a link, by the buttons of the browser, by closing the window. `stays` says which addresses of the
 * console keep it. The browser itself asks where the page is left; its words cannot be chosen.
 */
export function useLeaveGuard(isDirty: boolean, stays: (path: string) => boolean, ask: () => Promise<boolean>): void {
  const current = useRef({ stays, ask });
  current.current = { stays, ask };
  useEffect(() => {
    if (!isDirty) return;
    let isLeaving = false;
    const onUnload = (event: BeforeUnloadEvent) => {
      if (!isLeaving) event.preventDefault();
    };
    const onNavigate = (event: NavigateEvent) => {
      const { destination, navigationType } = event;
      const url = new URL(destination.url);
      // Another page than the console's is the matter of `beforeunload`.
      if (isLeaving || !event.cancelable || !isOfConsole(event, url) || current.current.stays(url.pathname)) return;
      event.preventDefault();
      void current.current.ask().then((isConfirmed) => {
        if (!isConfirmed) return;
        isLeaving = true;
        if (navigationType === 'traverse') navigation.traverseTo(destination.key);
        else history.pushState(destination.getState() ?? null, '', destination.url);
      });
    };
    addEventListener('beforeunload', onUnload);
    // Browsers without the Navigation API have `beforeunload` alone.
    const { navigation: navigations } = window as { readonly navigation?: Navigation };
    navigations?.addEventListener('navigate', onNavigate);
    return () => {
      removeEventListener('beforeunload', onUnload);
      navigations?.removeEventListener('navigate', onNavigate);
    };
  }, [isDirty]);
}

function isOfConsole({ destination, downloadRequest, hashChange }: NavigateEvent, url: URL): boolean {
  return url.origin === location.origin && destination.sameDocument && downloadRequest === null && !hashChange;
}
