import { useEffect } from 'react';

/** What takes the focus on purpose, such as a menu that closes, goes first. */
const patienceMs = 60;
const focusable = 'a[href], button:enabled, input:enabled, textarea:enabled, select:enabled, summary, [tabindex]';

/** The element that had the focus last, and what is around it, from the inside out. */
let path: readonly Element[] = [];

/**
 * Keeps the focus of the keyboard from falling to the page, where reading would begin at the top again: when what had the focus goes, the nearest
 * place around it that is left takes it.
 *
 * @param home  takes it when nothing nearer is left.
 */
export function useFocusKept(home: { readonly current: HTMLElement | null }): void {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const note = ({ target }: FocusEvent) => {
      path = target instanceof Element ? listAround(target) : [];
    };
    const look = () => {
      timer = undefined;
      if (!isLost()) return;
      findNearest(path)?.focus({ preventScroll: true });
      if (isLost()) home.current?.focus({ preventScroll: true });
    };
    const lookSoon = () => {
      if (timer === undefined && isLost()) timer = setTimeout(look, patienceMs);
    };
    // A click beside everything takes the focus away on purpose.
    const forget = ({ target }: PointerEvent) => {
      if (target instanceof Element && target.closest(focusable) === null) path = [];
    };
    const observer = new MutationObserver(lookSoon);
    observer.observe(document.body, { childList: true, subtree: true, attributeFilter: ['disabled', 'hidden', 'open'] });
    addEventListener('focusin', note);
    addEventListener('pointerdown', forget);
    return () => {
      clearTimeout(timer);
      observer.disconnect();
      removeEventListener('focusin', note);
      removeEventListener('pointerdown', forget);
    };
  }, [home]);
}

function isLost(): boolean {
  const { activeElement } = document;
  return path.length > 0 && (activeElement === null || activeElement.matches('body, :disabled'));
}

/** Remembers where the focus is before something takes it. @returns a function that gives it back, where it is lost. */
export function rememberFocus(): () => void {
  const before = path;
  return () => {
    const { activeElement } = document;
    // What is in a dialog that has just closed has the focus until the page is drawn again.
    if (activeElement === null || activeElement === document.body || !activeElement.checkVisibility())
      findNearest(before)?.focus();
  };
}

const inUse = 'dialog[open], [role="menu"], input, textarea, select';

/** Gives the focus to what one goes on with, unless the reader uses something else by now: a menu would close, and words would go astray. */
export function offerFocus(element: HTMLElement | null): void {
  if ((document.activeElement?.closest(inUse) ?? null) === null) element?.focus();
}

/** What is in a menu belongs to the button that opened it. */
function listAround(element: Element): readonly Element[] {
  const around: Element[] = [];
  for (let each: Element | null = element; each !== null && each !== document.body; each = each.parentElement) {
    around.push(each);
    const opener = each.getAttribute('role') === 'menu' ? findOpener(each) : null;
    if (opener !== null) return [...around, ...listAround(opener)];
  }
  return around;
}

const findOpener = (menu: Element) => document.getElementById(menu.getAttribute('aria-labelledby') ?? '');

function findNearest(places: readonly Element[]): HTMLElement | undefined {
  for (const place of places) {
    if (!place.isConnected || place.matches('main, body')) continue;
    for (const each of [place, ...place.querySelectorAll(focusable)]) {
      if (each instanceof HTMLElement && each.matches(focusable) && each.checkVisibility()) return each;
    }
  }
  return undefined;
}
