// When alerts about a key are sent: at shares of its budget, and on days before it expires. Both are lists of numbers,
// and both reach the same destinations.
import { TagsInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useTranslation } from '../../../i18n/use-translation.ts'
import { destinationsQuery } from '../../alerts/alert-queries.ts'
import type { FieldsProps } from './field-props.ts'
import styles from './key-form.module.css'
import { fieldId } from './use-key-form.ts'

const offered = {
  alert_thresholds: ['25', '50', '80', '90', '100'],
  expiry_reminders: ['60', '30', '14', '10', '7', '3', '1'],
} as const

type AlertFieldsProps = FieldsProps & { readonly field: keyof typeof offered }

export function AlertFields({ form, field }: AlertFieldsProps) {
  const { t } = useTranslation()
  const answer = useQuery(destinationsQuery)
  const reached = answer.data?.destinations.filter(({ enabled }) => enabled).length
  return (
    <div>
      <TagsInput
        id={fieldId(field)}
        label={t(`keyForm.field.${field}`)}
        description={t('keyForm.hint.tags')}
        data={[...offered[field]]}
        inputMode="numeric"
        {...form.getInputProps(field)}
      />
      {reached !== undefined && form.values[field].length > 0 && (
        <p className={styles['hint']}>
          {reached === 0 ? t('keyForm.hint.nobody') : t('keyForm.hint.alerts', { count: reached })}{' '}
          <Link to="/settings/alerts">{t('keyForm.hint.alertsLink')}</Link>
        </p>
      )}
    </div>
  )
}
