// Make or change a role of one's own. Nobody can give a right they do not hold, so those cannot be chosen.
import { Checkbox, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { PERMISSIONS } from '../../../../src/admin/contract/permissions.ts'
import type { Permission } from '../../../../src/admin/contract/permissions.ts'
import { peopleRoutes } from '../../../../src/admin/contract/people.ts'
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
  const save = useChange([...madeOldByPeople, sessionQuery.queryKey], {
    change: () => {
      const body = { name: name.trim(), permissions: [...held] }
      return role
        ? call(peopleRoutes.changeRole, { params: { id: role.id }, body })
        : call(peopleRoutes.createRole, { body })
    },
    said: () => t('roles.saved', { name }),
    onDone: onClose,
  })
  const toggle = (permission: Permission, isHeld: boolean) =>
    setHeld(PERMISSIONS.filter((each) => (each === permission ? isHeld : held.includes(each))))
  return (
    <ConfirmDialog
      title={role ? t('roles.editTitle', { name: role.name }) : t('roles.create')}
      action={role ? t('keyForm.save') : t('roles.create')}
      isReady={name.trim() !== ''}
      isPending={save.isPending}
      error={unplaced(save.error, ['name'])}
      onConfirm={() => save.mutate()}
      onCancel={onClose}
    >
      <TextInput
        label={t('people.name')}
        required
        data-autofocus
        maxLength={60}
        value={name}
        error={problemOf(save.error, 'name')}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      <Stack gap="xs" component="fieldset" bd={0} p={0} m={0}>
        <legend>{t('roles.permissions')}</legend>
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
