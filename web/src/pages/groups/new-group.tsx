// Creates a group, then opens its page.
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { groupRoutes } from '../../../../src/admin/contract/groups.ts'
import { call, unplaced } from '../../base/api.ts'
import { frameQuery } from '../../base/queries.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { useChange, useIdempotencyKey } from '../../parts/changes.tsx'
import { LeaveQuestion } from '../../parts/form/form-shell.tsx'
import { ErrorAlert, Loading } from '../../parts/notices.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { madeOldByGroup } from './group-brief.tsx'
import { GroupForm, useGroupForm } from './group-form.tsx'
import { emptyGroup, groupOf, type GroupValues, type NewGroup } from './group-values.ts'

export function NewGroupPage() {
  const { t } = useTranslation()
  const frame = useQuery({ ...frameQuery, refetchInterval: false })
  // Once shown, the form stays, whatever becomes of the query.
  const [start, setStart] = useState<GroupValues>()
  if (!start && !frame.isLoading) setStart(emptyGroup(frame.data?.timezone ?? 'UTC'))
  return (
    <>
      <PageHeader title={t('groupForm.createTitle')} about={t('groups.noneAbout')} />
      {start ? <NewGroupForm start={start} /> : <Loading lines={4} height={120} />}
    </>
  )
}

function NewGroupForm({ start }: { readonly start: GroupValues }) {
  const { t, format } = useTranslation()
  const navigate = useNavigate()
  const state = useGroupForm(start)
  const keyFor = useIdempotencyKey()
  const create = useChange(madeOldByGroup, {
    change: (body: NewGroup) =>
      call(groupRoutes.createGroup, { body, idempotencyKey: keyFor(body) }),
    onAnswer: () => state.form.resetDirty(),
    said: ({ name }) => t('groupForm.created', { name }),
    onDone: ({ id }) =>
      void navigate({ to: '/settings/groups/$id', params: { id }, ignoreBlocker: true }),
    onError: state.refuse,
  })
  const failure = unplaced(create.error, [...Object.keys(start), 'key_rules'])
  return (
    <>
      <LeaveQuestion isDirty={(state.form.isDirty() || create.isPending) && !create.isSuccess} />
      <GroupForm
        state={state}
        action={t('groupForm.create')}
        isPending={create.isPending}
        onSubmit={() => state.submit((values) => create.mutate(groupOf(values, format.separators)))}
        onCancel={() => void navigate({ to: '/settings/groups' })}
        failure={failure && <ErrorAlert title={t('groupForm.notCreated')} error={failure} />}
      />
    </>
  )
}
