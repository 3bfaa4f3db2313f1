// Creates a key, shows its secret once, then opens the key's page.
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { keyRoutes } from '../../../../../src/admin/contract/keys.ts'
import type { AnswerOf } from '../../../../../src/admin/contract/route.ts'
import type { NewKeySearch } from '../../../base/address.ts'
import { call, unplaced } from '../../../base/api.ts'
import { frameQuery, keyQuery } from '../../../base/queries.ts'
import type { Separators } from '../../../i18n/format.ts'
import { useTranslation } from '../../../i18n/i18n.ts'
import { typedAmount } from '../../../i18n/typed-numbers.ts'
import { useChange, useIdempotencyKey } from '../../../parts/changes.tsx'
import { LeaveQuestion } from '../../../parts/form/form-shell.tsx'
import { ErrorAlert, Loading } from '../../../parts/notices.tsx'
import { PageHeader } from '../../../parts/page-header.tsx'
import { madeOldByKey } from '../key-words.ts'
import { emptyValues, type KeyFormValues, type NewKey, newKeyOf, valuesOf } from './form-values.ts'
import { KeyForm } from './key-form.tsx'
import { useKeyForm } from './use-key-form.ts'
// Not loaded on demand: a secret that is shown once must not wait for a download.
import { SecretDialog } from '../secret-dialog.tsx'

const route = getRouteApi('/app/settings/api-access/new')

export function NewKeyPage() {
  const { t } = useTranslation()
  const search = route.useSearch()
  return (
    <>
      <PageHeader title={t('keyForm.createTitle')} about={t('keyForm.createAbout')} />
      <NewKey key={search.from} search={search} />
    </>
  )
}

function NewKey({ search }: { readonly search: NewKeySearch }) {
  const { separators } = useTranslation().format
  const frame = useQuery({ ...frameQuery, refetchInterval: false })
  const model = useQuery({
    ...keyQuery(search.from ?? ''),
    enabled: search.from !== undefined,
    refetchInterval: false,
  })
  // Once shown, the form stays: a failed query is retried and counts as loading again, which would remove the form.
  const [start, setStart] = useState<KeyFormValues>()
  if (!start && !frame.isLoading && !model.isLoading) {
    const values = model.data
      ? { ...valuesOf(model.data, separators), name: '' }
      : emptyValues(frame.data?.timezone ?? 'UTC')
    setStart(prefilled(values, search, separators))
  }
  return start ? <NewKeyForm start={start} /> : <Loading lines={4} height={120} />
}

function prefilled(
  values: KeyFormValues,
  { from: _from, budget, ...given }: NewKeySearch,
  separators: Separators,
): KeyFormValues {
  const said = Object.entries(given).filter(([, value]) => value !== undefined)
  const amount = budget === undefined ? {} : { budget: typedAmount(budget, separators) }
  return { ...values, ...Object.fromEntries(said), ...amount }
}

function NewKeyForm({ start }: { readonly start: KeyFormValues }) {
  const { t } = useTranslation()
  const { separators } = useTranslation().format
  const navigate = useNavigate()
  const state = useKeyForm(start)
  const keyFor = useIdempotencyKey()
  const [created, setCreated] = useState<AnswerOf<typeof keyRoutes.createKey>>()
  const create = useChange(madeOldByKey, {
    change: (body: NewKey) => call(keyRoutes.createKey, { body, idempotencyKey: keyFor(body) }),
    onAnswer: setCreated,
    onError: state.refuse,
  })
  const finish = ({ id }: { readonly id: string }) =>
    void navigate({ to: '/settings/api-access/$id', params: { id }, ignoreBlocker: true })
  const failure = unplaced(create.error, [...Object.keys(start), 'expires_at'])
  return (
    <>
      <LeaveQuestion isDirty={(state.form.isDirty() || create.isPending) && !created} />
      <KeyForm
        state={state}
        isNew
        action={t('overview.create')}
        isPending={create.isPending}
        onSubmit={() =>
          state.submit((values) => create.mutate(newKeyOf(values, { now: Date.now(), separators })))
        }
        onCancel={() => void navigate({ to: '/settings/api-access' })}
        failure={failure && <ErrorAlert title={t('keyForm.notCreated')} error={failure} />}
      />
      {created && (
        <SecretDialog created={created} reason="created" onClose={() => finish(created)} />
      )}
    </>
  )
}
