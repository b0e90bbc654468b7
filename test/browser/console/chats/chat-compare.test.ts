import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../../../support/browser/browser.ts';
import { checkScreen, keepConsolePicture, openConsole } from '../../../support/browser/console.ts';
import { scriptedUpstream, withService } from '../../../support/service.ts';
import { heldAnswer, type UpstreamScript } from '../../../support/upstream.ts';

/** Two agents or models on one question. */
const file = join(mkdtempSync(join(tmpdir(), 'parley-models-')), 'models.json');
const price = { inputPerMillionTokens: 2, outputPerMillionTokens: 8 };
const models = [{ name: 'other-model', price }];
writeFileSync(file, JSON.stringify({ providers: [{ id: 'lab', baseUrl: (await scriptedUpstream()).url, models }] }));
const { service, make, upstream } = await withService('model', { env: { MODELS_FILE: file } });

const ann = await make.person({ name: 'Ann Example' });
const agentId = (await make.agent({ owner: ann, name: 'Harbour pilot', instructions: 'Be brief.' })).id;
await make.agent({ owner: ann, name: 'Poet', instructions: 'Rhyme.' });

type View = Parameters<typeof openConsole>[3];

async function openChat(view: View = {}) {
  const { id } = await make.chat({ owner: ann, agentId, name: 'Tides' });
  const opened = await openConsole(service, ann, `/chats/${id}`, view);
  const { page } = opened;
  const transcript = page.getByRole('region', { name: /^(Transcript|Verlauf)$/ });
  const comparison = transcript.getByRole('region', { name: /^(Answers beside each other|Antworten nebeneinander)$/ });
  const ask = async (text: string) => {
    await page.getByRole('textbox', { name: /^(Message|Nachricht)$/ }).fill(text);
    await page.keyboard.press('Enter');
  };
  const choose = async (button: RegExp, name: string, action: RegExp) => {
    await page.getByRole('button', { name: button }).click();
    await page.getByRole('checkbox', { name }).check();
    await page.getByRole('dialog').getByRole('button', { name: action }).click();
  };
  return { ...opened, id, transcript, comparison, ask, choose };
}
/** The answers of the two models, whose requests arrive in any order. */
function answerByModel(own: UpstreamScript, other: UpstreamScript): void {
  upstream.otherwise(({ body }) => (body?.model === 'other-model' ? other : own));
}
const feedbackOf = async () =>
  (await ann.graphql('{ feedback { nodes { rating tags message { content } } } }')).data.feedback.nodes as readonly {
    readonly rating: string;
    readonly tags: readonly string[];
    readonly message: { readonly content: string };
  }[];

describe.skipIf(!hasBrowser())('answers beside each other', () => {
  it('stream at the same time, from the box, and stay through a reload; one is chosen', async () => {
    const { page, transcript, comparison, ask, choose } = await openChat();
    await choose(/^Compare with/, 'lab/other-model', /^Apply$/);
    await page.getByRole('list', { name: 'Compared with' }).getByText('lab/other-model').waitFor();
    const [first, second] = [heldAnswer({ text: ['At ', 'noon.'] }), heldAnswer({ text: ['About ', 'twelve.'] })];
    answerByModel(first.script, second.script);
    await ask('When is high tide?');
    const own = comparison.getByRole('article', { name: /openai/ });
    const other = comparison.getByRole('article', { name: /other-model/ });
    await own.getByText('At', { exact: true }).waitFor();
    await other.getByText('About', { exact: true }).waitFor();
    await keepConsolePicture(page, 'chat-compare-live');
    await page.reload();
    await own.getByText('At', { exact: true }).waitFor();
    await other.getByText('About', { exact: true }).waitFor();
    second.goOn();
    await other.getByText('About twelve.').waitFor();
    await other.getByText(/tokens/).waitFor();
    await other.getByText(/\$0\.0/).waitFor();
    expect(await own.getByRole('button', { name: 'Stop this answer' }).count()).toBe(1);
    first.goOn();
    await own.getByText('At noon.').waitFor();
    await own.getByText(/tokens/).waitFor();
    await checkScreen(page, 'chat-compare');
    await other.getByRole('button', { name: 'Go on with this one' }).click();
    await comparison.waitFor({ state: 'detached' });
    await transcript.getByText('About twelve.').waitFor();
    expect(await transcript.getByText('At noon.').count()).toBe(0);
    // It was whole first.
    await transcript.getByText('1/2').waitFor();
    expect(await page.getByRole('combobox', { name: 'Model' }).inputValue()).toBe('lab/other-model');
    await transcript.getByRole('button', { name: 'Next branch' }).click();
    await transcript.getByText('At noon.').waitFor();
  });

  it('begin at an answer, with another agent, which goes on when it is chosen; the better one is feedback', async () => {
    const { page, transcript, comparison, ask, choose } = await openChat();
    upstream.next({ text: 'Red.' });
    await ask('Roses?');
    await transcript.getByText('Red.').waitFor();
    upstream.next({ text: 'Red, they said.' });
    await choose(/^Compare this answer with/, 'Poet', /^Compare$/);
    const poet = comparison.getByRole('article', { name: /^Poet/ });
    await poet.getByText('Red, they said.').waitFor();
    const better = poet.getByRole('button', { name: 'Better' });
    await better.click();
    await page.waitForFunction(() => document.querySelector('[aria-label="Better"][aria-pressed="true"]') !== null);
    await expect.poll(feedbackOf).toEqual([{ rating: 'UP', tags: ['better'], message: { content: 'Red, they said.' } }]);
    await comparison
      .getByRole('article', { name: /^Harbour pilot/ })
      .getByRole('button', { name: 'Better' })
      .click();
    await expect.poll(feedbackOf).toEqual([{ rating: 'UP', tags: ['better'], message: { content: 'Red.' } }]);
    await poet.getByRole('button', { name: 'Go on with this one' }).click();
    await comparison.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Poet' }).waitFor();
    await ask('Violets?');
    await transcript.getByText('Hello from upstream').waitFor();
    expect(JSON.stringify(upstream.requests.at(-1)?.body)).toContain('Rhyme.');
  });

  it('are stopped one by one, or together', async () => {
    const { page, comparison, ask, choose } = await openChat();
    await choose(/^Compare with/, 'lab/other-model', /^Apply$/);
    const ask2 = async () => {
      const [first, second] = [heldAnswer({ text: ['At ', 'noon.'] }), heldAnswer({ text: ['About ', 'twelve.'] })];
      answerByModel(first.script, second.script);
      await ask('When is high tide?');
      await comparison.getByText('About', { exact: true }).waitFor();
      await comparison.getByText('At', { exact: true }).waitFor();
      return () => {
        first.goOn();
        second.goOn();
      };
    };
    const goOn = await ask2();
    await comparison.getByRole('button', { name: 'Stop this answer' }).last().click();
    await comparison.getByText('Stopped.').waitFor();
    expect(await comparison.getByRole('button', { name: 'Stop this answer' }).count()).toBe(1);
    goOn();
    await comparison.getByText('At noon.').waitFor();
    const again = await ask2();
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await expect.poll(() => comparison.getByText('Stopped.').count()).toBe(2);
    again();
  });

  it('stand below each other on a phone, in German, in the dark', async () => {
    const { page, comparison, ask, choose } = await openChat({ width: 390, height: 844, locale: 'de-DE', scheme: 'dark' });
    await choose(/^Vergleichen mit/, 'lab/other-model', /^Übernehmen$/);
    upstream.next({ text: 'Um zwölf.' }, { text: 'Gegen Mittag.' });
    await ask('Wann ist Flut?');
    await comparison.getByText('Um zwölf.').waitFor();
    await comparison.getByText('Gegen Mittag.').waitFor();
    const boxes = await Promise.all((await comparison.getByRole('article').all()).map((column) => column.boundingBox()));
    expect(boxes[1]?.y).toBeGreaterThan(boxes[0]?.y ?? 0);
    expect(boxes[1]?.x).toBe(boxes[0]?.x);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    const send = await page.getByRole('button', { name: 'Senden' }).boundingBox();
    expect((send?.x ?? 390) + (send?.width ?? 0)).toBeLessThanOrEqual(390);
    await checkScreen(page, 'chat-compare-phone');
  });

  it('begin with a new chat, and a refusal is said while the first answer goes on', async () => {
    const { page } = await openConsole(service, ann, `/?agent=${agentId}`);
    await page.getByRole('button', { name: 'Compare with…' }).click();
    await page.getByRole('checkbox', { name: 'Poet' }).check();
    await checkScreen(page, 'chat-compare-dialog');
    await page.getByRole('dialog').getByRole('button', { name: 'Apply' }).click();
    upstream.next({ text: 'Red.' });
    await page.route('**/graphql', (route) =>
      route.request().postData()?.includes('mutation ChatCompare(') === true
        ? route.fulfill({ json: { data: null, errors: [{ message: 'Gone', extensions: { code: 'NOT_FOUND' } }] } })
        : route.fallback(),
    );
    await page.getByRole('textbox', { name: 'Message' }).fill('Roses?');
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Transcript' }).getByText('Red.').waitFor();
    expect(await page.getByRole('list', { name: 'Compared with' }).getByText('Poet').count()).toBe(1);
  });
});
