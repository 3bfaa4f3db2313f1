// An address that leads nowhere.
import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useTranslation } from '../i18n/use-translation.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { SearchIcon } from '../parts/icons.tsx'
import { PageHeader } from '../parts/page-header.tsx'

export function NotFoundPage() {
  const { t } = useTranslation()
  const home = (
    <Button component={Link} to="/">
      {t('notFound.home')}
    </Button>
  )
  return (
    <>
      <PageHeader title={t('notFound.title')} />
      <EmptyState icon={<SearchIcon size={22} />} title={t('notFound.nothing')} actions={home}>
        {t('notFound.about')}
      </EmptyState>
    </>
  )
}
