// An unknown address: beside the menu inside the interface, on its own page outside it.
import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useTranslation } from '../i18n/use-translation.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { SearchIcon } from '../parts/icons.tsx'
import { PageHeader } from '../parts/page-header.tsx'
import { Entrance } from './sign-in/entrance.tsx'

export function NotFoundPage() {
  const { t } = useTranslation()
  return (
    <>
      <PageHeader title={t('notFound.title')} />
      <div className="card">
        <EmptyState
          icon={<SearchIcon size={22} />}
          title={t('notFound.nothing')}
          actions={<HomeButton />}
        >
          {t('notFound.about')}
        </EmptyState>
      </div>
    </>
  )
}

export function NowherePage() {
  const { t } = useTranslation()
  return (
    <Entrance title={t('notFound.title')} about={t('notFound.about')}>
      <HomeButton />
    </Entrance>
  )
}

function HomeButton() {
  const { t } = useTranslation()
  return (
    <Button component={Link} to="/">
      {t('notFound.home')}
    </Button>
  )
}
