// Counts of the keys that need attention, by reason; pressing one filters the list.
import { KEY_CONCERNS } from '../../../../src/admin/contract/keys.ts'
import type { KeyPage } from '../../../../src/admin/contract/keys.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import styles from './concern-chips.module.css'

type Concern = (typeof KEY_CONCERNS)[number]

type ConcernChipsProps = {
  /** Undefined until they are known. */
  readonly counts: KeyPage['counts'] | undefined
  readonly pressed: Concern | undefined
  readonly onPress: (concern: Concern | undefined) => void
}

export function ConcernChips({ counts, pressed, onPress }: ConcernChipsProps) {
  const { t } = useTranslation()
  const format = useFormat()
  return (
    <div className={styles['chips']} role="group" aria-label={t('overview.concerns')}>
      {KEY_CONCERNS.map((concern) => (
        <button
          key={concern}
          type="button"
          className={styles['chip']}
          data-count={counts?.[concern]}
          aria-pressed={pressed === concern}
          onClick={() => onPress(pressed === concern ? undefined : concern)}
        >
          {t(`concern.${concern}`)}
          <strong>{counts ? format.number(counts[concern]) : '–'}</strong>
        </button>
      ))}
    </div>
  )
}
