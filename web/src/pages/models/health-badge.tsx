// The health of a model, with the reason in a tooltip, and of each of its targets: icon and word.
import type { ModelAnswer } from '../../../../src/admin/contract/models.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import { BanIcon, CheckIcon, ClockIcon, InfoIcon, WarningIcon } from '../../parts/icons.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import styles from './models.module.css'

const looks = {
  uncalled: { tone: 'neutral', icon: InfoIcon },
  answering: { tone: 'good', icon: CheckIcon },
  failing: { tone: 'bad', icon: WarningIcon },
  resting: { tone: 'bad', icon: ClockIcon },
  degraded: { tone: 'warn', icon: WarningIcon },
  unavailable: { tone: 'neutral', icon: BanIcon },
} as const

export function HealthBadge({ model: { health, reason } }: { readonly model: ModelAnswer }) {
  const { t } = useTranslation()
  const { tone, icon: Icon } = looks[health]
  return (
    <StatusBadge
      tone={tone}
      icon={<Icon size={13} />}
      word={t(`health.${health}.word`)}
      explanation={reason ?? t(`health.${health}.why`)}
    />
  )
}

type TargetBadgeProps = { readonly target: ModelAnswer['targets'][number] }

export function TargetBadge({ target }: TargetBadgeProps) {
  const { standing, failure, rests_until: until } = target
  const { t } = useTranslation()
  const format = useFormat()
  const { tone, icon: Icon } = looks[standing]
  return (
    <>
      <StatusBadge tone={tone} icon={<Icon size={13} />} word={t(`health.${standing}.word`)} />
      {failure !== null && (
        <div className={styles['sub']}>
          {failure.code}
          {failure.refusal !== null && `: ${failure.refusal}`}
        </div>
      )}
      {until !== null && (
        <div className={styles['sub']}>
          {t('modelsPage.until', { moment: format.dateTime(until) })}
        </div>
      )}
    </>
  )
}
