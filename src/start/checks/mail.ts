import { createMailer, mailProblem } from '../../engine/mail/mailer.ts';
import type { Settings } from '../../settings.ts';
import { type Finding, good, wrong } from './finding.ts';

/** Whether the mail server takes the user and the password of SMTP_URL. Sends nothing. */
export async function checkMail(settings: Settings): Promise<readonly Finding[]> {
  const mailer = await createMailer(settings);
  if (mailer === undefined) return [];
  try {
    await mailer.verify();
    // Whether a server takes mail of anybody, only a mail would show.
    const acceptedNote = 'The mail server of SMTP_URL takes its user and password.';
    return [
      good(
        'mail',
        mailer.hasLogin ? acceptedNote : 'The mail server of SMTP_URL answers. SMTP_URL names no user, so no sign-in was tried.',
      ),
    ];
  } catch (error) {
    return [wrong('mail', mailProblem(error).message, 'Correct SMTP_URL, or unset it: invitations then are links to copy.')];
  } finally {
    mailer.close();
  }
}
