// Every role and its permissions, as a matrix, or as a list where a matrix would not fit; custom roles can be created,
// edited and removed.
import { Box, Button, Checkbox, Input, Menu, Stack, TextInput } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { peopleRoutes, ROLE_NAME_LENGTH_MAX } from '../../../../src/admin/contract/people.ts'
import type { RoleAnswer } from '../../../../src/admin/contract/people.ts'
import { type Permission, PERMISSIONS } from '../../../../src/admin/contract/permissions.ts'
import { differing } from '../../base/amounts.ts'
import { rolesQuery } from '../../base/queries.ts'
import { call } from '../../base/api.ts'
import { sessionQuery, useSession } from '../../base/session.ts'
import { useRoleName, useTranslation } from '../../i18n/i18n.ts'
import { ActionMenu } from '../../parts/cells.tsx'
import { useChange, useFields } from '../../parts/changes.tsx'
import { useHiddenSides } from '../../parts/data-table.tsx'
import { ConfirmDialog } from '../../parts/dialogs.tsx'
import { CheckIcon, PlusIcon } from '../../parts/icons.tsx'
import { Loading, QueryError } from '../../parts/notices.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import shadows from '../../parts/side-shadows.module.css'
import { madeOldByPeople } from './person-dialogs.tsx'
import styles from './roles.module.css'

type Open =
  | { readonly action: 'edit'; readonly role?: RoleAnswer }
  | { readonly action: 'remove'; readonly role: RoleAnswer }

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
            <Button leftSection={<PlusIcon />} onClick={() => setOpen({ action: 'edit' })}>
              {t('roles.create')}
            </Button>
          )
        }
      />
      {roles.error && !roles.data && <QueryError title={t('roles.failed')} query={roles} />}
      {roles.isPending && <Loading lines={6} height={40} />}
      {roles.data && <Roles roles={roles.data} onOpen={setOpen} />}
      {open?.action === 'edit' && <RoleDialog role={open.role} onClose={close} />}
      {open?.action === 'remove' && <RemoveRoleDialog role={open.role} onClose={close} />}
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
        {t(role.built_in ? 'roles.builtIn' : 'roles.own')}
        {role.people !== null && ` · ${t('roles.people', { count: role.people })}`}
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
      effect={t('roles.removeEffect')}
      isDangerous
      change={remove}
      onCancel={onClose}
    />
  )
}

type RoleDialogProps = { readonly role: RoleAnswer | undefined; readonly onClose: () => void }

/** Creates or edits a custom role. Nobody can grant a permission they lack, so those cannot be chosen. */
function RoleDialog({ role, onClose }: RoleDialogProps) {
  const { t } = useTranslation()
  const { may } = useSession()
  const { values, set, text } = useFields({
    name: role?.name ?? '',
    permissions: role?.permissions ?? [],
  })
  const { name, permissions: held } = values
  const wanted = { name: name.trim(), permissions: held }
  const isChanged = !role || Object.keys(differing(role, wanted)).length > 0
  const save = useChange([...madeOldByPeople, sessionQuery.queryKey], {
    change: () =>
      role
        ? call(peopleRoutes.changeRole, { params: { id: role.id }, body: differing(role, wanted) })
        : call(peopleRoutes.createRole, { body: wanted }),
    said: () => t('roles.saved', { name }),
    onDone: onClose,
  })
  const toggle = (permission: Permission, isHeld: boolean) =>
    set({
      permissions: PERMISSIONS.filter((each) =>
        each === permission ? isHeld : held.includes(each),
      ),
    })
  return (
    <ConfirmDialog
      title={role ? t('roles.editTitle', { name: role.name }) : t('roles.create')}
      action={role ? t('keyForm.save') : t('roles.create')}
      isReady={wanted.name !== '' && isChanged}
      change={save}
      placed={['name']}
      onCancel={onClose}
    >
      <TextInput
        label={t('people.name')}
        required
        data-autofocus
        maxLength={ROLE_NAME_LENGTH_MAX}
        {...text('name', save.error)}
      />
      <Stack gap="xs" component="fieldset" bd={0} p={0} m={0}>
        <Box component="legend" p={0}>
          <Input.Label labelElement="div">{t('roles.permissions')}</Input.Label>
        </Box>
        {PERMISSIONS.map((permission) => (
          <Checkbox
            key={permission}
            label={t(`permission.${permission}`)}
            description={may(permission) ? t(`roles.means.${permission}`) : t('roles.notYours')}
            checked={held.includes(permission)}
            disabled={!may(permission) && !held.includes(permission)}
            onChange={({ currentTarget }) => toggle(permission, currentTarget.checked)}
          />
        ))}
      </Stack>
    </ConfirmDialog>
  )
}
