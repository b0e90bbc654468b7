import type { ErrorOut, KoaContextWithOIDC } from 'oidc-provider';
import { renderPage } from '../http/page/page.ts';
import { escapeHtml } from '../lib/text/html.ts';

const words: Readonly<Record<string, string>> = {
  invalid_client: 'The service does not know the program that sent you here.',
  invalid_redirect_uri: 'The program that sent you here wants its answer at an address that it has not registered.',
  session_not_found: 'This request is no longer open. Begin again in the program that sent you here.',
};

/** Says in words why a request goes no further. Nothing in it leads away from the service. */
export function explain(ctx: KoaContextWithOIDC, { error, error_description: detail }: ErrorOut): void {
  const sentence = words[error] ?? 'The program that sent you here has asked for something that cannot be done.';
  const main = `<h1>Not connected</h1>
<p>${escapeHtml(sentence)}</p>
<p><code>${escapeHtml(error)}</code>${detail === undefined || detail === '' ? '' : ` ${escapeHtml(detail)}`}</p>`;
  ctx.type = 'html';
  ctx.body = renderPage({ title: 'Not connected', main });
}
