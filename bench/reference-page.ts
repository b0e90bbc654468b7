import { existsSync } from 'node:fs';
import puppeteer, { type Browser } from 'puppeteer-core';
import type { Row } from './completions/completions.ts';
import { cores, start, untilIdle } from './completions/processes.ts';

const program = [process.env.CHROMIUM_PATH, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  (path) => path !== undefined && existsSync(path),
);
const promisedMs = 3_000;
const visits = 5;

/**
 * The time from opening /docs in Chromium until its first operation is shown: the first visit of a process and of a browser, and the median of
 * later visits by that browser. The baseline is the promised time.
 */
export async function benchReferencePage(): Promise<readonly Row[]> {
  if (program === undefined) {
    console.log('The reference page is not measured: install the package "chromium", or name its program in CHROMIUM_PATH.');
    return [];
  }
  const service = await start<{ url: string }>('service.ts', ['http://127.0.0.1:9'], cores.service);
  const browser = await puppeteer.launch({
    executablePath: program,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  });
  try {
    await untilIdle(service);
    const first = await visit(browser, `${service.ready.url}/docs`);
    const later: Visit[] = [];
    while (later.length < visits) later.push(await visit(browser, `${service.ready.url}/docs`));
    later.sort((a, b) => a.shownMs - b.shownMs);
    const median = later[Math.floor(visits / 2)] ?? first;
    const rowOf = (name: string, { shownMs, receivedKB }: Visit): Row => ({
      name: `reference page, ${name} : promised`,
      raw: promisedMs,
      ours: shownMs,
      unit: 'ms',
      floor: { ratioMax: 1 },
      note: `${Math.round(receivedKB)} KB received`,
    });
    return [rowOf('first visit', first), rowOf('later visits', median)];
  } finally {
    await browser.close();
    await service.stop();
  }
}

interface Visit {
  readonly shownMs: number;
  readonly receivedKB: number;
}

async function visit(browser: Browser, url: string): Promise<Visit> {
  const page = await browser.newPage();
  const session = await page.createCDPSession();
  let receivedBytes = 0;
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    receivedBytes += encodedDataLength;
  });
  await session.send('Network.enable');
  const begunMs = performance.now();
  await page.goto(url, { waitUntil: 'domcontentloaded', timeout: 60_000 });
  await page.waitForSelector('.opblock', { timeout: 60_000 });
  const shownMs = performance.now() - begunMs;
  await page.close();
  return { shownMs, receivedKB: receivedBytes / 1024 };
}

if (import.meta.main) {
  for (const { name, raw, ours, unit, note } of await benchReferencePage())
    console.log(`${name}\t${raw} ${unit}\t${Math.round(ours)} ${unit}\t${note ?? ''}`);
  process.exit(0);
}
