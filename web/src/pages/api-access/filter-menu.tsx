// The filters of the key list, in one small form.
import { Button, NativeSelect, Popover, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { SubmitEvent } from 'react'
import { KEY_STATUSES } from '../../../../src/admin/contract/key.ts'
import { FILTER_LENGTH_MAX } from '../../../../src/admin/contract/values.ts'
import { KEY_MODES } from '../../../../src/core/limits.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import { modelsQuery } from '../../queries.ts'
import styles from './key-toolbar.module.css'
import type { OverviewSearch } from './overview-search.ts'
import { overviewSearch } from './overview-search.ts'

type FilterMenuProps = {
  readonly search: OverviewSearch
  readonly onChange: (change: Partial<OverviewSearch>) => void
}

const uses = ['last_30_days', 'not_last_30_days'] as const
const texts = ['owner', 'environment', 'tag'] as const

export function FilterMenu({ search, onChange }: FilterMenuProps) {
  const { t } = useTranslation()
  const [isOpen, setOpen] = useState(false)
  const apply = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    const given = [...new FormData(event.currentTarget)].map(([name, value]) => [
      name,
      value === '' ? undefined : value,
    ])
    onChange(overviewSearch.parse(Object.fromEntries(given)))
    setOpen(false)
  }
  return (
    <Popover opened={isOpen} onChange={setOpen} trapFocus returnFocus position="bottom-start">
      <Popover.Target>
        <Button variant="default" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {t('overview.filters')}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <form onSubmit={apply} className={styles['filters']}>
          <FilterFields search={search} />
          <Button type="submit">{t('overview.apply')}</Button>
        </form>
      </Popover.Dropdown>
    </Popover>
  )
}

function FilterFields({ search }: { readonly search: OverviewSearch }) {
  const { t } = useTranslation()
  const models = useQuery(modelsQuery)
  const any = { value: '', label: t('filter.any') }
  return (
    <>
      <NativeSelect
        name="status"
        label={t('filter.status')}
        defaultValue={search.status ?? ''}
        data={[
          { value: '', label: t('keyStatus.current') },
          ...KEY_STATUSES.map((value) => ({ value, label: t(`keyStatus.${value}`) })),
        ]}
      />
      <NativeSelect
        name="used"
        label={t('filter.used')}
        defaultValue={search.used ?? ''}
        data={[any, ...uses.map((value) => ({ value, label: t(`filter.usedWhen.${value}`) }))]}
      />
      <NativeSelect
        name="mode"
        label={t('filter.mode')}
        defaultValue={search.mode ?? ''}
        data={[any, ...KEY_MODES.map((value) => ({ value, label: t(`mode.${value}`) }))]}
      />
      <NativeSelect
        name="model"
        label={t('filter.model')}
        error={models.isError && t('picker.failed')}
        defaultValue={search.model ?? ''}
        data={[any, ...(models.data ?? []).map(({ id }) => ({ value: id, label: id }))]}
      />
      {texts.map((name) => (
        <TextInput
          key={name}
          name={name}
          label={t(`filter.${name}`)}
          maxLength={FILTER_LENGTH_MAX}
          defaultValue={search[name] ?? ''}
        />
      ))}
    </>
  )
}
