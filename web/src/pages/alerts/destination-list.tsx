// Alert destinations: webhooks and e-mail addresses, each with a switch and a button that sends a sample.
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { DestinationAnswer } from '../../../../src/admin/contract/alerts.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ErrorAlert } from '../../parts/error-alert.tsx'
import { BellIcon, PlusIcon } from '../../parts/icons.tsx'
import { useSession } from '../../session.ts'
import { destinationsQuery } from './alert-queries.ts'
import { DestinationTable } from './destination-table.tsx'
import { NewDestinationDialog } from './new-destination-dialog.tsx'
import { RemoveDestinationDialog } from './remove-destination-dialog.tsx'
import styles from './alerts.module.css'

export function DestinationList() {
  const { t } = useTranslation()
  const { may } = useSession()
  const answer = useQuery(destinationsQuery)
  const [open, setOpen] = useState<DestinationAnswer | 'new'>()
  const close = () => setOpen(undefined)
  const rows = answer.data?.destinations
  return (
    <section>
      <div className={styles['head']}>
        <h2>{t('alerts.destinations')}</h2>
        {may('configuration:manage') && (
          <Button variant="default" leftSection={<PlusIcon />} onClick={() => setOpen('new')}>
            {t('alerts.add')}
          </Button>
        )}
      </div>
      {answer.error && !rows ? (
        <ErrorAlert
          title={t('alerts.failed')}
          error={answer.error}
          onRetry={() => void answer.refetch()}
        />
      ) : rows?.length === 0 ? (
        <div className="card">
          <EmptyState icon={<BellIcon size={22} />} title={t('alerts.noDestinations')}>
            {t('alerts.noDestinationsAbout')}
          </EmptyState>
        </div>
      ) : (
        <DestinationTable rows={rows} onRemove={setOpen} />
      )}
      {open === 'new' && (
        <NewDestinationDialog
          isEmailAvailable={answer.data?.email_available ?? false}
          onClose={close}
        />
      )}
      {typeof open === 'object' && <RemoveDestinationDialog destination={open} onClose={close} />}
    </section>
  )
}
