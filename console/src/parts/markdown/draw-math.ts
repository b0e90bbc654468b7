import katex from 'katex';
import 'katex/dist/katex.min.css';

/**
 * Draws TeX into an element. It sets styles through the object model, which the policy of the page allows, writes MathML beside them for who does not see
 * the page, follows no address and runs nothing.
 *
 * @throws Error when it is no TeX.
 */
export function drawMath(place: HTMLElement, tex: string, isDisplay: boolean): void {
  katex.render(tex, place, {
    displayMode: isDisplay,
    throwOnError: true,
    strict: 'ignore',
    trust: false,
    maxSize: 20,
    maxExpand: 500,
    output: 'htmlAndMathml',
  });
}
