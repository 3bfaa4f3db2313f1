// Settings → API access: the frame and all keys.
import { useTranslation } from 'react-i18next'
import { PageHeader } from '../../parts/page-header.tsx'

export function OverviewPage() {
  const { t } = useTranslation()
  return <PageHeader title={t('nav.apiAccess')} about={t('overview.about')} />
}
