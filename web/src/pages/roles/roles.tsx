// Every role and its permissions, as a matrix, or as a list where a matrix would not fit; custom roles can be created,
// edited and removed.
import { Button, Menu } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { PERMISSIONS } from '../../../../src/admin/contract/permissions.ts'
import { peopleRoutes } from '../../../../src/admin/contract/people.ts'
import type { RoleAnswer } from '../../../../src/admin/contract/people.ts'
import { call } from '../../api.ts'
import { useRoleName } from '../../i18n/use-role-name.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import { ActionMenu } from '../../parts/action-menu.tsx'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { ErrorAlert } from '../../parts/error-alert.tsx'
import { CheckIcon, PlusIcon } from '../../parts/icons.tsx'
import { Loading } from '../../parts/loading.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { useHiddenSides } from '../../parts/use-hidden-sides.ts'
import { useSession } from '../../session.ts'
import { useChange } from '../../use-change.ts'
import { madeOldByPeople, rolesQuery } from '../people/people-queries.ts'
import { RoleDialog } from './role-dialog.tsx'
import shadows from '../../parts/side-shadows.module.css'
import styles from './roles.module.css'

type Open = { readonly action: 'edit' | 'remove'; readonly role: RoleAnswer } | 'new'

export function RolesPage() {
  const { t } = useTranslation()
  const { may } = useSession()
  const roles = useQuery(rolesQuery)
  const [open, setOpen] = useState<Open>()
  const close = () => setOpen(undefined)
  return (
    <>
      <PageHeader
        title={t('nav.roles')}
        about={t('roles.about')}
        actions={
          may('people:manage') && (
            <Button leftSection={<PlusIcon />} onClick={() => setOpen('new')}>
              {t('roles.create')}
            </Button>
          )
        }
      />
      {roles.error && !roles.data && (
        <ErrorAlert
          title={t('roles.failed')}
          error={roles.error}
          onRetry={() => void roles.refetch()}
        />
      )}
      {roles.isPending && <Loading lines={6} height={40} />}
      {roles.data && <Roles roles={roles.data} onOpen={setOpen} />}
      {open === 'new' && <RoleDialog onClose={close} />}
      {typeof open === 'object' && open.action === 'edit' && (
        <RoleDialog role={open.role} onClose={close} />
      )}
      {typeof open === 'object' && open.action === 'remove' && (
        <RemoveRoleDialog role={open.role} onClose={close} />
      )}
    </>
  )
}

type RoleMatrixProps = {
  readonly roles: readonly RoleAnswer[]
  readonly onOpen: (open: Open) => void
}

function Roles(props: RoleMatrixProps) {
  const isNarrow = useMediaQuery('(max-width: 47.99rem)', false, { getInitialValueInEffect: false })
  return isNarrow ? <RoleCards {...props} /> : <RoleMatrix {...props} />
}

/** One card per role, like other tables on a narrow screen. */
function RoleCards({ roles, onOpen }: RoleMatrixProps) {
  const { t } = useTranslation()
  return roles.map((role) => (
    <section key={role.id} className={`card ${styles['card']}`}>
      <h2>
        <RoleHead role={role} onOpen={onOpen} />
      </h2>
      <ul>
        {PERMISSIONS.map((permission) => (
          <li key={permission}>
            <span>
              {t(`permission.${permission}`)}
              <small>{t(`roles.means.${permission}`)}</small>
            </span>
            <Holds isHeld={role.permissions.includes(permission)} />
          </li>
        ))}
      </ul>
    </section>
  ))
}

/** Permissions down, roles across. With many roles it scrolls, so it must be focusable from the keyboard. */
function RoleMatrix({ roles, onOpen }: RoleMatrixProps) {
  const { t } = useTranslation()
  const { ref, hidden } = useHiddenSides()
  return (
    <div className={`${styles['frame']} ${shadows['box']}`} data-hidden={hidden}>
      <div
        ref={ref}
        className={styles['scroll']}
        tabIndex={0}
        role="group"
        aria-label={t('roles.caption')}
      >
        <table className={styles['matrix']}>
          <caption className="visually-hidden">{t('roles.caption')}</caption>
          <thead>
            <tr>
              <th scope="col" data-edge="start">
                {t('roles.permission')}
              </th>
              {roles.map((role) => (
                <th key={role.id} scope="col">
                  <RoleHead role={role} onOpen={onOpen} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {PERMISSIONS.map((permission) => (
              <tr key={permission}>
                <th scope="row" data-edge="start">
                  {t(`permission.${permission}`)}
                  <small>{t(`roles.means.${permission}`)}</small>
                </th>
                {roles.map((role) => (
                  <td key={role.id}>
                    <Holds isHeld={role.permissions.includes(permission)} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  )
}

type RoleProps = Omit<RoleMatrixProps, 'roles'> & { readonly role: RoleAnswer }

function RoleHead({ role, onOpen }: RoleProps) {
  const { t } = useTranslation()
  const roleName = useRoleName()
  const { may } = useSession()
  return (
    <>
      <span className={styles['role']}>
        <span>{roleName(role)}</span>
        {!role.built_in && may('people:manage') && <RoleMenu role={role} onOpen={onOpen} />}
      </span>
      <small>
        {t(role.built_in ? 'roles.builtIn' : 'roles.own')} ·{' '}
        {t('roles.people', { count: role.people })}
      </small>
    </>
  )
}

function Holds({ isHeld }: { readonly isHeld: boolean }) {
  const { t } = useTranslation()
  return (
    <span className={styles['holds']} data-held={isHeld}>
      {isHeld ? <CheckIcon size={18} /> : <span aria-hidden="true">–</span>}
      <span className="visually-hidden">{t(isHeld ? 'changes.yes' : 'changes.no')}</span>
    </span>
  )
}

function RoleMenu({ role, onOpen }: RoleProps) {
  const { t } = useTranslation()
  return (
    <ActionMenu name={role.name}>
      <Menu.Item onClick={() => onOpen({ action: 'edit', role })}>{t('action.edit')}</Menu.Item>
      <Menu.Item c="var(--tg-bad)" onClick={() => onOpen({ action: 'remove', role })}>
        {t('roles.remove')}
      </Menu.Item>
    </ActionMenu>
  )
}

type RemoveRoleDialogProps = { readonly role: RoleAnswer; readonly onClose: () => void }

function RemoveRoleDialog({ role, onClose }: RemoveRoleDialogProps) {
  const { t } = useTranslation()
  const remove = useChange(madeOldByPeople, {
    change: () => call(peopleRoutes.removeRole, { params: { id: role.id } }),
    said: () => t('roles.removed', { name: role.name }),
    onDone: onClose,
  })
  return (
    <ConfirmDialog
      title={t('roles.removeTitle', { name: role.name })}
      action={t('roles.remove')}
      isDangerous
      isPending={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate()}
      onCancel={onClose}
    >
      <p>{t('roles.removeEffect')}</p>
    </ConfirmDialog>
  )
}
