import { mailProblem } from '../../../engine/mail/mailer.ts';
import { hashSecret } from '../../../entities/people/api-key.ts';
import { invitationPath } from '../../../entities/people/invitation.ts';
import { makeSignInSecret } from '../../../entities/people/session.ts';
import type { ShareOwner } from '../../../lib/flow/fair-share.ts';
import { escapeHtml } from '../../../lib/text/html.ts';
import type { Transaction } from '../../../storage/ground/database.ts';
import type { Deps } from '../../deps.ts';

const job = 'accounts.mail-invitation';
/** With the delays between them, some six hours: mail servers that know a sender not yet may refuse for an hour. */
const attemptsMax = 13;

/** Queues the mail of an invitation, in the transaction that makes it. */
export function firstAttempt({ jobs }: Deps, owner: ShareOwner, invitationId: string, tx: Transaction): Promise<void> {
  return jobs.enqueue(job, { invitationId }, { owner, tx });
}

/**
 * Registers the job that sends the mail of an invitation. Each attempt makes a secret of its own, which stands in the mail and nowhere else: neither the
 * row nor the job could be used to accept the invitation.
 */
export function registerInvitationMail(deps: Deps): void {
  deps.jobs.work(job, { concurrency: 4 }, async ({ invitationId, attempt: formerAttempt }, _signal, { attempt, owner }) => {
    const { storage, mailer, logger, jobs } = deps;
    // A job keeps the delays of the version that queued it.
    if (formerAttempt !== undefined) return jobs.enqueue(job, { invitationId }, { owner });
    const { invitations } = storage.people;
    const invitation = await invitations.findOpenById(invitationId, deps.now());
    if (invitation?.delivery !== 'WAITING') return;
    if (mailer === undefined) {
      await invitations.noteDelivery(invitationId, 'FAILED', 'SMTP_URL is not set any more.');
      return;
    }
    const [organization] = await storage.people.accounts.findOrganizations([invitation.orgId]);
    const secret = makeSignInSecret();
    await invitations.setMailHash(invitationId, hashSecret(secret));
    try {
      const link = `${deps.publicUrl()}${invitationPath(secret)}`;
      await mailer.send({ to: invitation.email, ...writeMail(organization?.name ?? '', link, invitation.expiresAt) });
    } catch (error) {
      const { message, isFinal } = mailProblem(error);
      const isLast = isFinal || attempt >= attemptsMax;
      await invitations.noteDelivery(invitationId, isLast ? 'FAILED' : 'WAITING', message);
      if (!isLast) throw new Error(message);
      logger.warn({ invitationId, attempt, problem: message }, 'the mail of an invitation was given up');
      return;
    }
    await invitations.noteDelivery(invitationId, 'SENT', null);
  });
}

/** The words of the mail. It has no picture and no link but the one. */
function writeMail(organization: string, link: string, expiresAt: Date): { subject: string; text: string; html: string } {
  const name = organization.replaceAll(/\p{Cc}+/gu, ' ');
  const until = expiresAt.toISOString().slice(0, 10);
  const lines = [
    `You are invited to ${name} on Parley.`,
    'Accept the invitation here:',
    `The link works once, until ${until}, and for this e-mail address only. If you do not know what it is about, ignore this mail.`,
  ] as const;
  const [subject, accept, limits] = lines;
  return {
    subject: `Invitation to ${name}`,
    text: `${subject}\n\n${accept}\n${link}\n\n${limits}\n`,
    html: `<!doctype html><html lang="en"><body><p>${escapeHtml(subject)}</p><p>${accept}<br><a href="${escapeHtml(link)}">${escapeHtml(link)}</a></p><p>${limits}</p></body></html>`,
  };
}
