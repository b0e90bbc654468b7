import { useText } from '../../../text/text.ts';

/** Which model answers: that of the agent, or another one. Shows nothing where there is no choice. */
export function ModelPicker({
  models,
  own,
  chosen,
  onChoose,
}: {
  readonly models: readonly string[];
  /** The model of the agent. */
  readonly own: string | undefined;
  readonly chosen: string | undefined;
  readonly onChoose: (model: string | undefined) => void;
}) {
  const { t } = useText();
  if (models.length < 2) return null;
  return (
    <select
      aria-label={t('Model')}
      value={chosen ?? ''}
      onChange={({ target }) => onChoose(target.value === '' ? undefined : target.value)}
    >
      <option value="">{own === undefined ? t('Model of the agent') : t("Agent's model ({model})", { model: own })}</option>
      {models.map((model) => (
        <option key={model} value={model}>
          {model}
        </option>
      ))}
    </select>
  );
}
