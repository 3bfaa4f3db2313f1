// Edits a group: the changes are shown before they are saved, and nobody's change is overwritten unseen.
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { type GroupDetail, groupRoutes } from '../../../../src/admin/contract/groups.ts'
import { call } from '../../base/api.ts'
import { groupQuery } from '../../base/queries.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { useChange } from '../../parts/changes.tsx'
import { LeaveQuestion, useOriginal } from '../../parts/form/form-shell.tsx'
import { Loading, QueryError } from '../../parts/notices.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { changeLines } from '../audit/change-lines.ts'
import { ReviewDialog, type Reviewed } from '../audit/review-dialog.tsx'
import { madeOldByGroup } from './group-brief.tsx'
import { GroupForm, useGroupForm } from './group-form.tsx'
import { type GroupChange, groupChangeOf, groupValuesOf, writtenOf } from './group-values.ts'

const route = getRouteApi('/app/settings/groups/$id/edit')

export function EditGroupPage() {
  const { id } = route.useParams()
  return <EditGroup key={id} id={id} />
}

function EditGroup({ id }: { readonly id: string }) {
  const { t } = useTranslation()
  const { query, original, reload } = useOriginal(groupQuery(id))
  return (
    <>
      <PageHeader title={original ? t('keyForm.editTitle', { name: original.name }) : id} />
      {!original && !query.error && <Loading lines={4} height={120} />}
      {!original && query.error && <QueryError title={t('group.failed')} query={query} />}
      {original && <EditGroupForm key={original.version} original={original} onReload={reload} />}
    </>
  )
}

type EditGroupFormProps = { readonly original: GroupDetail; readonly onReload: () => void }

function EditGroupForm({ original, onReload }: EditGroupFormProps) {
  const words = useTranslation()
  const { t, format } = words
  const navigate = useNavigate()
  const state = useGroupForm(groupValuesOf(original, format.separators))
  const [change, setChange] = useState<GroupChange>()
  const { id } = original
  const back = () => void navigate({ to: '/settings/groups/$id', params: { id } })
  const save = useChange(madeOldByGroup, {
    change: ({ body, version }: Reviewed<GroupChange>) =>
      call(groupRoutes.changeGroup, { params: { id }, body, ifMatch: version }),
    onAnswer: () => state.form.resetDirty(),
    onDone: back,
    onError: (error) => {
      if (state.refuse(error)) setChange(undefined)
    },
  })
  const review = () =>
    state.submit((values) => {
      save.reset()
      setChange(groupChangeOf(original, values, format.separators))
    })
  return (
    <>
      <LeaveQuestion isDirty={state.form.isDirty() && !save.isSuccess} />
      <GroupForm
        state={state}
        action={t('keyForm.review')}
        isPending={false}
        onSubmit={review}
        onCancel={back}
      />
      {change && (
        <ReviewDialog
          change={change}
          version={original.version}
          lines={changeLines(recorded(writtenOf(original)), recorded(change), words)}
          save={save}
          onReload={onReload}
          onClose={() => setChange(undefined)}
        />
      )}
    </>
  )
}

/** Each rule as a field of its own, as the audit log records it. */
function recorded({ key_rules: rules = {}, ...settings }: GroupChange) {
  const named = Object.entries(rules).map(([rule, value]) => [`key_rules.${rule}`, value])
  return { ...settings, ...Object.fromEntries(named) }
}
