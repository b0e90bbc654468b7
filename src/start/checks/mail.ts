import { createMailer, mailProblem } from '../../engine/mail/mailer.ts';
import type { Settings } from '../../settings.ts';
import { type Finding, good, wrong } from './finding.ts';

/** Whether the mail server takes the user and the password of SMTP_URL. Sends nothing. */
export async function checkMail(settings: Settings): Promise<readonly Finding[]> {
  const mailer = await createMailer(settings);
  if (mailer === undefined) return [];
  try {
    await mailer.verify();
    return [good('mail', 'The mail server of SMTP_URL takes mail.')];
  } catch (error) {
    return [wrong('mail', mailProblem(error).message, 'Correct SMTP_URL, or unset it: invitations then are links to copy.')];
  } finally {
    mailer.close();
  }
}
