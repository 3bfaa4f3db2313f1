// Every setting of the key, read-only.
import { Button, Group } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { numberWord } from '../../../audit/change-lines.ts'
import type { NumberField } from '../../../audit/change-lines.ts'
import { useFormat } from '../../../i18n/use-format.ts'
import { useTranslation } from '../../../i18n/use-translation.ts'
import { useSession } from '../../../session.ts'
import { useRateWords } from '../rate-words.ts'
import type { TabProps } from './requests-tab.tsx'
import styles from './detail.module.css'

export function SettingsTab({ detail }: TabProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const rates = useRateWords()(detail)
  const { may } = useSession()
  const none = t('changes.nothing')
  const facts: readonly (readonly [string, string])[] = [
    [t('detail.id'), detail.id],
    [t('keyField.description'), detail.description ?? none],
    [t('keyField.owner'), detail.owner ?? none],
    [t('keyField.environment'), detail.environment ?? none],
    [t('keyForm.field.mode'), t(`keyForm.mode.${detail.mode}`)],
    [t('keyField.tags'), detail.tags.join(', ') || none],
    [t('keyField.budget'), budgetWords()],
    [t('keyForm.field.when_tight'), t(`keyForm.whenTight.${detail.when_tight}`)],
    [t('keyField.alert_thresholds'), listed('alert_thresholds')],
    [t('column.limits'), rates ?? t('rates.none')],
    [
      t('keyForm.field.permissions'),
      format.list(detail.permissions.map((endpoint) => t(`endpoint.${endpoint}`))),
    ],
    [t('detail.created'), format.dateTime(detail.created_at)],
    [t('keyField.expires_at'), detail.expires_at ? format.dateTime(detail.expires_at) : t('never')],
    ...(detail.expires_at === null
      ? []
      : [[t('keyField.expiry_reminders'), listed('expiry_reminders')] as const]),
    [
      t('column.last_used'),
      detail.last_used_at ? format.dateTime(detail.last_used_at) : t('never'),
    ],
  ]
  return (
    <div className="card">
      <dl className={styles['settings']}>
        {facts.map(([name, value]) => (
          <div key={name} className={styles['fact']}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {may('configuration:manage') && detail.status !== 'revoked' && (
        <Group mt="lg">
          <Button component={Link} to={`/settings/api-access/${detail.id}/edit`} variant="default">
            {t('action.edit')}
          </Button>
        </Group>
      )}
    </div>
  )

  function listed(field: NumberField): string {
    return (
      format.list(detail[field].map((count) => numberWord(field, count, { t, format }))) || none
    )
  }

  function budgetWords(): string {
    if (detail.budget === null) return t('budget.noOwnLimit')
    const per = `${format.money(detail.budget)} ${t(`periodShort.${detail.period}`)}`
    return `${per}, ${detail.timezone}`
  }
}
