import { ParleyError } from '@parley/client';
import { run } from '../../graphql/client.ts';
import type { Text } from '../../text/text.ts';
import { AddPasskeyDocument, BeginPasskeyDocument } from './documents.ts';

/** Characters of the shortest password. */
export const passwordLengthMin = 12;

/** Has the device make a passkey for the person who is signed in, and adds it. @throws ParleyError with words for the reader */
export async function createPasskey(t: Text['t'], name: string): Promise<void> {
  const { beginPasskey } = await run(BeginPasskeyDocument, {});
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(JSON.parse(beginPasskey.options));
  const response = await askDevice(t, () => navigator.credentials.create({ publicKey }));
  await run(AddPasskeyDocument, { input: { name, response: JSON.stringify(response) } });
}

/** What the device of the person makes or signs, as JSON. @throws ParleyError with words for the reader */
export async function askDevice(t: Text['t'], ask: () => Promise<Credential | null>): Promise<object> {
  const refusal = t('The passkey was not used. Try again, or sign in another way.');
  try {
    const credential = await ask();
    if (credential instanceof PublicKeyCredential) return credential.toJSON();
  } catch (error) {
    const isDouble = error instanceof DOMException && error.name === 'InvalidStateError';
    throw new ParleyError(isDouble ? t('This device has a passkey of yours already.') : refusal);
  }
  throw new ParleyError(refusal);
}
