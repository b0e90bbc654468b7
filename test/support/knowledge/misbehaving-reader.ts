import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { DocumentBytes } from '../../../src/engine/knowledge/extract/document.ts';
import { DocumentWriter } from '../../../src/engine/knowledge/extract/document-writer.ts';
import { serveReader } from '../../../src/engine/knowledge/extract/serve.ts';

/** A reader process whose documents say how it misbehaves. */
await serveReader(async () => async (document, textMaxChars) => {
  const text = Buffer.from(document.bytes).toString();
  const writer = new DocumentWriter(textMaxChars);
  writer.block('paragraph', await misbehave(text, document));
  // Sent as it is: the parent validates it.
  if (text.startsWith('omit ')) writer.omit(text.slice('omit '.length) as never);
  return writer.finish('text/plain');
});

async function misbehave(text: string, document: DocumentBytes): Promise<string> {
  const [order, argument = ''] = text.split(' ');
  switch (order) {
    case 'loop':
      for (;;);
    case 'work':
      for (const before = process.cpuUsage(); process.cpuUsage(before).user < 1_000 * Number(argument); );
      return 'It is done.';
    case 'never':
      return new Promise<string>(() => undefined);
    case 'grow-buffers':
      for (const hoard: Buffer[] = []; ; ) hoard.push(Buffer.alloc(4 * 1024 * 1024, 1));
    case 'grow-heap':
      for (const hoard: string[][] = []; ; ) hoard.push(Array.from({ length: 1000 }, (_, index) => `${index}-${hoard.length}`));
    case 'exit':
      process.exit(3);
      break;
    case 'pid':
      return String(process.pid);
    case 'environment':
      return JSON.stringify(process.env);
    case 'try':
      return attempt(argument, document);
    default:
      return text;
  }
  return text;
}

/** Tries what hostile code in a document would try; returns what prevented it. */
async function attempt(what: string, { filename }: DocumentBytes): Promise<string> {
  try {
    if (what === 'read') readFileSync(filename);
    else if (what === 'write') (await import('node:fs')).writeFileSync(filename, 'x');
    else if (what === 'spawn') (await import('node:child_process')).execFileSync('id');
    else if (what === 'connect') await once((await import('node:net')).connect(1, '127.0.0.1'), 'connect');
    else if (what === 'fetch') await fetch('http://127.0.0.1:1/');
    else if (what === 'eval') new Function('return 1')();
    return 'it worked';
  } catch (error) {
    return `stopped: ${error instanceof Error ? error.message : String(error)}`;
  }
}
