// How a model fares: icon and word, with the reason for those who ask.
import type { ModelAnswer } from '../../../../src/admin/contract/models.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import { BanIcon, CheckIcon, WarningIcon } from '../../parts/icons.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'

const looks = {
  up: { tone: 'good', icon: CheckIcon },
  degraded: { tone: 'warn', icon: WarningIcon },
  down: { tone: 'bad', icon: WarningIcon },
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
