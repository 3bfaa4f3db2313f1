// The chosen models, each with a button to remove it. A model that left the catalogue stays, marked as gone.
import { ActionIcon } from '@mantine/core'
import type { ModelAnswer } from '../../../../../src/admin/contract/models.ts'
import { useTranslation } from '../../../i18n/use-translation.ts'
import { CrossIcon } from '../../../parts/icons.tsx'
import styles from './model-picker.module.css'

type ChosenModelsProps = {
  readonly chosen: readonly string[]
  readonly all: readonly ModelAnswer[]
  readonly onRemove: (id: string) => void
}

export function ChosenModels({ chosen, all, onRemove }: ChosenModelsProps) {
  const { t } = useTranslation()
  const available = new Set(all.filter((model) => model.available).map(({ id }) => id))
  return (
    <div className={styles['pane']}>
      <div className={styles['paneHead']}>
        <span role="status">{t('picker.chosen', { count: chosen.length })}</span>
      </div>
      <div className={styles['list']} tabIndex={chosen.length > 0 ? 0 : undefined}>
        {chosen.length === 0 && <p className="muted">{t('picker.nothing')}</p>}
        <ul className={styles['chosen']} aria-label={t('picker.chosenLabel')}>
          {chosen.toSorted().map((id) => (
            <li key={id}>
              <span>
                {id}
                {all.length > 0 && !available.has(id) && (
                  <span className={styles['price']}> · {t('picker.unavailable')}</span>
                )}
              </span>
              <ActionIcon
                variant="subtle"
                color="gray"
                size="sm"
                aria-label={t('picker.remove', { model: id })}
                onClick={() => onRemove(id)}
              >
                <CrossIcon size={12} />
              </ActionIcon>
            </li>
          ))}
        </ul>
      </div>
    </div>
  )
}
