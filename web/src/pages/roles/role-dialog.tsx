// Creates or edits a custom role. Nobody can grant a permission they lack, so those cannot be chosen.
import { Box, Checkbox, Input, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { PERMISSIONS } from '../../../../src/admin/contract/permissions.ts'
import type { Permission } from '../../../../src/admin/contract/permissions.ts'
import { peopleRoutes, ROLE_NAME_LENGTH_MAX } from '../../../../src/admin/contract/people.ts'
import type { RoleAnswer } from '../../../../src/admin/contract/people.ts'
import { call } from '../../api.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { problemOf, unplaced } from '../../parts/field-problem.ts'
import { sessionQuery, useSession } from '../../session.ts'
import { useChange } from '../../use-change.ts'
import { madeOldByPeople } from '../people/people-queries.ts'

type RoleDialogProps = { readonly role?: RoleAnswer; readonly onClose: () => void }

export function RoleDialog({ role, onClose }: RoleDialogProps) {
  const { t } = useTranslation()
  const { may } = useSession()
  const [name, setName] = useState(role?.name ?? '')
  const [held, setHeld] = useState<readonly Permission[]>(role?.permissions ?? [])
  const wanted = { name: name.trim(), permissions: [...held] }
  const isChanged = !role || Object.keys(changeOf(role, wanted)).length > 0
  const save = useChange([...madeOldByPeople, sessionQuery.queryKey], {
    change: () =>
      role
        ? call(peopleRoutes.changeRole, { params: { id: role.id }, body: changeOf(role, wanted) })
        : call(peopleRoutes.createRole, { body: wanted }),
    said: () => t('roles.saved', { name }),
    onDone: onClose,
  })
  const toggle = (permission: Permission, isHeld: boolean) =>
    setHeld(PERMISSIONS.filter((each) => (each === permission ? isHeld : held.includes(each))))
  return (
    <ConfirmDialog
      title={role ? t('roles.editTitle', { name: role.name }) : t('roles.create')}
      action={role ? t('keyForm.save') : t('roles.create')}
      isReady={wanted.name !== '' && isChanged}
      isPending={save.isPending}
      error={unplaced(save.error, ['name'])}
      onConfirm={() => save.mutate()}
      onCancel={onClose}
    >
      <TextInput
        label={t('people.name')}
        required
        data-autofocus
        maxLength={ROLE_NAME_LENGTH_MAX}
        value={name}
        error={problemOf(save.error, 'name')}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
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

type Wanted = { readonly name: string; readonly permissions: Permission[] }

/** Only the fields that differ, so that two people who change different fields do not undo each other. */
function changeOf(role: RoleAnswer, { name, permissions }: Wanted): Partial<Wanted> {
  const isSame =
    permissions.length === role.permissions.length &&
    permissions.every((each) => role.permissions.includes(each))
  return { ...(name === role.name ? {} : { name }), ...(isSame ? {} : { permissions }) }
}
