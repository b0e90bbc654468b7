import { useSyncExternalStore } from 'react';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const storedAs = 'parley.theme';

export function chosenTheme(): Theme {
  const themeName = localStorage.getItem(storedAs);
  return themes.find((theme) => theme === themeName) ?? 'system';
}

/** Puts the colors that the reader chose on the page. */
export function showTheme(): void {
  document.documentElement.dataset.theme = chosenTheme();
}

export function chooseTheme(theme: Theme): void {
  localStorage.setItem(storedAs, theme);
  showTheme();
}

const darkDevice = '(prefers-color-scheme: dark)';

/** Whether the page is dark now; what is drawn in colors of its own is drawn anew when that changes. */
export function useIsDark(): boolean {
  return useSyncExternalStore(onThemeChange, isDark);
}

function isDark(): boolean {
  const theme = document.documentElement.dataset.theme;
  return theme === 'dark' || (theme !== 'light' && matchMedia(darkDevice).matches);
}

function onThemeChange(listener: () => void): () => void {
  const query = matchMedia(darkDevice);
  query.addEventListener('change', listener);
  const observer = new MutationObserver(listener);
  observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  return () => {
    query.removeEventListener('change', listener);
    observer.disconnect();
  };
}
