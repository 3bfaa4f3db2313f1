// Copies the models of another key.
import { Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from '../../../i18n/use-translation.ts'
import { keyQuery, keysQuery } from '../../../queries.ts'
import { keyQueryOf } from '../overview-search.ts'
import form from './key-form.module.css'

const offered = 20

export function CopyFromKey({ onAdd }: { readonly onAdd: (ids: readonly string[]) => void }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const [text, setText] = useState('')
  const [search] = useDebouncedValue(text, 250)
  const [isOpen, setOpen] = useState(false)
  const keys = useQuery({
    ...keysQuery({ ...keyQueryOf({ search: search || undefined }), per_page: offered }),
    enabled: isOpen,
    refetchInterval: false,
  })
  const take = useMutation({
    mutationFn: (id: string) => client.fetchQuery(keyQuery(id)),
    onSuccess: ({ models }) => onAdd(models),
  })
  const failure = keys.isError ? 'overview.failed' : take.isError ? 'detail.failed' : undefined
  return (
    <details className={form['more']} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{t('picker.copyFrom')}</summary>
      <Select
        label={t('picker.copyFromLabel')}
        searchable
        value={null}
        searchValue={text}
        onSearchChange={setText}
        onChange={(id) => id && take.mutate(id)}
        error={failure && t(failure)}
        // The gateway has already filtered.
        filter={({ options }) => options}
        nothingFoundMessage={keys.isFetching ? t('loading') : t('overview.noMatch')}
        data={(keys.data?.keys ?? []).map(({ id, name }) => ({ value: id, label: name }))}
      />
    </details>
  )
}
