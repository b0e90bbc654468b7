import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { usePreference } from '../parts/browser/preferences.ts';

/** Keys that work in the whole console, and whether their list is open. */
export function useShortcuts() {
  const [, go] = useLocation();
  const [isOpen, setOpen] = useState(false);
  const [hasSingleKeys] = usePreference('singleKeys');
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing || event.altKey) return;
      const withCommand = event.ctrlKey || event.metaKey;
      if (withCommand && event.shiftKey && event.key.toLowerCase() === 'o') {
        event.preventDefault();
        go('/');
      } else if (withCommand && event.key === '/') {
        event.preventDefault();
        setOpen(true);
      } else if (!withCommand && event.key === '?' && hasSingleKeys && !isWriting()) {
        event.preventDefault();
        setOpen(true);
      }
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [go, hasSingleKeys]);
  return { isOpen, open: () => setOpen(true), close: () => setOpen(false) };
}

/** Whether a key is a sign that somebody writes, or belongs to a dialog. */
function isWriting(): boolean {
  const focused = document.activeElement;
  return (
    focused instanceof HTMLElement &&
    (focused.isContentEditable || focused.matches('input, textarea, select, dialog *, [role="menu"] *'))
  );
}
