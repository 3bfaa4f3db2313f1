// Edits a key: the changes are shown before they are saved, and nobody's change is overwritten unseen.
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { type KeyDetail, keyRoutes } from '../../../../../src/admin/contract/keys.ts'
import { isSame } from '../../../base/amounts.ts'
import { call } from '../../../base/api.ts'
import { keyQuery } from '../../../base/queries.ts'
import { useTranslation } from '../../../i18n/i18n.ts'
import { useChange } from '../../../parts/changes.tsx'
import { LeaveQuestion, useOriginal } from '../../../parts/form/form-shell.tsx'
import { Loading, Notice, QueryError } from '../../../parts/notices.tsx'
import { PageHeader } from '../../../parts/page-header.tsx'
import { changeLines } from '../../audit/change-lines.ts'
import { ReviewDialog, type Reviewed } from '../../audit/review-dialog.tsx'
import { madeOldByKey } from '../key-words.ts'
import { useGroups } from './group-fields.tsx'
import { type KeyChange, keyChangeOf, valuesOf, writtenOf } from './form-values.ts'
import { KeyForm } from './key-form.tsx'
import { useKeyForm } from './use-key-form.ts'

const route = getRouteApi('/app/settings/api-access/$id/edit')

export function EditKeyPage() {
  const { id } = route.useParams()
  return <EditKey key={id} id={id} />
}

function EditKey({ id }: { readonly id: string }) {
  const { t } = useTranslation()
  const { query, original, reload } = useOriginal(keyQuery(id))
  return (
    <>
      <PageHeader title={original ? t('keyForm.editTitle', { name: original.name }) : id} />
      {!original && !query.error && <Loading lines={4} height={120} />}
      {!original && query.error && <QueryError title={t('detail.failed')} query={query} />}
      {original?.status === 'revoked' && <Notice tone="bad">{t('keyForm.revoked')}</Notice>}
      {original && original.status !== 'revoked' && (
        <EditKeyForm key={original.version} original={original} onReload={reload} />
      )}
    </>
  )
}

type EditKeyFormProps = { readonly original: KeyDetail; readonly onReload: () => void }

function EditKeyForm({ original, onReload }: EditKeyFormProps) {
  const words = useTranslation()
  const { t, format } = words
  const { separators } = format
  const navigate = useNavigate()
  const state = useKeyForm(valuesOf(original, separators))
  const [change, setChange] = useState<KeyChange>()
  const { id } = original
  const back = () => void navigate({ to: '/settings/api-access/$id', params: { id } })
  const save = useChange(madeOldByKey, {
    change: ({ body, version }: Reviewed<KeyChange>) =>
      call(keyRoutes.changeKey, { params: { id }, body, ifMatch: version }),
    onAnswer: () => state.form.resetDirty(),
    onDone: back,
    onError: (error) => {
      if (state.refuse(error)) setChange(undefined)
    },
  })
  const review = () =>
    state.submit((values) => {
      save.reset()
      setChange(keyChangeOf(original, values, { now: Date.now(), separators }))
    })
  const { groups } = useGroups('')
  const isZero = typeof change?.budget === 'string' && isSame(change.budget, '0')
  return (
    <>
      <LeaveQuestion isDirty={state.form.isDirty() && !save.isSuccess} />
      <KeyForm
        state={state}
        isNew={false}
        action={t('keyForm.review')}
        isPending={false}
        onSubmit={review}
        onCancel={back}
      />
      {change && (
        <ReviewDialog
          change={change}
          version={original.version}
          lines={changeLines(named(writtenOf(original)), named(change), words)}
          save={save}
          warning={isZero && <Notice tone="warn">{t('keyForm.hint.zero')}</Notice>}
          onReload={onReload}
          onClose={() => setChange(undefined)}
        />
      )}
    </>
  )

  /** With the name of the group instead of its id. */
  function named<Change extends { readonly group?: string | null | undefined }>(change: Change) {
    const name = groups.data?.find(({ id: each }) => each === change.group)?.name
    return name === undefined ? change : { ...change, group: name }
  }
}
