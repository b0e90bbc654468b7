import { cutText, oneLine } from '../../../../lib/text/text.ts';
import { EgressError } from '../../../egress/error.ts';
import { SourceError } from '../../../knowledge/connectors/error.ts';
import { masker } from '../../secrets/masking.ts';

const wordsMax = 300;
/** With these a grant or a client has ended: the person has to agree again. */
const endings = ['invalid_grant', 'invalid_client', 'unauthorized_client'];

/**
 * Why an authorization server gave no tokens, in words for the person who connects. Its own words are masked: they may repeat what was sent.
 *
 * @param secrets  what was sent to it.
 */
export async function toAuthorizationError(error: unknown, secrets: readonly string[]): Promise<unknown> {
  if (error instanceof SourceError) return error;
  if (error instanceof EgressError) {
    return new SourceError('UNREACHABLE', `The authorization server cannot be used now: ${error.message}.`);
  }
  const sdk = await import('@modelcontextprotocol/client');
  const words = (text: string) => cutText(oneLine(masker(secrets)(text)), wordsMax);
  if (error instanceof sdk.OAuthError) {
    const { code, message } = error;
    if (endings.includes(code)) {
      return new SourceError('AUTH', `The authorization server does not accept the grant any more (${code}): sign in again.`);
    }
    // What does not keep to the protocol, such as the page of a proxy, is in the message as a whole.
    if (/Raw body:/.test(message)) return new SourceError('UNREACHABLE', 'The authorization server failed, and gave no token.');
    const kind = code === 'server_error' || code === 'temporarily_unavailable' ? 'UNREACHABLE' : 'BAD_REPLY';
    return new SourceError(kind, `The authorization server refuses (${words(code)}): ${words(message)}`);
  }
  if (error instanceof sdk.IssuerMismatchError) {
    return new SourceError(
      'BAD_REPLY',
      'The authorization server is another one than the MCP server names: no token is taken from it.',
    );
  }
  if (error instanceof sdk.RegistrationRejectedError) {
    const message = `The authorization server refuses to register Parley (${error.status}). Register it there by hand, and give its clientId.`;
    return new SourceError('CONFIGURATION', message);
  }
  if (!(error instanceof Error) || error.name === 'AbortError' || error.name === 'TimeoutError') return error;
  return new SourceError('BAD_REPLY', 'The authorization server does not answer as the protocol says.');
}
