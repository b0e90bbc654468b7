import { useState } from 'react';
import { useMutate } from '../../graphql/hooks.ts';
import { useText } from '../../text/text.ts';
import { Badge, ErrorNote } from '../../ui/feedback.tsx';
import { Button } from '../../ui/form/button.tsx';
import { useFaultWords } from '../../ui/form/faults/words.ts';
import { Section, Table } from '../../ui/page.tsx';
import { formatMs } from '../../ui/small.tsx';
import { type InstallationQuery, TestModelDocument, type TestModelMutation } from './documents.ts';
import styles from './installation.module.css';

type Model = InstallationQuery['installation']['models'][number];

/** The models that agents may use, with a button that asks one a short question. */
export function Models({ models, currency }: { readonly models: readonly Model[]; readonly currency: string }) {
  const { t } = useText();
  return (
    <Section title={t('Models')} lead={t('A test asks one short question, which costs as any call does.')}>
      <Table label={t('Models')}>
        <thead>
          <tr>
            <th scope="col">{t('Model')}</th>
            <th scope="col" className={styles.number}>
              {t('Context')}
            </th>
            <th scope="col" className={styles.number}>
              {t('Price of a million tokens, in and out')}
            </th>
            <th scope="col">{t('Test')}</th>
          </tr>
        </thead>
        <tbody>
          {models.map((model) => (
            <ModelRow key={model.id} model={model} currency={currency} />
          ))}
        </tbody>
      </Table>
    </Section>
  );
}

function ModelRow({ model, currency }: { readonly model: Model; readonly currency: string }) {
  const { t, number } = useText();
  const { describeFault } = useFaultWords();
  const { run, isBusy, error } = useMutate(TestModelDocument);
  const [result, setResult] = useState<TestModelMutation['testModel']>();
  const { id, contextTokensMax, acceptsImages, isPremium, inputPricePerMillionTokens, outputPricePerMillionTokens } = model;
  const price = (value: number | null) => (value === null ? '–' : number(value, { style: 'currency', currency }));
  const test = async () => setResult((await run({ id }))?.testModel);
  return (
    <tr>
      <th scope="row">
        {id} {acceptsImages ? <Badge>{t('Images')}</Badge> : null}{' '}
        {isPremium ? <Badge tone="accent">{t('Premium')}</Badge> : null}
      </th>
      <td className={styles.number}>{number(contextTokensMax)}</td>
      <td className={styles.number}>
        {price(inputPricePerMillionTokens)} · {price(outputPricePerMillionTokens)}
      </td>
      <td>
        <span className={styles.test}>
          <Button size="small" isBusy={isBusy} aria-label={t('Test {model}', { model: id })} onClick={() => void test()}>
            {t('Test')}
          </Button>
          {result === undefined || isBusy ? null : result.ok ? (
            <Badge tone="good">
              {t('Answers after {first}, done after {all}', {
                first: formatMs(result.firstTokenMs ?? result.durationMs, number),
                all: formatMs(result.durationMs, number),
              })}
            </Badge>
          ) : (
            <span className={styles.problem} role="alert">
              {result.error === null ? t('It does not answer.') : describeFault(result.error)}
            </span>
          )}
        </span>
        <ErrorNote error={error} />
      </td>
    </tr>
  );
}
