import { membersOf, readString } from '../../../../lib/json/json.ts';
import { SourceError } from '../error.ts';
import { parseWait, type ServiceReply } from '../service-client/client.ts';

/** What a refusal of Microsoft Graph means where its code says more than its status. */
export function graphRefusal(reply: ServiceReply): SourceError | undefined {
  const codes = readCodes(reply.body);
  if (reply.status === 403 && codes.some((code) => code === 'activityLimitReached' || code === 'throttledRequest')) {
    const wait = parseWait(reply.headers['retry-after']);
    return new SourceError('RATE_LIMITED', 'OneDrive asks to be called less often. It is tried again later.', wait);
  }
  if (reply.status === 403 && codes.includes('malwareDetected')) {
    return new SourceError('FORBIDDEN', 'OneDrive holds the file for harmful and does not let it be downloaded.');
  }
  if (reply.status === 423) return new SourceError('UNREACHABLE', 'The file is locked in OneDrive. It is tried again later.');
  return undefined;
}

/** The code of an error, and the more exact ones inside it. */
function readCodes(body: Buffer): readonly string[] {
  const codes: string[] = [];
  try {
    let error = membersOf(membersOf(JSON.parse(body.toString('utf8'))).error);
    for (let depth = 0; depth < 5; depth += 1) {
      const code = readString(error.code);
      if (code !== undefined) codes.push(code);
      error = membersOf(error.innerError ?? error.innererror);
    }
  } catch {
    // No JSON: the status says all there is.
  }
  return codes;
}
