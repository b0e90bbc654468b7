import type { Page } from 'playwright-core';

/** Holds back what the service answers to the next operation of a kind and name: `mutation ChatSend`. */
export async function holdReply(page: Page, operation: string) {
  const { promise: gate, resolve: release } = Promise.withResolvers<void>();
  const { promise: isAnswered, resolve: noteAnswer } = Promise.withResolvers<void>();
  let isHeld = false;
  await page.route('**/graphql', async (route) => {
    if (isHeld || route.request().postData()?.includes(`${operation}(`) !== true) return route.fallback();
    isHeld = true;
    const response = await route.fetch();
    noteAnswer();
    await gate;
    await route.fulfill({ response });
  });
  const letGo = async () => {
    const isRead = page.waitForEvent('requestfinished', (request) => request.postData()?.includes(`${operation}(`) === true);
    release();
    await isRead;
    // The page takes the reply, and draws what it says.
    await page.evaluate(async () => {
      await fetch('/healthz');
      for (let frame = 0; frame < 5; frame += 1) await new Promise(requestAnimationFrame);
    });
  };
  return { isAnswered, letGo };
}
