import type { Locator } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../../../support/browser/browser.ts';
import {
  type ConsoleView,
  checkScreen,
  keepConsolePicture,
  openConsole,
  overflowWidth,
} from '../../../support/browser/console.ts';
import { withService } from '../../../support/service.ts';
import { answers } from '../../../unit/console/answers.ts';

const { service, make, upstream } = await withService('model');

const ann = await make.person({ role: 'ADMIN', name: 'Ann Example' });
const agentId = (await make.agent({ owner: ann, name: 'Teacher' })).id;

/** The drawn answer to a question. Its text comes in pieces of some signs. */
async function answered(text: string, view: ConsoleView = {}) {
  upstream.next({ text: text.match(/[\s\S]{1,7}/g) ?? [] });
  const opened = await openConsole(service, ann, `/?agent=${agentId}`, view);
  const { page } = opened;
  const transcript = page.getByRole('region', { name: 'Transcript' });
  await page.getByRole('textbox', { name: 'Message' }).fill('Tell me');
  await page.keyboard.press('Enter');
  await transcript.getByRole('button', { name: 'Copy the answer' }).waitFor();
  return { ...opened, answer: transcript.getByRole('article', { name: 'Teacher' }) };
}

const isDrawn = (answer: Locator, count: number) =>
  answer.page().waitForFunction((wanted) => document.querySelectorAll('[data-math="drawn"]').length === wanted, count);

describe.skipIf(!hasBrowser())('what an answer draws', () => {
  it.each(['light', 'dark'] as const)('mathematics, between dollars and brackets, in %s colors', async (scheme) => {
    const { page, answer, problems, strangers } = await answered(answers.mathematics ?? '', { scheme });
    await isDrawn(answer, 6);
    expect(await answer.locator('math').count()).toBe(6);
    await answer.getByText('It costs $5 to print and $6 to bind.').waitFor();
    await answer.getByText('Note that 5*3*2 = 30 and a < b.').waitFor();
    await checkScreen(page, `markdown-math-${scheme}`);
    expect(problems).toEqual([]);
    expect([...strangers]).toEqual([]);
  });

  it('TeX that is none as it is written', async () => {
    const { answer, problems } = await answered('Broken: $\\frac{1}{$ and $$\\undefinedcommand{x}$$ and $x$.');
    await isDrawn(answer, 1);
    await answer.getByText('$\\frac{1}{$').waitFor();
    await answer.getByText('\\undefinedcommand{x}').waitFor();
    expect(problems).toEqual([]);
  });

  it.each(['light', 'dark'] as const)('diagrams, in %s colors, in a frame that reaches nothing', async (scheme) => {
    const { page, answer, problems, strangers } = await answered(answers['a diagram'] ?? '', { scheme });
    const picture = answer.getByRole('img', { name: 'Diagram: flowchart' });
    await picture.waitFor();
    await page.waitForFunction(() => (document.querySelector<HTMLImageElement>('figure img')?.naturalWidth ?? 0) > 100);
    await checkScreen(page, `markdown-diagram-${scheme}`);
    await answer.getByText('Source of the diagram').click();
    await answer.getByText('B -- yes --> C[Answer]').waitFor();
    const frame = page.locator('iframe[title="Diagrams"]');
    expect(await frame.getAttribute('sandbox')).toBe('allow-scripts');
    const inside = page.frames().find((each) => each.url().endsWith('diagram.html'));
    expect(await inside?.evaluate(() => origin)).toBe('null');
    expect(problems).toEqual([]);
    expect([...strangers]).toEqual([]);
  });

  it('diagrams of every kind', async () => {
    const kinds = [
      '---\nconfig:\n  layout: elk\n---\nflowchart TD\n  A --> B\n  B --> C',
      'sequenceDiagram\n  Ann->>Bob: Hello\n  Note right of Bob: thinks',
      'classDiagram\n  Animal <|-- Duck\n  Animal : +int age',
      'stateDiagram-v2\n  [*] --> Open\n  Open --> [*]',
      'erDiagram\n  CUSTOMER ||--o{ ORDER : places',
      'gantt\n  title Plan\n  dateFormat YYYY-MM-DD\n  section One\n  Task :a1, 2026-01-01, 30d',
      'pie title Pets\n  "Dogs" : 386\n  "Cats" : 85',
      'mindmap\n  root((mind))\n    One\n    Two',
      'gitGraph\n  commit\n  branch develop\n  commit',
    ];
    const { page, answer, problems, strangers } = await answered(
      kinds.map((kind) => `\`\`\`mermaid\n${kind}\n\`\`\``).join('\n\n'),
    );
    await page.waitForFunction(
      (count) =>
        [...document.querySelectorAll<HTMLImageElement>('figure img')].filter(({ naturalWidth }) => naturalWidth > 20).length ===
        count,
      kinds.length,
    );
    expect(await answer.getByRole('img', { name: /^Diagram/ }).count()).toBe(kinds.length);
    await keepConsolePicture(page, 'markdown-diagrams');
    expect(problems).toEqual([]);
    expect([...strangers]).toEqual([]);
  });

  it('hostile diagrams without effect: no script, no request', async () => {
    const setUp = '%%{init: {"securityLevel": "loose", "themeCSS": "* { background: url(https://strangers.example/x) }"}}%%';
    const label = "<img src='https://strangers.example/y' onerror='parent.postMessage(1)'>";
    const hostile = `${setUp}\nflowchart LR\n  A["${label}"] --> B\n  click A href "javascript:alert(1)"`;
    const { page, answer, strangers } = await answered(`\`\`\`mermaid\n${hostile}\n\`\`\``);
    const picture = answer.getByRole('img', { name: 'Diagram: flowchart' });
    await picture.waitFor();
    await page.waitForFunction(() => (document.querySelector<HTMLImageElement>('figure img')?.naturalWidth ?? 0) > 20);
    await keepConsolePicture(page, 'markdown-diagram-hostile');
    expect([...strangers]).toEqual([]);
  });

  it('a diagram that is none as its source, with the reason', async () => {
    const { page, answer, problems } = await answered('```mermaid\nflowchart LR\n  A --> \n```\n\nEnd.');
    await answer.getByText(/The diagram cannot be drawn: Parse error/).waitFor();
    await answer.getByText('A -->').first().waitFor();
    await checkScreen(page, 'markdown-diagram-fault');
    expect(problems).toEqual([]);
  });

  it('links by reference, footnotes with a way there and back, and what nothing refers to', async () => {
    const { page, answer } = await answered(`${answers['sources and footnotes']}\n[unused]: https://unused.example\n`);
    expect(await answer.getByRole('link', { name: '1889 (example.org)' }).getAttribute('href')).toBe(
      'https://example.org/history',
    );
    await answer.getByRole('link', { name: 'the page of the tower (example.org)' }).waitFor();
    expect(await answer.getByText('[opened]:').count()).toBe(0);
    await answer.getByText('[unused]: https://unused.example').waitFor();
    await answer.getByText('Tags:').getByText('#paris #tower').waitFor();
    expect(await answer.getByRole('heading', { level: 3 }).count()).toBe(0);
    const notes = answer.getByRole('region', { name: 'Footnotes' });
    expect(await notes.getByRole('listitem').count()).toBe(2);
    await answer.getByRole('link', { name: 'Footnote 2' }).press('Enter');
    await page.keyboard.press('Tab');
    await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'Back to the text of footnote 2');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'Footnote 2');
    await checkScreen(page, 'markdown-footnotes');
  });

  it('tasks, folds and tags that are text, on a telephone too', async () => {
    const { page, answer, problems } = await answered(`${answers['lists with empty lines']}\n\n${answers['thoughts and tags']}`, {
      width: 390,
    });
    expect(await answer.getByRole('checkbox', { name: 'measured' }).isChecked()).toBe(true);
    expect(await answer.getByRole('checkbox', { name: 'improved' }).isChecked()).toBe(false);
    expect(await answer.locator('ol').first().getByRole('listitem').count()).toBe(4);
    await answer.getByText('<thinking>').waitFor();
    await answer.getByText('The user asks about <b> and <strong>.').waitFor();
    const fold = answer.getByRole('group').filter({ hasText: 'Why so?' });
    expect(await fold.getByText('Because a screen reader').isVisible()).toBe(false);
    await fold.getByText('Why so?').click();
    await fold.getByText('const a = 1 < 2;').waitFor();
    expect(await overflowWidth(page)).toBe(0);
    await checkScreen(page, 'markdown-folds-phone');
    expect(problems).toEqual([]);
  });

  it('each paragraph from the side of its first letter, and code from the left', async () => {
    const { page, answer } = await answered(answers['German and Hebrew'] ?? '');
    const side = (text: string) =>
      answer
        .getByText(text)
        .first()
        .evaluate((element) => getComputedStyle(element).direction);
    expect(await side('שלום עולם')).toBe('rtl');
    expect(await side('אחת')).toBe('rtl');
    expect(await side('Die Wartung')).toBe('ltr');
    expect(await side('code')).toBe('ltr');
    await keepConsolePicture(page, 'markdown-direction');
  });

  it.each(Object.entries(answers))('after its last word as after a reload: %s', async (_name, text) => {
    const { page, answer } = await answered(text);
    const drawing = async () => {
      await page.waitForFunction(() => document.querySelector('[data-math="source"]') === null);
      await page.waitForFunction(
        () => document.querySelectorAll('figure figcaption').length === document.querySelectorAll('pre').length,
      );
      const html = await answer.locator('[class*="markdown"]').first().innerHTML();
      // Ids, addresses of pictures, and colors that come later.
      return html.replaceAll(/blob:[^"]+|_r_\w+_|«\w+»|<span(?: data-kind="[\w-]+")?>|<\/span>| data-kind="[\w-]+"/g, '');
    };
    if (text.includes('mermaid')) await answer.getByRole('img', { name: /^Diagram/ }).waitFor();
    const streamed = await drawing();
    await page.reload();
    await answer.waitFor();
    if (text.includes('mermaid')) await answer.getByRole('img', { name: /^Diagram/ }).waitFor();
    expect(await drawing()).toBe(streamed);
  });
});
