// The usage and cost of all keys: over time, by key, model, provider or endpoint, and as a download.
import { getRouteApi } from '@tanstack/react-router'
import { useTranslation } from '../../i18n/use-translation.ts'
import { PageHeader } from '../../parts/page-header.tsx'
import { UsageView } from '../../usage/usage-view.tsx'

const route = getRouteApi('/app/settings/usage')

export function UsagePage() {
  const { t } = useTranslation()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <>
      <PageHeader title={t('nav.usage')} about={t('usage.about')} />
      <UsageView
        search={search}
        onChange={(next) =>
          void navigate({ search: (old) => ({ ...old, ...next }), replace: true })
        }
      />
    </>
  )
}
