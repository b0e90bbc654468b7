import { decodeFrame, encodeFrame } from '../../../../lib/frame.ts';
import type { WorkbookRequest } from '../request.ts';

/** Reads one request and a workbook from standard input, and writes the answer and the new workbook to standard output. */
const input: Buffer[] = [];
for await (const part of process.stdin) input.push(part as Buffer);
const { header, body } = decodeFrame(Buffer.concat(input));
const { work } = await import('./operations.ts');
const { WorkbookFault } = await import('./fault.ts');
process.stdout.write(answer(), () => process.exit(0));

function answer(): Buffer {
  try {
    const { answer: workbookAnswer, bytes } = work(header as unknown as WorkbookRequest, body);
    return encodeFrame(workbookAnswer, bytes === undefined ? [] : [bytes]);
  } catch (error) {
    // The message of a library may name paths of this machine.
    const message = error instanceof WorkbookFault ? error.message : 'The workbook or its formulas cannot be worked with';
    return encodeFrame({ error: message }, []);
  }
}
