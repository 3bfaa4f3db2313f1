// The age of the figures, as a button that refreshes them.
import { Button } from '@mantine/core'
import { useFormat } from '../../i18n/use-format.ts'
import { useNow } from '../../i18n/use-now.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import { RotateIcon } from '../../parts/icons.tsx'

type FreshnessProps = {
  readonly asOf: string
  readonly isFetching?: boolean
  readonly onRefresh: () => void
}

export function Freshness({ asOf, isFetching, onRefresh }: FreshnessProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const now = useNow()
  return (
    <Button
      variant="subtle"
      color="gray"
      size="compact-sm"
      fw={400}
      c="dimmed"
      leftSection={<RotateIcon size={14} />}
      onClick={onRefresh}
      disabled={isFetching}
    >
      {t('overview.updated', { when: format.relative(asOf, Math.max(now, Date.parse(asOf))) })}
      <span className="visually-hidden">. {t('overview.refresh')}</span>
    </Button>
  )
}
