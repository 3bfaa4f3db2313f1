// The dialog of each action on a group.
import { type ComponentType, useState } from 'react'
import { type GroupAnswer, groupRoutes } from '../../../../src/admin/contract/groups.ts'
import { call, newIdempotencyKey } from '../../base/api.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { budgetOf, type Reset, ResetDialog } from '../../parts/budgets.tsx'
import { type TopUp, TopUpDialog } from '../../parts/budgets.tsx'
import { useChange } from '../../parts/changes.tsx'
import { ConfirmDialog } from '../../parts/dialogs.tsx'
import { type GroupAction, madeOldByGroup } from './group-brief.tsx'

type GroupDialogProps = { readonly group: GroupAnswer; readonly onClose: () => void }

const dialogs = {
  archive: ArchiveDialog,
  'top-up': TopUpGroupDialog,
  reset: ResetGroupDialog,
} satisfies Record<GroupAction, ComponentType<GroupDialogProps>>

type GroupDialogsProps = GroupDialogProps & { readonly action: GroupAction }

export function GroupDialogs({ action, ...props }: GroupDialogsProps) {
  const ActionDialog = dialogs[action]
  return <ActionDialog {...props} />
}

function ArchiveDialog({ group: { id, name, keys }, onClose }: GroupDialogProps) {
  const { t } = useTranslation()
  const archive = useChange(madeOldByGroup, {
    change: () => call(groupRoutes.archiveGroup, { params: { id } }),
    said: () => t('groups.archived', { name }),
    onDone: onClose,
  })
  return (
    <ConfirmDialog
      title={t('groups.archiveTitle', { name })}
      action={t('groups.archiveAction')}
      effect={t('groups.archiveEffect', { count: keys })}
      isDangerous
      onCancel={onClose}
      change={archive}
    />
  )
}

function TopUpGroupDialog({ group, onClose }: GroupDialogProps) {
  const { t, format } = useTranslation()
  const { id, name } = group
  const [idempotencyKey] = useState(newIdempotencyKey)
  const topUp = useChange(madeOldByGroup, {
    change: async (body: TopUp) => {
      const changed = await call(groupRoutes.topUpGroup, { params: { id }, body, idempotencyKey })
      return budgetOf(changed, body)
    },
    said: ({ limit }) => t('topUp.done', { name, limit: format.money(limit ?? '0') }),
    onDone: onClose,
  })
  return <TopUpDialog {...{ title: t('topUp.title', { name }), account: group, topUp, onClose }} />
}

function ResetGroupDialog({ group, onClose }: GroupDialogProps) {
  const { t } = useTranslation()
  const { id, name } = group
  const [idempotencyKey] = useState(newIdempotencyKey)
  const reset = useChange(madeOldByGroup, {
    change: (body: Reset) => call(groupRoutes.resetGroup, { params: { id }, body, idempotencyKey }),
    said: () => t('reset.done', { name }),
    onDone: onClose,
  })
  return (
    <ResetDialog
      title={t('reset.title', { name })}
      account={group}
      effectOf={(spent) => t('groups.resetEffect', { spent })}
      reset={reset}
      onClose={onClose}
    />
  )
}
