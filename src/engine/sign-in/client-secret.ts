import * as oidc from 'openid-client';
import { findStatus, listCauses } from './provider-error.ts';

/** How the secret of the client is sent: in the body, or in the header. */
export type SecretMethod = 'client_secret_post' | 'client_secret_basic';

/**
 * The ways in which the secret may be sent, the likely one first. In the header it is escaped, which some providers do not undo (RFC 6749, 2.3.1), so the body
 * comes first where it is offered. What a provider offers need not be what it takes of this client, so the other way is there in every case.
 *
 * @param offered  of the discovery document; absent: the header.
 */
export function secretMethods(methodNames: readonly string[] | undefined): readonly SecretMethod[] {
  return methodNames?.includes('client_secret_post') === true
    ? ['client_secret_post', 'client_secret_basic']
    : ['client_secret_basic', 'client_secret_post'];
}

export function toClientAuth(method: SecretMethod, secret: string): oidc.ClientAuth {
  return method === 'client_secret_post' ? oidc.ClientSecretPost(secret) : oidc.ClientSecretBasic(secret);
}

/** Whether the token endpoint did not take the client itself. Such a refusal uses no code up. */
export function isClientRefused(error: unknown): boolean {
  const body = listCauses(error).find((cause) => cause instanceof oidc.ResponseBodyError);
  return body === undefined
    ? findStatus(error) === 401
    : body.error === 'invalid_client' || body.error === 'unauthorized_client' || body.status === 401;
}
