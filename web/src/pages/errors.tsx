// What shows instead of a page: an unknown address, a missing permission, a failure.
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router'
import { BUILT_IN_ROLES, type Permission } from '../../../src/admin/contract/permissions.ts'
import { rolesQuery } from '../base/queries.ts'
import { useRoleName, useTranslation } from '../i18n/i18n.ts'
import { SearchIcon, ShieldIcon } from '../parts/icons.tsx'
import { EmptyState, ErrorAlert } from '../parts/notices.tsx'
import { PageHeader } from '../parts/page-header.tsx'
import { Entrance } from './sign-in/entrance.tsx'

export function NotFoundPage() {
  const { t } = useTranslation()
  return (
    <>
      <PageHeader title={t('notFound.title')} />
      <EmptyState
        icon={SearchIcon}
        title={t('notFound.nothing')}
        about={t('notFound.about')}
        actions={<HomeButton />}
      />
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

/** A page the reader's role may not open: names the missing permission and the roles that have it. */
export function ForbiddenPage({ permission }: { readonly permission: Permission }) {
  const { t, format } = useTranslation()
  const roleName = useRoleName()
  // Those of this gateway's own, once they are known.
  const { data: all = BUILT_IN_ROLES } = useQuery(rolesQuery)
  const roles = all.filter((role) => role.permissions.includes(permission))
  return (
    <>
      <PageHeader title={t('forbidden.title')} />
      <EmptyState
        icon={ShieldIcon}
        title={t('forbidden.missing', { permission: t(`permission.${permission}`) })}
        about={t('forbidden.roles', { roles: format.list(roles.map(roleName)) })}
      />
    </>
  )
}

/** Shown instead of a page that could not be loaded. */
export function FailedPage({ error }: ErrorComponentProps) {
  const { t } = useTranslation()
  const router = useRouter()
  return (
    <ErrorAlert
      title={t('error.page')}
      error={error instanceof Error ? error : new Error(String(error))}
      // Not the boundary's own reset, which would show the page again without asking for the session again.
      onRetry={() => void router.invalidate()}
    />
  )
}
