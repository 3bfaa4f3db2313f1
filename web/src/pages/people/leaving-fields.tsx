// What becomes of the keys of somebody who leaves: those who manage them decide before they go.
import { NativeSelect, Radio, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { KeyRow } from '../../../../src/admin/contract/keys.ts'
import { keysQuery } from '../../base/queries.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { Loading, Notice, type Failing, QueryError } from '../../parts/notices.tsx'

type Leaver = {
  readonly personId: string
  /** The group that they leave; undefined: they leave altogether. */
  readonly groupId?: string
  /** Whether they move, and can take their keys along. */
  readonly mayTake?: boolean
}

const choices = ['take', 'give', 'pause', 'revoke'] as const
type Choice = (typeof choices)[number]

/** Keys that nobody has decided on: those that a manager paused are decided. */
export function useLeaving({ personId, groupId, mayTake = false }: Leaver) {
  const query = useQuery({
    ...keysQuery({
      ...{ owner_person: personId, group: groupId, status: 'current' },
      ...{ sort: 'name', order: 'asc', page: 1, per_page: 200 },
    }),
    refetchInterval: false,
  })
  const [choice, setChoice] = useState<Choice>()
  const [to, setTo] = useState('')
  const keys = query.data?.keys.filter((key) => key.paused_by !== 'manager')
  const isDecided = choice !== undefined && (choice !== 'give' || to !== '')
  return {
    ...{ query, keys, choice, setChoice, to, setTo, mayTake },
    isReady: keys !== undefined && (keys.length === 0 || isDecided),
    /** As the gateway reads it. */
    sent: { keys: choice, to: choice === 'give' ? to : undefined },
  }
}

type Person = { readonly id: string; readonly name: string; readonly email: string }

type LeavingFieldsProps = {
  readonly leaving: ReturnType<typeof useLeaving>
  /** Who could be given the keys. */
  readonly others: readonly Person[]
}

/** Nothing, where there is nothing to decide. */
export function LeavingFields({ leaving, others }: LeavingFieldsProps) {
  const { t } = useTranslation()
  const { query, keys, choice, setChoice, to, setTo, mayTake } = leaving
  if (!keys) return <Waiting query={query} />
  if (keys.length === 0) return null
  const offered = choices.filter(
    (each) => (each !== 'take' || mayTake) && (each !== 'give' || others.length > 0),
  )
  return (
    <Stack gap="sm">
      <KeyNames keys={keys} />
      <Radio.Group
        label={t('leaving.what')}
        required
        value={choice ?? ''}
        onChange={(value) => setChoice(offered.find((each) => each === value))}
      >
        {offered.map((each) => (
          <Radio key={each} mt="xs" value={each} label={t(`leaving.choice.${each}`)} />
        ))}
      </Radio.Group>
      {choice === 'give' && (
        <NativeSelect
          label={t('leaving.to')}
          required
          value={to}
          onChange={({ currentTarget }) => setTo(currentTarget.value)}
          data={[
            { value: '', label: '' },
            ...others.map(({ id, name, email }) => ({ value: id, label: name || email })),
          ]}
        />
      )}
    </Stack>
  )
}

function Waiting({ query }: { readonly query: Failing }) {
  const { t } = useTranslation()
  if (query.error) return <QueryError title={t('overview.failed')} query={query} />
  return <Loading lines={1} height={60} />
}

function KeyNames({ keys }: { readonly keys: readonly KeyRow[] }) {
  const { t, format } = useTranslation()
  return (
    <Notice tone="warn" title={t('leaving.keys', { count: keys.length })}>
      <span className="break">{format.list(keys.map(({ name }) => name))}</span>
    </Notice>
  )
}
