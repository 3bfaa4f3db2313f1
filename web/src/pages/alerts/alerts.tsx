// Alerts: the budget thresholds that send one, the destinations, and the result of each delivery.
import { Stack } from '@mantine/core'
import { useTranslation } from '../../i18n/use-translation.ts'
import { PageHeader } from '../../parts/page-header.tsx'
import { DeliveryLog } from './delivery-log.tsx'
import { DestinationList } from './destination-list.tsx'
import { Thresholds } from './thresholds.tsx'

export function AlertsPage() {
  const { t } = useTranslation()
  return (
    <>
      <PageHeader title={t('nav.alerts')} about={t('alerts.about')} />
      <Stack gap="xl">
        <DestinationList />
        <Thresholds />
        <DeliveryLog />
      </Stack>
    </>
  )
}
