import { convertToModelMessages, createUIMessageStreamResponse, safeValidateUIMessages, streamText, toUIMessageStream } from 'ai';
import { z } from 'zod';
import { parley } from '../../../parley.ts';

const Body = z.object({ agentId: z.string().startsWith('ai_'), messages: z.array(z.unknown()) });

/** Answers the messages of `useChat` with the agent that the page picked. */
export async function POST(request: Request): Promise<Response> {
  const body = Body.safeParse(await request.json().catch(() => undefined));
  if (!body.success) return new Response(z.prettifyError(body.error), { status: 400 });
  const messages = await safeValidateUIMessages({ messages: body.data.messages });
  if (!messages.success) return new Response(messages.error.message, { status: 400 });
  const { stream } = streamText({
    model: parley.responses(body.data.agentId),
    messages: await convertToModelMessages(messages.data),
    // The page keeps the history, so Parley need not.
    providerOptions: { openai: { store: false } },
    // Parley stops working when nobody reads any more.
    abortSignal: request.signal,
  });
  return createUIMessageStreamResponse({
    // `sendSources` hands on the citations of an answer. Errors of Parley are written for people to read.
    stream: toUIMessageStream({
      stream,
      sendSources: true,
      onError: (error) => (error instanceof Error ? error.message : String(error)),
    }),
  });
}
