// The models of one provider as a group of checkboxes; the provider's own is checked, unchecked or indeterminate.
import { Checkbox } from '@mantine/core'
import type { ModelAnswer } from '../../../../../src/admin/contract/models.ts'
import { useFormat } from '../../../i18n/use-format.ts'
import { useTranslation } from '../../../i18n/use-translation.ts'
import type { ModelGroup } from './model-choice.ts'
import styles from './model-picker.module.css'

type ModelGroupFieldsProps = {
  readonly group: ModelGroup
  readonly chosen: readonly string[]
  readonly onSet: (ids: readonly string[], isChosen: boolean) => void
}

export function ModelGroupFields({ group, chosen, onSet }: ModelGroupFieldsProps) {
  const { t } = useTranslation()
  const ids = group.models.map(({ id }) => id)
  const count = ids.filter((id) => chosen.includes(id)).length
  return (
    <fieldset className={styles['group']}>
      <legend>
        <Checkbox
          label={t('picker.group', {
            name: group.provider ?? t('picker.withoutProvider'),
            count,
            of: ids.length,
          })}
          checked={count === ids.length}
          indeterminate={count > 0 && count < ids.length}
          onChange={({ currentTarget }) => onSet(ids, currentTarget.checked)}
        />
      </legend>
      <ul className={styles['models']}>
        {group.models.map((model) => (
          <li key={model.id} className={styles['model']}>
            <Checkbox
              label={model.id}
              checked={chosen.includes(model.id)}
              onChange={({ currentTarget }) => onSet([model.id], currentTarget.checked)}
            />
            <span className={styles['price']}>
              <PriceWords model={model} />
            </span>
          </li>
        ))}
      </ul>
    </fieldset>
  )
}

/** Prices per million tokens, input and output. */
function PriceWords({ model }: { readonly model: ModelAnswer }) {
  const { t } = useTranslation()
  const format = useFormat()
  if (!model.available) return <>{t('picker.unavailable')}</>
  if (model.price === null) return <>{t('picker.noPrice')}</>
  const { input, output } = model.price
  return (
    <span title={t('picker.perMillion')}>
      {model.kind === 'embedding'
        ? format.money(input)
        : t('picker.price', { input: format.money(input), output: format.money(output) })}
    </span>
  )
}
