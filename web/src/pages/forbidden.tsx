// A page the reader's role may not open: names the missing permission and the roles that have it.
import { BUILT_IN_ROLES } from '../../../src/admin/contract/permissions.ts'
import type { Permission } from '../../../src/admin/contract/permissions.ts'
import { useFormat } from '../i18n/use-format.ts'
import { useRoleName } from '../i18n/use-role-name.ts'
import { useTranslation } from '../i18n/use-translation.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { ShieldIcon } from '../parts/icons.tsx'
import { PageHeader } from '../parts/page-header.tsx'

export function ForbiddenPage({ permission }: { readonly permission: Permission }) {
  const { t } = useTranslation()
  const roleName = useRoleName()
  const format = useFormat()
  const roles = BUILT_IN_ROLES.filter((role) => role.permissions.includes(permission))
  return (
    <>
      <PageHeader title={t('forbidden.title')} />
      <div className="card">
        <EmptyState
          icon={<ShieldIcon size={22} />}
          title={t('forbidden.missing', { permission: t(`permission.${permission}`) })}
        >
          {t('forbidden.roles', { roles: format.list(roles.map(roleName)) })}
        </EmptyState>
      </div>
    </>
  )
}
