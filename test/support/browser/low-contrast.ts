/** Texts whose contrast to what is behind them is below 4.5, the AA level of WCAG. Runs in the page. @param within  a selector. */
export function lowContrast(within = 'body'): string[] {
  const channels = (color: string) => (color.match(/[\d.]+/g) ?? []).map(Number);
  const luminance = (color: string) => {
    const [red = 0, green = 0, blue = 0] = channels(color).map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const backOf = (element: Element | null): string => {
    if (element === null) return 'rgb(255, 255, 255)';
    const color = getComputedStyle(element).backgroundColor;
    return channels(color)[3] === 0 ? backOf(element.parentElement) : color;
  };
  const low = new Set<string>();
  for (const element of document.querySelectorAll(`${within} *`)) {
    const text = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim() !== '');
    if (!text) continue;
    const [front, back] = [luminance(getComputedStyle(element).color), luminance(backOf(element))];
    const contrast = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
    if (contrast < 4.5) low.add(`${element.tagName} ${element.textContent?.slice(0, 40)} ${contrast.toFixed(2)}`);
  }
  return [...low];
}
