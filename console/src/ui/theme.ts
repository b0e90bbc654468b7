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
