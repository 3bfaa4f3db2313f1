// Edits a key: the changes are shown before they are saved, and nobody's change is overwritten unseen.
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Conflict } from '../../../../../src/admin/contract/errors.ts'
import { type KeyDetail, keyRoutes } from '../../../../../src/admin/contract/keys.ts'
import { isSame } from '../../../base/amounts.ts'
import { ApiError, call } from '../../../base/api.ts'
import { keyQuery } from '../../../base/queries.ts'
import { useTranslation } from '../../../i18n/i18n.ts'
import { useChange } from '../../../parts/changes.tsx'
import { ConfirmDialog, Dialog } from '../../../parts/dialogs.tsx'
import { Loading, Notice, QueryError } from '../../../parts/notices.tsx'
import { PageHeader } from '../../../parts/page-header.tsx'
import { ChangeList } from '../../audit/audit-log.tsx'
import { type ChangeLine, changeLines, recordedLine } from '../../audit/change-lines.ts'
import { madeOldByKey } from '../key-brief.tsx'
import { type KeyChange, keyChangeOf, valuesOf } from './form-values.ts'
import { KeyForm, LeaveQuestion } from './key-form.tsx'
import { useKeyForm } from './use-key-form.ts'

const route = getRouteApi('/app/settings/api-access/$id/edit')

export function EditKeyPage() {
  const { id } = route.useParams()
  return <EditKey key={id} id={id} />
}

function EditKey({ id }: { readonly id: string }) {
  const { t } = useTranslation()
  const key = useQuery({ ...keyQuery(id), refetchInterval: false, refetchOnMount: 'always' })
  // The form keeps the version it started from: a refetch of the key would undo what was typed.
  const [original, setOriginal] = useState<KeyDetail>()
  if (!original && key.data && key.isFetchedAfterMount) setOriginal(key.data)
  const reload = async () => {
    const { data } = await key.refetch()
    setOriginal(data)
  }
  return (
    <>
      <PageHeader title={original ? t('keyForm.editTitle', { name: original.name }) : id} />
      {!original && !key.error && <Loading lines={4} height={120} />}
      {!original && key.error && <QueryError title={t('detail.failed')} query={key} />}
      {original?.status === 'revoked' && <Notice tone="bad">{t('keyForm.revoked')}</Notice>}
      {original && original.status !== 'revoked' && (
        <EditKeyForm key={original.version} original={original} onReload={() => void reload()} />
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
    change: ({ body, version }: { readonly body: KeyChange; readonly version: string }) =>
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
  const lines = change ? changeLines(original, change, words) : []
  const isZero = typeof change?.budget === 'string' && isSame(change.budget, '0')
  const conflict = save.error instanceof ApiError ? save.error.conflict : undefined
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
      {change && !conflict && (
        <ConfirmDialog
          title={t('keyForm.confirmTitle')}
          action={t('keyForm.save')}
          isReady={lines.length > 0}
          change={save}
          onConfirm={() => save.mutate({ body: change, version: original.version })}
          onCancel={() => setChange(undefined)}
        >
          {isZero && <Notice tone="warn">{t('keyForm.hint.zero')}</Notice>}
          {lines.length === 0 ? <p>{t('keyForm.noChange')}</p> : <ChangeList lines={lines} />}
        </ConfirmDialog>
      )}
      {change && conflict && (
        <ConflictDialog
          conflict={conflict}
          mine={lines}
          isPending={save.isPending}
          onReload={onReload}
          onApply={() => save.mutate({ body: change, version: conflict.version })}
          onClose={() => setChange(undefined)}
        />
      )}
    </>
  )
}

type ConflictDialogProps = {
  readonly conflict: Conflict
  readonly mine: readonly ChangeLine[]
  readonly isPending: boolean
  readonly onReload: () => void
  readonly onApply: () => void
  readonly onClose: () => void
}

/** Someone else changed the key meanwhile. Only fields the reader changed are sent, so the others' stay. */
function ConflictDialog(props: ConflictDialogProps) {
  const { conflict, mine, isPending, onReload, onApply, onClose } = props
  const words = useTranslation()
  const { t, format } = words
  return (
    <Dialog
      title={t('conflict.title')}
      onClose={onClose}
      buttons={
        <>
          <Button variant="default" onClick={onReload}>
            {t('conflict.reload')}
          </Button>
          <Button loading={isPending} onClick={onApply}>
            {t('conflict.apply')}
          </Button>
        </>
      }
    >
      <Notice tone="warn" announce>
        {t('conflict.about')}
      </Notice>
      {conflict.changes.map(({ at, actor, fields }) => (
        <section key={at + actor}>
          <h3>{t('conflict.theirs', { actor, when: format.dateTime(at) })}</h3>
          <ChangeList lines={fields.map((field) => recordedLine(field, words))} />
        </section>
      ))}
      <section>
        <h3>{t('conflict.mine')}</h3>
        <ChangeList lines={mine} />
      </section>
    </Dialog>
  )
}
