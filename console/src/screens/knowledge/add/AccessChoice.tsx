import { useId } from 'react';
import people from '../../../parts/people/people.module.css';
import { useText } from '../../../text/text.ts';
import type { SourceAccess } from '../documents.ts';

/** Whose rights decide what is found in a source, in two sentences. */
export function AccessChoice({
  value,
  isPushed = false,
  onChange,
}: {
  /** Whether a program pushes the documents, with those who may open them. */
  readonly isPushed?: boolean;
  readonly value: SourceAccess;
  readonly onChange: (access: SourceAccess) => void;
}) {
  const { t } = useText();
  const name = useId();
  const choices = [
    {
      id: 'MIRRORED',
      title: isPushed ? t('What a program says that they may open') : t('What they may open there themselves'),
      hint: isPushed
        ? t(
            'A program pushes the documents with those who may open each. Each person is answered from those, and from no others.',
          )
        : t('Each person is answered from the documents that this person may open at the source, and from no others.'),
    },
    {
      id: 'LENT',
      title: isPushed ? t('All of it') : t('All that the account reads'),
      hint: isPushed
        ? t('Everybody who may use the agent is answered from the content that stands here.')
        : t('Everybody who may use the agent is answered from every document that the connected account reads.'),
    },
  ] as const;
  return (
    <fieldset className={people.options}>
      <legend>{t('What do people find in it?')}</legend>
      <div className={people.cards}>
        {choices.map(({ id, title, hint }) => (
          <label key={id} className={people.option}>
            <input type="radio" name={name} checked={id === value} onChange={() => onChange(id)} />
            <span>
              {title}
              <span className={people.quiet}>{hint}</span>
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
